"""Where the fields of a batch's header lie: 61 bytes in magic 2 (Kafka's DefaultRecordBatch).

An entry of a message set (magic 0 and 1, legacy/entry.py) has another layout, but begins with the
same two fields and has its magic in the same place.
"""

from __future__ import annotations

import struct

# The fields of header.py:BatchHeader, in their order.
_CODES = "qiibIhiqqqhii"
HEADER = struct.Struct(f">{_CODES}")
HEADER_BYTES = HEADER.size

(
    _,  # the base offset
    LENGTH_POSITION,
    LEADER_EPOCH_POSITION,
    MAGIC_POSITION,
    CRC_POSITION,
    ATTRIBUTES_POSITION,  # where the checksummed bytes begin
    _,
    _,
    MAX_TIMESTAMP_POSITION,
) = (struct.calcsize(f">{_CODES[:index]}") for index in range(9))

FLAGS_POSITION = ATTRIBUTES_POSITION + 1  # the byte of them that is in use
LENGTH_OVERHEAD = LEADER_EPOCH_POSITION  # base offset and length, which the length does not count
MAGIC = 2

BASE_OFFSET = struct.Struct(">q")
LENGTH = struct.Struct(">i")
LEADER_EPOCH = struct.Struct(">i")
CRC = struct.Struct(">I")
ATTRIBUTES = struct.Struct(">h")
MAX_TIMESTAMP = struct.Struct(">q")


def batch_bytes(view: memoryview | bytes, position: int = 0) -> int:
    """The whole size that a batch or entry of any magic says it has; 12 bytes of it are there."""
    (length,) = LENGTH.unpack_from(view, position + LENGTH_POSITION)
    return LENGTH_OVERHEAD + int(length)
