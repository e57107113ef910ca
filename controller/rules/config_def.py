"""What a configuration key is: its type, its default, which values it takes, what it does.

Types, bounds and wording are those of Kafka's ConfigDef, so that what Kafka refuses is refused
here with the same message. Keys stand in tables of text (key_table.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from logquake.wire.java_text import double_text

Value = bool | int | float | str | list[str]
Check = Callable[[str, Value], None]
"""Of a key's name and a value of its type. Raises InvalidValue."""


class InvalidConfig(Exception):  # noqa: N818 - the request is at fault, not the program
    """A configuration that is not taken; the message is Kafka's InvalidConfigurationException's."""


class InvalidValue(InvalidConfig):
    """A value that a key does not take: Kafka's ConfigException, which callers word further."""

    @classmethod
    def of(cls, name: str, value: object, reason: str = "") -> InvalidValue:
        colon = ": " if reason else ""
        return cls(f"Invalid value {shown(value)} for configuration {name}{colon}{reason}")


class ConfigType(IntEnum):
    """The numbers are those of DescribeConfigs (DescribeConfigsResponse.ConfigType)."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


_BITS = {ConfigType.INT: 32, ConfigType.SHORT: 16, ConfigType.LONG: 64}


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """``default`` is text, None for Kafka's null. ``note`` is the table's own, see there."""

    name: str
    type: ConfigType
    default: str | None
    check: Check
    note: str
    documentation: str

    def parse(self, text: str) -> Value:
        """Raises InvalidValue."""
        value = parse_type(self.name, text, self.type)
        self.check(self.name, value)
        return value


def parse_type(name: str, text: str, kind: ConfigType) -> Value:
    """ConfigDef.parseType. Classes are names here. Raises InvalidValue."""
    trimmed = text.strip()
    match kind:
        case ConfigType.BOOLEAN:
            if trimmed.lower() not in ("true", "false"):
                raise InvalidValue.of(name, text, "Expected value to be either true or false")
            return trimmed.lower() == "true"
        case ConfigType.INT | ConfigType.SHORT | ConfigType.LONG:
            number = parse_whole(trimmed)
            half = 1 << (_BITS[kind] - 1)
            if number is None or not -half <= number < half:
                raise InvalidValue.of(name, text, f"Not a number of type {kind.name}")
            return number
        case ConfigType.DOUBLE:
            return _parse_double(name, text)
        case ConfigType.LIST:
            return [part.strip() for part in trimmed.split(",")] if trimmed else []
        case _:
            return trimmed


def parse_whole(text: str) -> int | None:
    """A whole number as Java writes it, which knows no 1_000."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    return int(text) if digits.isdecimal() else None


def text_of(value: Value) -> str:
    """ConfigDef.convertToString."""
    return ",".join(value) if isinstance(value, list) else shown(value)


def shown(value: object) -> str:
    """As Java's toString() does, save lists, whose words are the caller's."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return double_text(value) if isinstance(value, float) else str(value)


def _parse_double(name: str, text: str) -> float:
    try:
        if "_" in text:
            raise ValueError
        return float(text)
    except ValueError:
        raise InvalidValue.of(name, text, "Not a number of type DOUBLE") from None
