"""The sample messages leave no field at one value: else what they prove would be less."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from logquake.wire.schema import Message, Struct
from logquake.wire.schema.fields import ArrayOf, Field, Scalar, StructOf
from logquake.wire.schema.message import default_value
from tests.wire.samples import LONG, Samples


def test_every_field_takes_every_kind_of_value(message_type: type[Message]) -> None:
    for version in message_type.__schema__.versions:
        taken: set[tuple[str, str]] = set()
        for message in Samples(message_type.__name__).of(message_type, version):
            taken |= set(kinds_of_struct(message, version, message_type.__name__))
        wanted = set(wanted_of_struct(message_type, version, message_type.__name__))
        assert wanted <= taken


def kinds_of_struct(struct: Struct, version: int, path: str) -> Iterator[tuple[str, str]]:
    for name, field in struct.__schema__.fields.items():
        if version in field.versions:
            yield from kinds_of_value(getattr(struct, name), field, version, f"{path}.{name}")


def kinds_of_value(value: Any, field: Field, version: int, path: str) -> Iterator[tuple[str, str]]:
    if value is None:
        yield path, "null"
        return
    if value != default_value(field):
        yield path, "not its default"
    if not isinstance(field.type, Scalar | StructOf):
        yield path, "long" if len(value) >= LONG else "short" if value else "empty"
    for inner in value if isinstance(value, list) else [value]:
        if isinstance(inner, Struct):
            yield from kinds_of_struct(inner, version, path)


def wanted_of_struct(cls: type[Struct], version: int, path: str) -> Iterator[tuple[str, str]]:
    for name, field in cls.__schema__.fields.items():
        if version in field.versions:
            yield from wanted_of_field(field, version, f"{path}.{name}")


def wanted_of_field(field: Field, version: int, path: str) -> Iterator[tuple[str, str]]:
    yield path, "not its default"
    if version in field.nullable:
        yield path, "null"
    inner = field.type.element if isinstance(field.type, ArrayOf) else field.type
    if not isinstance(field.type, Scalar | StructOf):
        yield path, "empty"
        yield path, "short"
    if isinstance(inner, StructOf):
        yield from wanted_of_struct(inner.struct, version, path)
    elif not isinstance(field.type, Scalar):
        yield path, "long"


def test_the_samples_of_a_seed_are_the_same_in_each_run(message_type: type[Message]) -> None:
    version = message_type.__schema__.versions.last
    once, again = (list(Samples(7).of(message_type, version)) for _ in range(2))
    assert once == again


def test_a_single_differs_from_the_defaults_in_one_place(message_type: type[Message]) -> None:
    version = message_type.__schema__.versions.last
    for message in Samples(1).singles(message_type, version):
        schema = message_type.__schema__
        assert [n for n in schema.fields if getattr(message, n) != getattr(message_type(), n)]
