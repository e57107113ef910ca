"""What a leader writes into a batch that it was sent, in the buffer it came in."""

from __future__ import annotations

from logquake.wire.crc import crc32c
from logquake.wire.records.header import BatchFlag, BatchHeader
from logquake.wire.records.layout import (
    ATTRIBUTES,
    ATTRIBUTES_POSITION,
    BASE_OFFSET,
    CRC,
    CRC_POSITION,
    LEADER_EPOCH,
    LEADER_EPOCH_POSITION,
    MAX_TIMESTAMP,
    MAX_TIMESTAMP_POSITION,
)

_KNOWN_ATTRIBUTES = 0x7F


def patch_base(
    view: memoryview | bytearray, position: int, base_offset: int, leader_epoch: int
) -> None:
    """Assign the batch its place in the log. The CRC covers neither field."""
    BASE_OFFSET.pack_into(view, position, base_offset)
    LEADER_EPOCH.pack_into(view, position + LEADER_EPOCH_POSITION, leader_epoch)


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
    ATTRIBUTES.pack_into(view, position + ATTRIBUTES_POSITION, attributes)
    MAX_TIMESTAMP.pack_into(view, position + MAX_TIMESTAMP_POSITION, max_timestamp)
    covered = view[position + ATTRIBUTES_POSITION : position + header.size]
    CRC.pack_into(view, position + CRC_POSITION, crc32c(covered))
