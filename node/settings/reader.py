"""Typed reading of properties: one method per type, every refusal in the same words.

A reader remembers which keys were asked for, so that the others can be told about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TypeVar

from logquake.node.settings.errors import SettingsError
from logquake.wire.listeners import ListenerName

E = TypeVar("E", bound=Enum)

SHORT_MAX = 2**15 - 1
INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1
_TRUTH = {"true": True, "false": False}


class PropertyReader:
    """Reads each key with Kafka's type and range; raises SettingsError for anything else."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._properties = {key: value.strip() for key, value in properties.items()}
        self._asked: set[str] = set()

    @property
    def unasked(self) -> list[str]:
        """Keys that are set and that nobody has asked for, sorted."""
        return sorted(self._properties.keys() - self._asked)

    def text(self, key: str, default: str) -> str:
        value = self.optional(key)
        return default if value is None else value

    def optional(self, key: str) -> str | None:
        """None when the key is not set, or set to nothing, as Kafka's null defaults are."""
        self._asked.add(key)
        return self._properties.get(key) or None

    def given(self, key: str) -> str | None:
        """None when the key is not set; set to nothing it is "", which some keys give a meaning."""
        self._asked.add(key)
        return self._properties.get(key)

    def required(self, key: str, allowed: str) -> str:
        value = self.optional(key)
        if value is None:
            raise SettingsError(f"{key} is not set: {allowed} is needed")
        return value

    def integer(
        self, key: str, default: int, *, minimum: int = -INT_MAX - 1, maximum: int = INT_MAX
    ) -> int:
        """A 32-bit whole number, or one of other bounds."""
        value = self.optional(key)
        return default if value is None else _whole(key, value, minimum, maximum)

    def long(self, key: str, default: int, *, minimum: int = -LONG_MAX - 1) -> int:
        """A 64-bit whole number."""
        return self.integer(key, default, minimum=minimum, maximum=LONG_MAX)

    def fraction(self, key: str, default: float) -> float:
        """A number from 0 to 1."""
        value = self.optional(key)
        if value is None:
            return default
        number = _decimal(key, value)
        if not 0 <= number <= 1:
            raise SettingsError(refusal(key, value, "a number from 0 to 1"))
        return number

    def decimal(self, key: str, default: float) -> float:
        """Any number."""
        value = self.optional(key)
        return default if value is None else _decimal(key, value)

    def duration_ms(self, key_of_unit: Mapping[str, int], default_ms: int, *, minimum: int) -> int:
        """The first key that is set wins; values are the milliseconds of its unit.

        -1, where it is allowed, means without end in every unit.
        """
        keys = list(key_of_unit)
        found = [self.optional(key) for key in keys]  # all of them count as asked for
        for key, value in zip(keys, found, strict=True):
            if value is not None:
                number = _whole(key, value, minimum, LONG_MAX // key_of_unit[key])
                return number if number == -1 else number * key_of_unit[key]
        return default_ms

    def flag(self, key: str, default: bool) -> bool:
        value = self.optional(key)
        if value is None:
            return default
        if value.lower() not in _TRUTH:
            raise SettingsError(refusal(key, value, "true or false"))
        return _TRUTH[value.lower()]

    def choice(self, key: str, default: E) -> E:
        """One of an enumeration's values, spelt as Kafka does."""
        value = self.optional(key)
        if value is None:
            return default
        allowed = [str(member.value) for member in type(default)]
        if value not in allowed:
            raise SettingsError(refusal(key, value, " or ".join(allowed)))
        return type(default)(value)

    def names(self, key: str, default: Sequence[str]) -> list[str]:
        """A comma-separated list without its empty entries."""
        value = self.optional(key)
        if value is None:
            return list(default)
        return [name for name in (part.strip() for part in value.split(",")) if name]


class ListenerReader:
    """Which key speaks for a listener: its own goes before the one for all of them."""

    def __init__(self, reader: PropertyReader, listener: ListenerName) -> None:
        self.reader = reader
        self._prefix = f"listener.name.{listener.lower()}."

    def own_key(self, key: str, mechanism: str | None = None) -> str:
        """The listener's own, or that of one of its mechanisms."""
        middle = "" if mechanism is None else f"{mechanism.lower()}."
        return f"{self._prefix}{middle}{key}"

    def key(self, key: str, mechanism: str | None = None) -> str:
        """The first of those that speak for it which is set, else the one for all."""
        candidates = [self.own_key(key), key]
        if mechanism is not None:
            candidates.insert(0, self.own_key(key, mechanism))
        found = [name for name in candidates if self.reader.given(name) is not None]
        return found[0] if found else key


def refusal(key: str, value: str, allowed: str) -> str:
    """The words of every SettingsError about a value, on one line whatever the value holds."""
    shown = value.encode("unicode_escape").decode() if not value.isprintable() else value
    return f"{key}={shown} is not allowed: {allowed} is"


def _whole(key: str, value: str, minimum: int, maximum: int) -> int:
    allowed = f"a whole number from {minimum} to {maximum}"
    try:
        number = int(value)
    except ValueError:
        raise SettingsError(refusal(key, value, allowed)) from None
    if not minimum <= number <= maximum:
        raise SettingsError(refusal(key, value, allowed))
    return number


def _decimal(key: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise SettingsError(refusal(key, value, "a number")) from None
