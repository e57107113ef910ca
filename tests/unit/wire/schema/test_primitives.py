from __future__ import annotations

import pytest

from logquake.wire.errors import ProtocolError
from logquake.wire.schema.primitives import (
    MAX_KEPT_PACKER,
    ArrayPackers,
    read_uvarint,
    skip_tagged_fields,
    write_uvarint,
)


@pytest.mark.parametrize(
    ("value", "wire"),
    [(0, "00"), (127, "7f"), (128, "8001"), (300, "ac02"), (2**31 - 1, "ffffffff07")],
)
def test_a_varint_and_its_bytes(value: int, wire: str) -> None:
    assert write_uvarint(value).hex() == wire
    assert read_uvarint(b"??" + bytes.fromhex(wire) + b"?", 2) == (value, 2 + len(wire) // 2)


def test_a_varint_has_at_most_five_bytes() -> None:
    assert read_uvarint(b"\x80\x80\x80\x80\x01", 0) == (1 << 28, 5)
    with pytest.raises(ProtocolError, match="more than five bytes"):
        read_uvarint(b"\x80\x80\x80\x80\x80\x01", 0)


@pytest.mark.parametrize(
    ("wire", "value"),
    [("ffffffff0f", -1), ("ffffffff7f", -1), ("8080808008", -(2**31)), ("8080808000", 0)],
)
def test_a_varint_is_a_signed_int_of_java_past_31_bits(wire: str, value: int) -> None:
    assert read_uvarint(bytes.fromhex(wire), 0) == (value, 5)


def test_tagged_fields_are_skipped_up_to_the_end() -> None:
    section = bytes.fromhex("02 00 01 aa 07 00")
    assert skip_tagged_fields(section, 0, len(section)) == len(section)
    with pytest.raises(ProtocolError, match="of 1 bytes, 0 are left"):
        skip_tagged_fields(section, 0, 3)


def test_packers_of_long_arrays_are_not_kept() -> None:
    packers = ArrayPackers("i")
    assert packers[2].pack(1, 2) == b"\0\0\0\1\0\0\0\2"
    assert packers[MAX_KEPT_PACKER + 1].size == 4 * (MAX_KEPT_PACKER + 1)
    assert list(packers) == [2]
