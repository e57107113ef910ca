"""Record batches of magic 2 (KIP-98): headers, validation, building, reading.

    header.py      BatchHeader; read it, walk a run of batches, check a CRC
    patch.py       what a leader changes in place in a batch that it was sent
    validation.py  what a leader refuses from a client
    walk.py        aiokafka's compiled reader, made safe against hostile bytes
    reading.py     records out of a batch
    building.py    batches out of records
    control.py     control batches: the end of a transaction

Caveats: the message formats of magic 0 and 1 are not read here. Header keys must be UTF-8, where
Kafka's broker takes any bytes. Numbers written in more bytes than they need are taken up to ten
bytes long, where Kafka stops at five for lengths and offsets.
"""

from __future__ import annotations

from logquake.wire.compression import Codec, compress, decompress
from logquake.wire.records.building import encode_batch, recompress
from logquake.wire.records.control import ControlType, encode_end_marker, read_end_marker
from logquake.wire.records.header import (
    HEADER_BYTES,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    BatchFlag,
    BatchHeader,
    check_crc,
    iterate_batches,
    read_header,
)
from logquake.wire.records.patch import patch_base, set_max_timestamp
from logquake.wire.records.reading import Record, iterate_records
from logquake.wire.records.validation import (
    ProduceLimits,
    RejectedRecordsError,
    read_produced,
    validate_produced,
)

__all__ = [
    "HEADER_BYTES",
    "NO_PRODUCER_ID",
    "NO_SEQUENCE",
    "BatchFlag",
    "BatchHeader",
    "Codec",
    "ControlType",
    "ProduceLimits",
    "Record",
    "RejectedRecordsError",
    "check_crc",
    "compress",
    "decompress",
    "encode_batch",
    "encode_end_marker",
    "iterate_batches",
    "iterate_records",
    "patch_base",
    "read_end_marker",
    "read_header",
    "read_produced",
    "recompress",
    "set_max_timestamp",
    "validate_produced",
]
