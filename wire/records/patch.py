"""What a leader writes into a batch that it was sent, in the buffer it came in."""

from __future__ import annotations

import struct

import crc32c

from logquake.wire.records.header import (
    ATTRIBUTES_POSITION,
    CRC_POSITION,
    BatchFlag,
    BatchHeader,
)

_BASE_OFFSET = struct.Struct(">q")
_LEADER_EPOCH = struct.Struct(">i")
_ATTRIBUTES = struct.Struct(">h")
_MAX_TIMESTAMP = struct.Struct(">q")
_CRC = struct.Struct(">I")
_LEADER_EPOCH_POSITION = 12
_MAX_TIMESTAMP_POSITION = 35
_KNOWN_ATTRIBUTES = 0x7F


def patch_base(
    view: memoryview | bytearray, position: int, base_offset: int, leader_epoch: int
) -> None:
    """Assign the batch its place in the log. The CRC covers neither field."""
    _BASE_OFFSET.pack_into(view, position, base_offset)
    _LEADER_EPOCH.pack_into(view, position + _LEADER_EPOCH_POSITION, leader_epoch)


def set_max_timestamp(
    view: memoryview,
    position: int,
    header: BatchHeader,
    *,
    log_append_time: bool,
    max_timestamp: int,
) -> None:
    """Set the batch's timestamp type and largest timestamp, and the CRC that covers them.

    Nothing happens when both are so already, as in Kafka's setMaxTimestamp: the common case
    pays no second checksum. With log_append_time every record of the batch reads max_timestamp.
    """
    if header.is_log_append_time == log_append_time and header.max_timestamp == max_timestamp:
        return
    flag = BatchFlag.LOG_APPEND_TIME
    known = header.attributes & _KNOWN_ATTRIBUTES  # Kafka drops the others here, and only here
    attributes = known | flag if log_append_time else known & ~flag
    _ATTRIBUTES.pack_into(view, position + ATTRIBUTES_POSITION, attributes)
    _MAX_TIMESTAMP.pack_into(view, position + _MAX_TIMESTAMP_POSITION, max_timestamp)
    covered = view[position + ATTRIBUTES_POSITION : position + header.size]
    _CRC.pack_into(view, position + CRC_POSITION, crc32c.crc32c(covered))
