"""Reading a table from what a caller gives: keys with dots or underscores, values or their text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from difflib import get_close_matches
from typing import Any, ClassVar, Protocol, TypeVar

from logquake.client.errors import SettingsError
from logquake.client.settings.elsewhere import CALLED_ELSEWHERE
from logquake.client.settings.keys import Absent, kind_of, name_of


class Table(Protocol):
    """A frozen dataclass, each of whose fields is a key()."""

    client: ClassVar[str]  # in the words of a refusal: "a producer"
    absent: ClassVar[Mapping[str, Absent]]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @classmethod
    def settle(cls, given: dict[str, Any]) -> None:
        """Add what follows from what is given, which holds typed values by the names of fields.

        Raises SettingsError where they do not go together.
        """


C = TypeVar("C", bound=Table)


def read(table: type[C], given: Mapping[str, object]) -> C:
    """Keys have dots or underscores. Raises SettingsError."""
    by_name = {name_of(each.name): each for each in fields(table)}
    values: dict[str, Any] = {}
    for spelt, value in given.items():
        name = name_of(spelt)
        if name in table.absent:
            _refuse_unless_so(table, name, value)
        elif name not in by_name:
            raise SettingsError(_unknown(table, spelt, [*by_name, *table.absent]))
        elif by_name[name].name in values:
            raise SettingsError(f"{name} is set twice: with dots, and with underscores")
        else:
            values[by_name[name].name] = _parsed(name, value, by_name[name])
    _refuse_missing(table, values)
    table.settle(values)
    return table(**values)


def merged(
    config: Mapping[str, object] | None,
    keywords: Mapping[str, object],
    arguments: Mapping[str, object | None] | None = None,
) -> dict[str, object]:
    """What a client is given as a mapping, as keywords, and as arguments that stand for keys.

    An argument that is None is not given; None of the others is a value. Raises SettingsError.
    """
    if not isinstance(config, Mapping | None):
        raise SettingsError(
            f"a client is made of a mapping of keys, or of keywords, and not of {config!r:.100}: "
            'bootstrap_servers="host:9092" is one'
        )
    named = {name: value for name, value in (arguments or {}).items() if value is not None}
    merged = dict(config or {})
    for spelt, value in (*keywords.items(), *named.items()):
        if spelt in merged:
            raise SettingsError(f"{name_of(spelt)} is set twice: in the mapping, and as a keyword")
        merged[spelt] = value
    return merged


def _parsed(name: str, value: object, place: Field[Any]) -> Any:
    kind = kind_of(place.metadata)
    try:
        return kind.read(value)
    except ValueError:
        shown = repr(value) if place.repr else "[hidden]"
        raise SettingsError(f"{name}={shown} is not allowed: {kind.allowed} is") from None


def _refuse_unless_so(table: type[Table], name: str, value: object) -> None:
    absent = table.absent[name]
    if absent.behaves_as is None or str(value).strip().lower() != absent.behaves_as.lower():
        raise SettingsError(f"{name} cannot be set for {table.client}: {absent.why}")


def _unknown(table: type[Table], spelt: str, names: list[str]) -> str:
    refusal = f"{spelt} is no key of {table.client}"
    if name_of(spelt) in CALLED_ELSEWHERE:
        return f"{refusal}: {CALLED_ELSEWHERE[name_of(spelt)]}"
    near = get_close_matches(name_of(spelt), names, n=1)
    return f"{refusal}: did you mean {near[0]}?" if near else refusal


def _refuse_missing(table: type[Table], values: Mapping[str, object]) -> None:
    for each in fields(table):
        if each.default is MISSING and each.name not in values:
            allowed = kind_of(each.metadata).allowed
            raise SettingsError(f"{name_of(each.name)} is not set: {allowed} is needed")
