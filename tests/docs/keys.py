"""What the code says of a client's keys, in the words of docs/clients.md."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from enum import Enum
from typing import Any

from logquake.client.settings.keys import kind_of, name_of
from logquake.client.settings.kinds import INT_MAX, LONG_MAX, Kind, Maybe, OneOf, Whole
from logquake.client.settings.security import SecurityConfig


def told(table: type[SecurityConfig]) -> dict[str, tuple[str, str]]:
    """By key of a table, or of a part of one: its default, and what it may be."""
    return {name_of(each.name): (default_of(each), allowed(_kind(each))) for each in fields(table)}


def default_of(field: Field[Any]) -> str:
    kind, default = _kind(field), field.default
    if default is MISSING:
        return "must be set"
    if isinstance(kind, OneOf):
        return next(spelt for spelt, meant in kind.spelt.items() if meant == default)
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return ", ".join(default) or "none"
    if isinstance(default, int):
        return _number(default)
    return default.value if isinstance(default, Enum) else default or "none"


def allowed(kind: Kind[Any]) -> str:
    if isinstance(kind, Maybe):
        return allowed(kind.kind)
    if isinstance(kind, OneOf):
        return ", ".join(kind.spelt)
    return _range(kind) if isinstance(kind, Whole) else kind.allowed.strip(",")


def _range(kind: Whole) -> str:
    of = {INT_MAX: "int", LONG_MAX: "long"}.get(kind.maximum)
    if of is None:
        return f"int, {kind.minimum} to {kind.maximum}"
    return of if kind.minimum < -INT_MAX else f"{of}, from {kind.minimum}"


def _number(value: int) -> str:
    return "2^31-1" if value == INT_MAX else str(value)


def _kind(field: Field[Any]) -> Kind[Any]:
    return kind_of(field.metadata)
