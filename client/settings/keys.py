"""What a table says of one key: its default, and its allowed values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

from logquake.client.settings.kinds import Kind

T = TypeVar("T")

_KIND = "kind"


@dataclass(frozen=True, slots=True)
class Absent:
    """A key of Kafka's that has no meaning here: ``why``, in words that go on after its name.

    ``behaves_as`` is the value that says what happens all the same, and is no reason to refuse.
    """

    why: str
    behaves_as: str | None = None


def key(default: T, kind: Kind[T]) -> Any:
    """A field of a table; typed as dataclasses.field is."""
    return field(default=default, metadata={_KIND: kind})


def secret_key(default: T, kind: Kind[T]) -> Any:
    """Is shown nowhere."""
    return field(default=default, metadata={_KIND: kind}, repr=False)


def required_key(kind: Kind[Any]) -> Any:
    return field(metadata={_KIND: kind})


def kind_of(metadata: Any) -> Kind[Any]:
    """Of a field's metadata."""
    kind: Kind[Any] = metadata[_KIND]
    return kind


def name_of(field_name: str) -> str:
    """Kafka's name of a field."""
    return field_name.replace("_", ".")
