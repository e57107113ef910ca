"""The codec on small messages, whose bytes can be read."""

from __future__ import annotations

import traceback
from typing import Any

import pytest

from logquake.wire.errors import ProtocolError
from logquake.wire.schema import (
    Message,
    Records,
    Struct,
    array,
    binary,
    boolean,
    decode,
    encode,
    encode_parts,
    float64,
    int8,
    int16,
    int32,
    int64,
    record_data,
    string,
    struct,
    uint16,
    uuid,
)


class Scalars(Message, versions="0-1", flexible="1+"):
    """Every type of fixed width."""

    flag: bool = boolean()
    tiny: int = int8()
    short: int = int16()
    unsigned: int = uint16()
    medium: int = int32()
    long: int = int64()
    real: float = float64()
    id: bytes = uuid()


class Variable(Message, versions="0-1", flexible="1+"):
    """Every type of variable width, and its null."""

    text: str = string()
    text_or_null: str | None = string(nullable="0+", default=None)
    data: bytes = binary()
    data_or_null: bytes | None = binary(nullable="0+", default=None)
    numbers: list[int] = array(int16)
    words: list[str] | None = array(string, nullable="0+", default=None)


class Point(Struct):
    x: int = int8()
    y: int = int8("1+", default=7, ignorable=True)


class Nested(Message, versions="0-2", flexible="1+"):
    """Structs in lists, alone, and absent."""

    points: list[Point] = array(Point)
    centre: Point = struct(Point)
    corner: Point | None = struct(Point, "1+", nullable="1+", default=None, ignorable=True)
    name: str = string("2+")


class Tagged(Message, versions="0-1", flexible="0+"):
    """Tagged fields, out of order, one of them unknown to version 0."""

    plain: int = int8()
    label: str | None = string(nullable="0+", default=None, tag=2)
    point: Point = struct(Point, tag=0)
    points: list[Point] = array(Point, "1+", tag=5)


class Nullable(Message, versions="0", flexible="0+"):
    """Structs that may be null, one of them in a tagged field."""

    kept: Point | None = struct(Point, nullable="0+", default=None)
    tagged: Point | None = struct(Point, nullable="0+", tag=0)


class Batch(Message, versions="0-1", flexible="1+"):
    """Records between other fields."""

    before: int = int8()
    records: Records | None = record_data(nullable="0+")
    more: Records | None = record_data(nullable="0+")
    after: int = int8()


ZEROS = "00" * 16

EXAMPLES: dict[str, tuple[Message, int, str]] = {
    "scalars": (
        Scalars(flag=True, tiny=-1, short=2, unsigned=65535, medium=3, long=-2, real=0.5),
        0,
        "01 ff 0002 ffff 00000003 fffffffffffffffe 3fe0000000000000" + ZEROS,
    ),
    "flexible scalars end in tags": (
        Scalars(tiny=1),
        1,
        "00 01 0000 0000 00000000 0000000000000000 0000000000000000" + ZEROS + "00",
    ),
    "nulls": (Variable(), 0, "0000 ffff 00000000 ffffffff 00000000 ffffffff"),
    "compact nulls": (Variable(), 1, "01 00 01 00 01 00 00"),
    "values": (
        Variable(text="é", text_or_null="", data=b"d", data_or_null=b"", numbers=[1], words=["w"]),
        0,
        "0002c3a9 0000 0000000164 00000000 000000010001 00000001000177",
    ),
    "compact values": (
        Variable(text="é", text_or_null="", data=b"d", data_or_null=b"", numbers=[1], words=["w"]),
        1,
        "03c3a9 01 0264 01 020001 020277 00",
    ),
    "structs without a field of later": (
        Nested(points=[Point(x=1), Point(x=2)], centre=Point(x=3)),
        0,
        "00000002 01 02 03",
    ),
    "structs with tags of their own": (
        Nested(points=[Point(x=1, y=2)], centre=Point(x=3, y=4), corner=Point(x=5, y=6)),
        1,
        "02 01 02 00 03 04 00 01 05 06 00 00",
    ),
    "a null struct": (Nested(name="n"), 2, "01 00 07 00 ff 026e 00"),
    "no tagged field": (Tagged(plain=9), 0, "09 00"),
    "tagged fields by tag": (
        Tagged(plain=9, label="l", point=Point(x=1)),
        0,
        "09 02 00 02 01 00 02 02 026c",
    ),
    "a tagged list": (
        Tagged(points=[Point(x=1, y=2)]),
        1,
        "00 01 05 04 02 01 02 00",
    ),
    "records": (Batch(before=1, records=b"rr", after=2), 0, "01 00000002 7272 ffffffff 02"),
    "compact records": (
        Batch(before=1, records=b"rr", more=b"", after=2),
        1,
        "01 03 7272 01 02 00",
    ),
}


@pytest.mark.parametrize(("message", "version", "wire"), EXAMPLES.values(), ids=EXAMPLES.keys())
def test_a_message_and_its_bytes(message: Message, version: int, wire: str) -> None:
    assert encode(message, version).hex() == bytes.fromhex(wire).hex()
    assert decode(type(message), version, memoryview(bytes.fromhex(wire))) == message


