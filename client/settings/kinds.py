"""The kinds of values that keys take: each accepts text, as a properties file has it, or the value
itself, and refuses anything else by ValueError (org.apache.kafka.common.config.ConfigDef).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar

from logquake.client.settings.addresses import Address, addresses

T = TypeVar("T")
E = TypeVar("E", bound=Enum)
T_co = TypeVar("T_co", covariant=True)

INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,20}")


class Kind(Protocol[T_co]):
    @property
    def allowed(self) -> str:
        """What is allowed, to be told to whoever gave something else."""

    def read(self, value: object) -> T_co:
        """Raises ValueError for what is not allowed."""


@dataclass(frozen=True, slots=True)
class Whole:
    minimum: int
    maximum: int

    @property
    def allowed(self) -> str:
        return f"a whole number from {self.minimum} to {self.maximum}"

    def read(self, value: object) -> int:
        if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value.strip()):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(value)
        if not self.minimum <= value <= self.maximum:
            raise ValueError(value)
        return value


def integer(minimum: int = -INT_MAX - 1, maximum: int = INT_MAX) -> Whole:
    """Of 32 bits, unless other bounds are given."""
    return Whole(minimum, maximum)


def long(minimum: int = -LONG_MAX - 1) -> Whole:
    """Of 64 bits."""
    return Whole(minimum, LONG_MAX)


@dataclass(frozen=True, slots=True)
class Flag:
    allowed: str = "true or false"

    def read(self, value: object) -> bool:
        if isinstance(value, str):
            value = {"true": True, "false": False}.get(value.strip().lower())
        if not isinstance(value, bool):
            raise ValueError(value)
        return value


@dataclass(frozen=True, slots=True)
class Text:
    """That matches the pattern as a whole, and can be encoded."""

    allowed: str = "text"
    pattern: str = r"(?s:.*)"
    max_bytes: int | None = None

    def read(self, value: object) -> str:
        if not isinstance(value, str) or not re.fullmatch(self.pattern, value.strip()):
            raise ValueError(value)
        size = len(value.strip().encode())
        if self.max_bytes is not None and size > self.max_bytes:
            raise ValueError(value)
        return value.strip()


_NAME_BYTES = 32_000  # of a string in a request, and what is made of a name


def identifier(pattern: str = r"(?s:.*)") -> Text:
    """What requests have to say."""
    return Text(f"text of {_NAME_BYTES} bytes at most", pattern, _NAME_BYTES)


@dataclass(frozen=True, slots=True)
class OneOf(Generic[T]):
    """By how it is spelt; ``in_any_case`` where capitals make no difference."""

    spelt: Mapping[str, T]
    in_any_case: bool = False

    @property
    def allowed(self) -> str:
        return " or ".join(self.spelt)

    def read(self, value: object) -> T:
        for meaning in self.spelt.values():
            if isinstance(value, Enum) and value is meaning:
                return meaning
        if not isinstance(value, str | int):
            raise ValueError(value)
        text = str(value).strip()
        for spelt, meaning in self.spelt.items():
            if text == spelt or (self.in_any_case and text.lower() == spelt.lower()):
                return meaning
        raise ValueError(value)


def member_of(values: type[E], *, in_any_case: bool = False) -> OneOf[E]:
    """Of an enumeration, whose values are how Kafka spells them."""
    return OneOf({str(member.value): member for member in values}, in_any_case)


@dataclass(frozen=True, slots=True)
class Maybe(Generic[T]):
    """Or None."""

    kind: Kind[T]

    @property
    def allowed(self) -> str:
        return f"{self.kind.allowed}, or nothing"

    def read(self, value: object) -> T | None:
        return None if value is None else self.kind.read(value)


@dataclass(frozen=True, slots=True)
class Servers:
    allowed: str = "host:port[,host:port...]"

    def read(self, value: object) -> tuple[Address, ...]:
        """Text, or a list of texts."""
        text = ",".join(map(str, value)) if isinstance(value, list | tuple) else value
        found = addresses(text) if isinstance(text, str) else []
        if not found:
            raise ValueError(value)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Names:
    """In order; any, unless the ones that are known are told."""

    known: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        return f"a list of {' or '.join(self.known) or 'names'}"

    def read(self, value: object) -> tuple[str, ...]:
        """A list, or text with commas."""
        if isinstance(value, str):
            value = [part.strip() for part in value.split(",") if part.strip()]
        if not isinstance(value, list | tuple) or not value:
            raise ValueError(value)
        for each in value:
            if not isinstance(each, str) or (self.known and each not in self.known):
                raise ValueError(value)
        return tuple(value)


@dataclass(frozen=True, slots=True)
class Given:
    """An object of the program's own, which imports what Java loads by name."""

    allowed: str = "an object, and no name of one,"

    def read(self, value: object) -> Any:
        if value is None or isinstance(value, str):
            raise ValueError(value)
        return value


@dataclass(frozen=True, slots=True)
class Function:
    """Of the program's own: one that nobody has to await."""

    allowed: str = "a function, neither async nor the name of one,"

    def read(self, value: object) -> Any:
        if not callable(value) or inspect.iscoroutinefunction(value):
            raise ValueError(value)
        return value


@dataclass(frozen=True, slots=True)
class Doing:
    """An object of the program's own that has one of these methods, and not its class; or a
    function, where that will do.
    """

    methods: tuple[str, ...]
    or_function: bool = False

    @property
    def allowed(self) -> str:
        an_object = f"an object, and no class, with {self._named}"
        return f"a function, or {an_object}" if self.or_function else an_object

    @property
    def several(self) -> str:
        return f"objects with {self._named}"

    @property
    def _named(self) -> str:
        return " or ".join(f"{each}()" for each in self.methods)

    def read(self, value: object) -> Any:
        has_one = any(callable(getattr(value, each, None)) for each in self.methods)
        is_object = has_one and not isinstance(value, type | str | bytes)
        is_function = self.or_function and callable(value) and not has_one
        if not (is_object or is_function):
            raise ValueError(value)
        return value


@dataclass(frozen=True, slots=True)
class Several:
    """In order: objects of the program's own, and those that have a name, by it."""

    of: Doing
    names: tuple[str, ...] = ()
    may_be_none: bool = True

    @property
    def allowed(self) -> str:
        return "a list of " + " or ".join((*self.names, self.of.several))

    def read(self, value: object) -> tuple[Any, ...]:
        if isinstance(value, str):
            value = [part.strip() for part in value.split(",") if part.strip()]
        if not isinstance(value, list | tuple) or not (value or self.may_be_none):
            raise ValueError(value)
        return tuple(each if each in self.names else self.of.read(each) for each in value)
