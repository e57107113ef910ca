"""Compiles a message class and a version to a function that parses it.

The function is ``decode(buffer, p, left) -> (message, position after it)``. ``p`` walks the
buffer and ``end`` is its length. Reads of fixed width need no check of their own: past the end
``unpack_from`` and indexing raise, and :func:`logquake.wire.schema.codec.decode` turns that
into a ProtocolError that names the field. Slices would be cut short in silence, so everything of
variable length is compared with ``end`` first. A count is refused when its elements cannot fit in
the bytes left, and ``left``, the memory that the objects of one message may take, pays for each
element before it is made: an empty element of three bytes becomes a few hundred in Python.

Buffers of messages without records are copied to ``bytes`` once, which is cheaper to index;
the others stay a memoryview, of which the records are slices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from struct import Struct as Packer
from typing import Any

from logquake.wire.schema import primitives
from logquake.wire.schema.fields import (
    ArrayOf,
    Binary,
    Field,
    FieldType,
    Scalar,
    StructOf,
    Text,
)
from logquake.wire.schema.message import Schema, Struct, default_value
from logquake.wire.schema.sizes import has_records, memory_cost, smallest_size
from logquake.wire.schema.source import FixedValue, Source, about_run

Decoder = Callable[[Any, int, int], tuple[Any, int]]
Tagged = dict[int, tuple[str, Field]]  # a struct's fields by tag, of all its versions

TAGGED_FIELDS = "tagged fields"


def compile_decoder(cls: type[Struct], version: int) -> Decoder:
    """The decoder of one version; the caller has checked that the version exists."""
    return _DecoderCompiler(cls, version).compile()


def decoder_title(cls: type[Struct], version: int) -> str:
    """The file name that tracebacks show for the compiled code."""
    return f"<decoder of {cls.__schema__.name} v{version}>"


class _DecoderCompiler:
    def __init__(self, cls: type[Struct], version: int) -> None:
        self._cls = cls
        self._schema: Schema = cls.__schema__
        self._version = version
        self._flexible = version in self._schema.flexible
        self._view = has_records(cls, version)
        env = {
            "new": object.__new__,
            "uvarint": primitives.read_uvarint,
            "skip_tags": primitives.skip_tagged_fields,
            "refusal": primitives.refusal,
            "foreign": primitives.foreign_tag,
        }
        self._src = Source(env, self._emit_unpack)

    def compile(self) -> Decoder:
        src = self._src
        with src.block("def decode(buffer, p, left):"):
            src.line(f"b = {'memoryview' if self._view else 'bytes'}(buffer)")
            src.line("end = len(b)")
            target = self._struct(self._cls, "")
            src.flush()
            src.line(f"return {target}, p")
        decoder: Decoder = src.compile(decoder_title(self._cls, self._version), "decode")
        return decoder

    def _emit_unpack(self, run: list[FixedValue]) -> None:
        codes = "".join(value.code for value in run)
        targets = ", ".join(value.name for value in run)
        if codes == "B":
            self._src.line(f"{targets} = b[p]; p += 1", about_run(run))
            return
        packer = Packer(">" + codes)
        unpack = self._src.constant("U", packer.unpack_from)
        comma = "," if len(run) == 1 else ""
        self._src.line(f"{targets}{comma} = {unpack}(b, p); p += {packer.size}", about_run(run))

    def _struct(self, cls: type[Struct], path: str) -> str:
        """Emits the reading of a struct's fields; returns the name that holds it."""
        src = self._src
        target = src.name("o")
        src.line(f"{target} = new({src.constant('C', cls)})")
        tagged: Tagged = {}
        for name, field in cls.__schema__.fields.items():
            here = self._version in field.versions
            if here and field.tag is None:
                nullable = self._version in field.nullable
                self._value(field.type, nullable, f"{target}.{name}", _join(path, name))
                continue
            self._default(field, f"{target}.{name}")
            if field.tag is not None:
                tagged[field.tag] = (name, field)
        if self._flexible:
            self._tagged_fields(tagged, target, path)
        return target

    def _default(self, field: Field, target: str) -> None:
        value = default_value(field)
        literal = repr(value) if value in (None, [], 0, -1, "") else ""
        self._src.line(f"{target} = {literal or self._src.constant('D', value)}")

    def _value(
        self, kind: FieldType, nullable: bool, target: str, path: str, *, tagged: bool = False
    ) -> None:
        match kind:
            case Scalar(code=code):
                self._src.fixed(code, target, path)
            case ArrayOf(element=element):
                self._array(element, nullable, target, path)
            case StructOf(struct=struct):
                self._nested(struct, nullable, target, path, tagged)
            case _:
                self._slice(kind, nullable, target, path)

    def _nested(
        self, struct: type[Struct], nullable: bool, target: str, path: str, tagged: bool
    ) -> None:
        """Whether it is null: a byte, -1 for null; in a tagged field a varint, 0 for null."""
        present = ""
        if nullable and tagged:
            present = self._length("b", path)
        elif nullable:
            present = self._src.name("n")
            self._src.fixed("b", present, path)
        with self._unless_null(present, nullable, target):
            self._src.line(f"{target} = {self._struct(struct, path)}")

    @contextmanager
    def _unless_null(self, length: str, nullable: bool, target: str) -> Iterator[None]:
        if not nullable:
            yield
            return
        with self._src.block(f"if {length} < 0:"):
            self._src.line(f"{target} = None")
        with self._src.block("else:"):
            yield

    def _length(self, code: str, path: str) -> str:
        """Emits the reading of a length or count, negative for null; returns its name."""
        src = self._src
        length = src.name("n")
        src.fixed("B" if self._flexible else code, length, path)
        src.flush()
        if self._flexible:
            with src.block(f"if {length} > 127:"):
                src.line(f"{length}, p = uvarint(b, p - 1)", path)
            src.line(f"{length} -= 1")
        return length

    def _refuse(self, condition: str, path: str, length: str) -> None:
        with self._src.block(f"if {condition}:"):
            self._src.line(f"raise refusal({length}, end - p)", path)

    def _slice(self, kind: FieldType, nullable: bool, target: str, path: str) -> None:
        """A string, bytes or records: a length, then so many bytes."""
        text = isinstance(kind, Text)
        length = self._length("h" if text else "i", path)
        with self._unless_null(length, nullable, target):
            longest = f" or {length} > {primitives.MAX_STRING_BYTES}" if text else ""
            self._src.line(f"q = p + {length}")
            self._refuse(f"{length} < 0 or q > end{longest}", path, length)
            self._src.line(f"{target} = {self._slice_expression(kind)}; p = q", path)

    def _slice_expression(self, kind: FieldType) -> str:
        if isinstance(kind, Text):
            how = f'"utf-8", "{primitives.LENIENT}"'
            return f"str(b[p:q], {how})" if self._view else f"b[p:q].decode({how})"
        return "bytes(b[p:q])" if self._view and isinstance(kind, Binary) else "b[p:q]"

    def _array(self, element: FieldType, nullable: bool, target: str, path: str) -> None:
        count = self._length("i", path)
        with self._unless_null(count, nullable, target):
            size = smallest_size(element, self._version, self._flexible)
            self._src.line(f"left -= {count} * {memory_cost(element)}")
            self._refuse(f"{count} < 0 or {count} * {size} > end - p or left < 0", path, count)
            if isinstance(element, Scalar):
                packers = self._src.constant("K", primitives.ArrayPackers(element.code))
                self._src.line(f"{target} = list({packers}[{count}].unpack_from(b, p))")
                self._src.line(f"p += {count} * {element.size}")
            else:
                self._elements(element, count, target, path)

    def _elements(self, element: FieldType, count: str, target: str, path: str) -> None:
        src = self._src
        items = src.name("a")
        src.line(f"{target} = {items} = []")
        with src.block(f"for _ in range({count}):"):
            if isinstance(element, StructOf):
                item = self._struct(element.struct, path)
            else:
                item = src.name("s")
                self._value(element, False, item, path)
            src.line(f"{items}.append({item})")

    def _tagged_fields(self, tagged: Tagged, target: str, path: str) -> None:
        src = self._src
        count = src.name("t")
        about = _join(path, TAGGED_FIELDS)
        src.fixed("B", count, about)
        with src.block(f"if {count}:"):
            if not tagged:
                src.line("p = skip_tags(b, p - 1, end)", about)
                return
            src.line(f"{count}, p = uvarint(b, p - 1)", about)
            with src.block(f"for _ in range({count}):"):
                self._tagged_field(tagged, target, path)

    def _tagged_field(self, tagged: Tagged, target: str, path: str) -> None:
        """One tag. As in Kafka the field is read whatever size it says, and refused where it is of
        another version; a tag that no version has is skipped.
        """
        src = self._src
        tag, size = src.name("tag"), src.name("size")
        about = _join(path, TAGGED_FIELDS)
        src.line(f"{tag}, p = uvarint(b, p)", about)
        src.line(f"{size}, p = uvarint(b, p)", about)
        branch = "if"
        for number, (name, field) in sorted(tagged.items()):
            with src.block(f"{branch} {tag} == {number}:"):
                self._known_tag(field, f"{target}.{name}", _join(path, name))
            branch = "elif"
        with src.block("else:"):
            self._refuse(f"not 0 <= {size} <= end - p", about, size)
            src.line(f"p += {size}")

    def _known_tag(self, field: Field, target: str, path: str) -> None:
        if self._version in field.versions:
            nullable = self._version in field.nullable
            self._value(field.type, nullable, target, path, tagged=True)
        else:
            self._src.line(f"raise foreign({field.tag})", path)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