@pytest.mark.parametrize("length", [126, 127, 128, 129, 16383, 16384, 32767])
def test_lengths_around_those_of_a_varint(length: int) -> None:
    message = Variable(text="a" * length, data=b"b" * length, numbers=[7] * length)
    assert decode(Variable, 1, memoryview(encode(message, 1))) == message


def test_a_field_of_a_later_version_is_dropped_when_ignorable() -> None:
    written = encode(Nested(centre=Point(x=1, y=99), corner=Point(x=1)), 0)
    assert decode(Nested, 0, written) == Nested(centre=Point(x=1))


def test_a_field_of_a_later_version_is_not_lost_otherwise() -> None:
    with pytest.raises(ValueError, match=r"^Nested v1: name = 'n': this version has no such field"):
        encode(Nested(name="n"), 1)
    with pytest.raises(ValueError, match=r"^Tagged v0: points = "):
        encode(Tagged(points=[Point()]), 0)


def test_unknown_tagged_fields_are_skipped() -> None:
    wire = bytes.fromhex("09 03 01 02 aaaa 02 02 026c 63 00")
    assert decode(Tagged, 0, wire) == Tagged(plain=9, label="l")
    assert decode(Scalars, 1, bytes(44) + bytes.fromhex("01 07 03 aabbcc")) == Scalars()


@pytest.mark.parametrize("size", ["02", "03", "00", "7f", "ffffffff0f"])
def test_what_a_known_tagged_field_says_of_its_size_is_not_believed(size: str) -> None:
    """Kafka's readers skip what it says, and read the field."""
    written = bytes.fromhex("09 01 02 " + size + " 026c")
    assert decode(Tagged, 1, written) == Tagged(plain=9, label="l")


def test_a_tagged_field_of_another_version_is_refused() -> None:
    with pytest.raises(ProtocolError, match=r"^Tagged v0: points: tag 5 is of another version"):
        decode(Tagged, 0, bytes.fromhex("09 01 05 01 01"))


def test_a_null_struct_is_a_byte_or_in_a_tagged_field_a_varint() -> None:
    assert encode(Nullable(kept=None, tagged=None), 0).hex() == "ff01000100"
    assert encode(Nullable(kept=Point(x=1), tagged=Point(x=2)), 0).hex() == ("010100010003010200")
    for kept, tagged in ((None, None), (Point(), Point(x=2)), (Point(), Point())):
        message = Nullable(kept=kept, tagged=tagged)
        assert decode(Nullable, 0, encode(message, 0)) == message


def test_text_that_is_not_utf_8_reads_as_in_java() -> None:
    assert decode(Variable, 0, b"\0\5a\xff\xed\xa0b" + bytes(40)).text == "a\ufffd\ufffdb"


def test_text_that_is_not_utf_8_is_refused_where_no_answer_could_carry_it() -> None:
    longest = 0x7FFF // 3
    text = decode(Variable, 0, longest.to_bytes(2) + b"\xff" * longest + bytes(40)).text
    assert len(text.encode()) == 0x7FFF - 1
    with pytest.raises(ProtocolError, match="text: 'utf-8' codec can't decode byte 0xff"):
        decode(Variable, 0, (longest + 1).to_bytes(2) + b"\xff" * (longest + 1) + bytes(40))


def bad(cls: type[Message], **value: Any) -> Message:
    """A message of which a field may have a value of another type."""
    return cls(**value)


BAD_VALUES: dict[str, tuple[Message, str]] = {
    "a number out of range": (bad(Scalars, tiny=128), "tiny = 128: byte format requires"),
    "a number that is none": (bad(Scalars, medium="1"), "medium = '1': required argument"),
    "an unsigned number below zero": (bad(Scalars, unsigned=-1), "unsigned = -1: "),
    "a float for a whole number": (bad(Scalars, long=1.0), "long = 1.0: required argument"),
    "a flag that is none": (bad(Scalars, flag="no"), "flag = 'no': neither true nor false"),
    "a short id": (bad(Scalars, id=b"x"), "id = b'x': not 16 bytes"),
    "a long id": (bad(Scalars, id=bytes(17)), "id = .*: not 16 bytes"),
    "an id as text": (bad(Scalars, id="0123456789abcdef"), "id = .*: not 16 bytes"),
    "a null where none may be": (bad(Variable, text=None), "text: null where none may be"),
    "a null list": (bad(Variable, numbers=None), "numbers: null where none may be"),
    "a null in a list": (bad(Variable, words=["a", None]), r"words\[1\]: null where none may be"),
    "a null struct": (bad(Nested, centre=None), "centre: null where none may be"),
    "another struct": (bad(Nested, centre=Scalars()), r"centre = Scalars\(\): not a Point"),
    "a struct in a list": (bad(Nested, points=[Point(), Point(x=999)]), r"points\[1\].x = 999: "),
    "a string too long": (
        bad(Variable, text="a" * 32768),
        "text = 'aaa.*: 32768 bytes, more",
    ),
    "a string that is none": (bad(Variable, text=b"bytes"), "text = b'bytes': not a string"),
    "half a character": (bad(Variable, text="\ud800"), "text = .*: 'utf-8' codec can't encode"),
    "bytes that are none": (bad(Variable, data="text"), "data = 'text': not bytes"),
    "a list of something else": (bad(Variable, numbers=["one"]), r"numbers\[0\] = 'one': required"),
    "a string for a list of strings": (bad(Variable, words="words"), "words = 'words': not a list"),
    "bytes for a list of numbers": (bad(Variable, numbers=b"123"), "numbers = b'123': not a list"),
    "a set for a list": (bad(Variable, numbers={1}), r"numbers = \{1\}: not a list"),
    "a string for records": (bad(Batch, records="a" * 2000), "records = 'aaa.*: not records"),
    "a number for records": (bad(Batch, records=7), "records = 7: not records"),
}


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize(("message", "why"), BAD_VALUES.values(), ids=BAD_VALUES.keys())
def test_what_cannot_be_written_is_a_value_error_that_names_the_field(
    message: Message, why: str, version: int
) -> None:
    with pytest.raises(ValueError, match=f"^{type(message).__name__} v{version}: {why}"):
        encode_parts(message, version)


