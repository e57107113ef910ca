"""Java's hashCode() for keys, by which the older APIs choose partitions.

Python's own hash of a string differs from one process to the next.
"""

from __future__ import annotations

import struct

from logquake.wire.java_text import string_hash

_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1
_DOUBLE = struct.Struct(">d")
_LONG = struct.Struct(">q")
_TRUE, _FALSE = 1231, 1237
_NAN = struct.Struct(">Q").pack(0x7FF8 << 48)


def java_hash(key: object) -> int:
    """A signed 32-bit integer.

    An integer is an Integer if it fits, else a Long. Bytes are hashed by their contents
    (Arrays.hashCode), since a Java array's own hash differs each time. Anything else has Python's
    hash(), truncated to 32 bits.
    """
    match key:
        case str():
            return string_hash(key)
        case bytes() | bytearray() | memoryview():
            return _bytes_hash(bytes(key))
        case bool():
            return _TRUE if key else _FALSE
        case int() if _INT_MIN <= key <= _INT_MAX:
            return key
        case int() if -(2**63) <= key < 2**63:
            return _long_hash(_LONG.pack(key))
        case float():
            return _long_hash(_NAN if key != key else _DOUBLE.pack(key))
        case _:
            return _signed(hash(key))


def absolute(number: int) -> int:
    """kafka.utils.Utils.abs: 0 for the smallest int, which has no absolute value."""
    return 0 if number == _INT_MIN else abs(number)


def _bytes_hash(data: bytes) -> int:
    result = 1
    for byte in data:
        result = (result * 31 + (byte - 256 if byte > 127 else byte)) & 0xFFFFFFFF
    return _signed(result)


def _long_hash(eight: bytes) -> int:
    high, low = struct.unpack(">II", eight)
    return _signed(high ^ low)


def _signed(number: int) -> int:
    number &= 0xFFFFFFFF
    return number - (1 << 32) if number >> 31 else number
