"""Record batches (KIP-98) and the message sets before them: headers, validation, reading, building.

    header.py      BatchHeader; read it, walk a run of batches of any magic, check a CRC
    layout.py      where the fields of a header lie
    patch.py       what a leader changes in place in a batch that it was sent
    limits.py      a topic's rules for what may be written
    validation.py  what a leader refuses from a client
    faults.py      single records at fault, in Kafka's words
    walk.py        aiokafka's compiled reader, made safe against hostile bytes
    exact.py       the same to Kafka's letter, slowly, for what that one refuses
    reading.py     records out of a batch of any magic
    building.py    batches out of records (payload.py: or out of what others have encoded)
    bare_encoder.py aiokafka's compiled encoder of records
    growing.py     a producer's open batch, whole wherever an exception cuts it off
    legacy/        message sets, magic 0 and 1, and conversions from and to them
    control.py     control batches: the end of a transaction

Caveat: numbers written in more bytes than they need are taken up to ten bytes long, where Kafka
stops at five for lengths and offsets.
"""

from __future__ import annotations

from logquake.wire.compression import Codec, compress, decompress
from logquake.wire.records.building import (
    BatchPayload,
    encode_batch,
    finish_batch,
    recompress,
    renumber,
    size_bound,
    stamp_producer,
)
from logquake.wire.records.control import ControlType, EndMarker, encode_end_marker, read_end_marker
from logquake.wire.records.growing import GrowingPayload
from logquake.wire.records.header import (
    BatchFlag,
    BatchHeader,
    check_crc,
    claims_transaction,
    iterate_batches,
    read_header,
)
from logquake.wire.records.layout import HEADER_BYTES
from logquake.wire.records.legacy.building import encode_message_set
from logquake.wire.records.legacy.downward import down_convert
from logquake.wire.records.legacy.produced import convert_produced
from logquake.wire.records.limits import MAX_DECOMPRESSED_BYTES
from logquake.wire.records.patch import patch_base, set_max_timestamp
from logquake.wire.records.reading import Record, iterate_records
from logquake.wire.records.validation import (
    MisplacedOffsetsError,
    ProduceLimits,
    RejectedRecordsError,
    read_produced,
    validate_produced,
)

__all__ = [
    "HEADER_BYTES",
    "MAX_DECOMPRESSED_BYTES",
    "BatchFlag",
    "BatchHeader",
    "BatchPayload",
    "Codec",
    "ControlType",
    "EndMarker",
    "GrowingPayload",
    "MisplacedOffsetsError",
    "ProduceLimits",
    "Record",
    "RejectedRecordsError",
    "check_crc",
    "claims_transaction",
    "compress",
    "convert_produced",
    "decompress",
    "down_convert",
    "encode_batch",
    "encode_end_marker",
    "encode_message_set",
    "finish_batch",
    "iterate_batches",
    "iterate_records",
    "patch_base",
    "read_end_marker",
    "read_header",
    "read_produced",
    "recompress",
    "renumber",
    "set_max_timestamp",
    "size_bound",
    "stamp_producer",
    "validate_produced",
]
