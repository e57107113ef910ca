"""Control batches: the marker that ends a transaction (KIP-98; Kafka's EndTransactionMarker).

Key and value begin with a version. A later one may only append, and is read as version 0; a
negative one is damage. The other control types are KRaft's, and end no transaction.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

from logquake.wire.records.building import encode_batch
from logquake.wire.records.header import BatchFlag, BatchHeader
from logquake.wire.records.reading import Record, iterate_records
from logquake.wire.records.refusals import corrupt
from logquake.wire.sentinels import NO_LEADER_EPOCH

_KEY = struct.Struct(">hh")  # version, type
_VALUE = struct.Struct(">hi")  # version, coordinator epoch
_VERSION = 0
_MARKER_LIMIT_BYTES = 1024  # a marker is some 80 bytes; later versions may add fields


class ControlType(IntEnum):
    ABORT = 0
    COMMIT = 1


class EndMarker(NamedTuple):
    control_type: ControlType
    coordinator_epoch: int


def encode_end_marker(
    control_type: ControlType,
    *,
    coordinator_epoch: int,
    producer_id: int,
    producer_epoch: int,
    timestamp_ms: int,
    base_offset: int = 0,
    leader_epoch: int = NO_LEADER_EPOCH,
) -> bytearray:
    """The batch of one record that ends a producer's transaction in a partition."""
    key = _KEY.pack(_VERSION, control_type)
    value = _VALUE.pack(_VERSION, coordinator_epoch)
    return encode_batch(
        [Record(base_offset, timestamp_ms, key, value)],
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        flags=BatchFlag.TRANSACTIONAL | BatchFlag.CONTROL,
    )


def read_end_marker(view: memoryview, position: int, header: BatchHeader) -> EndMarker | None:
    """What a control batch says; None for a control type that ends no transaction.

    Raises RecordError CORRUPT_MESSAGE for a control batch without a readable record.
    """
    record = next(iterate_records(view, position, header, _MARKER_LIMIT_BYTES), None)
    if record is None or record.key is None or len(record.key) < _KEY.size:
        raise corrupt("control batch without a control record")
    version, control_type = _KEY.unpack_from(record.key)
    if version < 0:
        raise corrupt(f"control record of version {version}")
    if control_type not in tuple(ControlType):
        return None
    if record.value is None or len(record.value) < _VALUE.size:
        raise corrupt("end of transaction without a coordinator epoch")
    version, coordinator_epoch = _VALUE.unpack_from(record.value)
    if version < 0:
        raise corrupt(f"end of transaction of version {version}")
    return EndMarker(ControlType(control_type), coordinator_epoch)