def test_a_tagged_value_that_cannot_be_written_is_named_too() -> None:
    with pytest.raises(ValueError, match=r"^Tagged v0: point\.x = 300: "):
        encode(Tagged(point=Point(x=300)), 0)


BAD_BYTES: dict[str, tuple[type[Message], int, str, str]] = {
    "nothing": (Scalars, 0, "", "flag to id: the bytes end before it does"),
    "the end within a length": (Variable, 0, "00", "text: the bytes end before it does"),
    "the end within a text": (Variable, 0, "0005 61", "text: length or count 5 with 1 bytes left"),
    "the end within a struct": (Nested, 0, "00000000", "centre.x: the bytes end"),
    "the end within a list": (Nested, 0, "00000002 01", "points: length or count 2 with 1 bytes"),
    "a null struct": (Nested, 0, "ffffffff", "points: length or count -1 with 0 bytes left"),
    "no tagged fields": (Nested, 1, "01 01 07", "centre.x to centre.tagged fields: the"),
    "a varint without end": (Variable, 1, "ffffffffffff", "text: a varint of more than five"),
    "a long tagged field": (Tagged, 0, "00 01 07 09", "tagged fields: length or count 9"),
    "a tagged field of a negative size": (Tagged, 0, "00 01 07 ffffffff0f", "tagged fields: "),
}


@pytest.mark.parametrize(("cls", "version", "wire", "why"), BAD_BYTES.values(), ids=BAD_BYTES)
def test_what_cannot_be_read_is_a_protocol_error_that_names_the_field(
    cls: type[Message], version: int, wire: str, why: str
) -> None:
    with pytest.raises(ProtocolError, match=f"^{cls.__name__} v{version}: {why}"):
        decode(cls, version, bytes.fromhex(wire))


def test_a_traceback_shows_the_compiled_code() -> None:
    with pytest.raises(ProtocolError) as caught:
        decode(Variable, 0, b"")
    shown = "".join(traceback.format_exception(caught.value.__cause__))
    assert "<decoder of Variable v0>" in shown
    assert "# text" in shown


@pytest.mark.parametrize("version", [-1, 2])
def test_a_version_that_does_not_exist(version: int) -> None:
    with pytest.raises(ProtocolError, match="Scalars has no version"):
        decode(Scalars, version, bytes(100))
    with pytest.raises(ValueError, match="Scalars has no version"):
        encode(Scalars(), version)


def test_records_are_slices_of_the_buffer() -> None:
    buffer = bytearray(encode(Batch(records=b"abc"), 1))
    message = decode(Batch, 1, memoryview(buffer))
    assert isinstance(message.records, memoryview)
    message.records[0] = ord("x")
    assert b"xbc" in buffer


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_long_records_are_parts_of_their_own(kind: Any) -> None:
    records = kind(bytes(5000))
    parts = encode_parts(Batch(before=1, records=records, after=2), 0, b"prefix")
    assert parts == [b"prefix\x01" + (5000).to_bytes(4, "big"), records, b"\xff\xff\xff\xff\x02"]
    assert parts[1] is records


def test_short_records_are_joined_with_what_is_around_them() -> None:
    (only,) = encode_parts(Batch(records=memoryview(b"abc"), more=bytearray(b"def")), 1)
    assert only == b"\0\x04abc\x04def\0\0"


class Elsewhere:
    """Records that are not in memory."""

    def __len__(self) -> int:
        return 10


def test_records_that_are_elsewhere_pass_through_in_order() -> None:
    first, second = Elsewhere(), Elsewhere()
    parts = encode_parts(Batch(records=first, more=second), 0)
    assert [part for part in parts if isinstance(part, Elsewhere)] == [first, second]
    assert sum(map(len, parts)) == 1 + 4 + 10 + 4 + 10 + 1


def test_records_that_are_elsewhere_cannot_be_written_as_one_piece() -> None:
    with pytest.raises(ValueError, match="not in memory"):
        encode(Batch(records=Elsewhere()), 0)
