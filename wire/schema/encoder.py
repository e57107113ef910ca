"""Compiles a message class and a version to a function that writes it.

The function is ``encode(o, out, parts)``: small pieces go to the list ``out``; record bytes
become parts of their own, before which the pieces so far are joined. A run of fixed-width
values, with the lengths and the empty tag sections between them, is one ``pack``.

What the version cannot carry raises an error that says little, for which
:mod:`logquake.wire.schema.faults` then finds the field. ``pack`` itself refuses numbers that are
too large and what is no number. What it would take and write wrongly is refused before it: a UUID
of another length, a flag that is neither true nor false, an array that is no list.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct as Packer
from typing import Any

from logquake.wire.schema import primitives
from logquake.wire.schema.fields import (
    ArrayOf,
    Field,
    FieldType,
    RecordData,
    Scalar,
    StructOf,
    Text,
)
from logquake.wire.schema.message import Schema, Struct, default_value
from logquake.wire.schema.source import FixedValue, Source

Encoder = Callable[[Any, list[Any], list[Any]], None]

_EMPTY_TAGS = "x"
_CHECKS = {"?": "flag[{}]", "16s": "exactly_16({})"}  # by format character


def compile_encoder(cls: type[Struct], version: int) -> Encoder:
    """The encoder of one version; the caller has checked that the version exists."""
    return _EncoderCompiler(cls, version).compile()


class _EncoderCompiler:
    def __init__(self, cls: type[Struct], version: int) -> None:
        self._cls = cls
        self._schema: Schema = cls.__schema__
        self._version = version
        self._flexible = version in self._schema.flexible
        self._bias = 1 if self._flexible else 0  # compact lengths are written plus one
        self._write = "w"
        env = {
            "byte": [bytes((value,)) for value in range(256)],
            "uvarint": primitives.write_uvarint,
            "string_prefix": primitives.string_prefix,
            "put_records": primitives.put_records,
            "exactly_16": primitives.exactly_16,
            "require_items": primitives.require_items,
            "flag": {True: True, False: False},
        }
        self._src = Source(env, self._emit_pack)

    def compile(self) -> Encoder:
        src = self._src
        with src.block("def encode(o, out, parts):"):
            src.line("w = out.append")
            self._struct(self._cls, "o")
        title = f"<encoder of {self._schema.name} v{self._version}>"
        encoder: Encoder = src.compile(title, "encode")
        return encoder

    def _emit_pack(self, run: list[FixedValue]) -> None:
        self._src.line(f"{self._write}({self._packed(run)})")

    def _packed(self, run: list[FixedValue]) -> str:
        """An expression of the bytes of a run; padding bytes stand for empty tag sections."""
        codes = "".join(value.code for value in run)
        if set(codes) <= {_EMPTY_TAGS}:
            return repr(bytes(len(codes)))
        if codes == "B":
            return f"byte[{run[0].name}]"
        packer = self._src.constant("P", Packer(">" + codes).pack)
        values = ", ".join(value.name for value in run if value.code != _EMPTY_TAGS)
        return f"{packer}({values})"

    def _struct(self, cls: type[Struct], source: str) -> None:
        fields = cls.__schema__.fields
        for name, field in fields.items():
            if self._version not in field.versions and not field.ignorable:
                self._absent(field, f"{source}.{name}")
        tagged: list[tuple[int, str, Field]] = []
        for name, field in fields.items():
            if self._version not in field.versions:
                continue
            if field.tag is not None:
                tagged.append((field.tag, name, field))
            else:
                nullable = self._version in field.nullable
                self._value(field.type, nullable, f"{source}.{name}")
        if self._flexible:
            self._tagged_fields(sorted(tagged), source)

    def _absent(self, field: Field, value: str) -> None:
        """Refuses to lose a value for which this version has no place."""
        with self._src.block(f"if {self._differs(field, value)}:"):
            self._src.line("raise ValueError")

    def _differs(self, field: Field, value: str) -> str:
        """The test whether a value is not its field's default."""
        if field.default is None:
            return f"{value} is not None"
        if isinstance(field.type, ArrayOf):
            return f"{value} is None or {value}" if field.nullable else f"{value}"
        default = self._src.constant("D", default_value(field))
        return f"{value} is not {default} and {value} != {default}"

    def _value(self, kind: FieldType, nullable: bool, value: str, *, tagged: bool = False) -> None:
        match kind:
            case Scalar(code=code):
                self._src.fixed(code, _CHECKS.get(code, "{}").format(value))
            case ArrayOf(element=element):
                self._array(element, nullable, value)
            case StructOf(struct=struct):
                self._nested(struct, nullable, value, tagged)
            case _:
                self._slice(kind, nullable, value)

    def _nested(self, struct: type[Struct], nullable: bool, value: str, tagged: bool) -> None:
        """Whether it is null: a byte, -1 for null; in a tagged field a varint, 0 for null."""
        src = self._src
        null = "0" if tagged else "-1"
        source = src.name("o")
        src.line(f"{source} = {value}")
        if not nullable:
            self._struct(struct, source)
            return
        with src.block(f"if {source} is None:"):
            src.fixed("b", null)
        with src.block("else:"):
            src.fixed("b", "1")
            self._struct(struct, source)

    def _slice(self, kind: FieldType, nullable: bool, value: str) -> None:
        """A string, bytes or records: a length, then so many bytes."""
        src = self._src
        data, length = src.name("s"), src.name("n")
        content = f"{value}.encode()" if isinstance(kind, Text) else value
        self._measure(content, "b''", nullable, value, data, length)
        self._length("h" if isinstance(kind, Text) else "i", length)
        if isinstance(kind, RecordData):
            src.line(f"if {data}: put_records({data}, out, parts)")
        else:
            src.line(f"{self._write}({data})")

    def _measure(
        self, content: str, empty: str, nullable: bool, value: str, data: str, length: str
    ) -> None:
        """Names a value's content, ``empty`` for a null, and the length to be written for it."""
        src = self._src
        counted = f"{data} = {content}; {length} = len({data}) + {self._bias}"
        if not nullable:
            src.line(counted)
            return
        src.line(f"if {value} is None: {data} = {empty}; {length} = {self._bias - 1}")
        src.line(f"else: {counted}")

    def _length(self, code: str, length: str) -> None:
        """Emits the pending run with a length at its end."""
        src = self._src
        if not self._flexible:
            src.fixed(code, length)
            src.flush()
            return
        run = src.take_run()
        prefix = "string_prefix" if code == "h" else "uvarint"
        long_form = f"{self._packed(run)} + " if run else ""
        short_form = self._packed([*run, FixedValue("B", length)])
        src.line(
            f"{self._write}({short_form} if {length} < 128 else {long_form}{prefix}({length}))"
        )

    def _array(self, element: FieldType, nullable: bool, value: str) -> None:
        src = self._src
        items, count = src.name("a"), src.name("n")
        self._measure(value, "()", nullable, value, items, count)
        self._length("i", count)
        if not isinstance(element, StructOf):  # nothing else would be taken for a struct
            src.line(f"if {items}.__class__ is not list: require_items({items})")
        if isinstance(element, Scalar) and element.code not in _CHECKS:
            packers = src.constant("K", primitives.ArrayPackers(element.code))
            src.line(f"if {items}: {self._write}({packers}[len({items})].pack(*{items}))")
            return
        item = src.name("o")
        with src.block(f"for {item} in {items}:"):
            if isinstance(element, StructOf):
                self._struct(element.struct, item)
            else:
                self._value(element, False, item)

    def _tagged_fields(self, tagged: list[tuple[int, str, Field]], source: str) -> None:
        """The section of tagged fields: those that differ from their default, by tag."""
        src = self._src
        if not tagged:
            src.fixed(_EMPTY_TAGS, "")
            return
        present = []
        for _, name, field in tagged:
            present.append(src.name("t"))
            src.line(f"{present[-1]} = 1 if {self._differs(field, f'{source}.{name}')} else 0")
        src.fixed("B", " + ".join(present))
        for (tag, name, field), flag in zip(tagged, present, strict=True):
            with src.block(f"if {flag}:"):
                self._tagged_field(tag, field, f"{source}.{name}")

    def _tagged_field(self, tag: int, field: Field, value: str) -> None:
        src = self._src
        outer, pieces = self._write, src.name("tagged")
        self._write = src.name("w")
        src.line(f"{pieces} = []; {self._write} = {pieces}.append")
        self._value(field.type, self._version in field.nullable, value, tagged=True)
        src.flush()
        self._write = outer
        src.line(f"data = b''.join({pieces})")
        src.line(f"{self._write}(uvarint({tag}) + uvarint(len(data)) + data)")
