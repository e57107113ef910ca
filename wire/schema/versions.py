"""Version ranges as Kafka's message definitions write them: ``3+``, ``0-11``, ``2``, ``none``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_OPEN_END = 0x7FFF  # versions travel as int16


@dataclass(frozen=True, slots=True)
class Versions:
    """A closed range; empty when ``first`` is above ``last``."""

    first: int
    last: int

    @classmethod
    def parse(cls, text: str) -> Versions:
        if text == "none":
            return NO_VERSIONS
        if text.endswith("+"):
            return cls(int(text[:-1]), _OPEN_END)
        first, _, last = text.partition("-")
        return cls(int(first), int(last or first))

    def __contains__(self, version: int) -> bool:
        return self.first <= version <= self.last

    def __bool__(self) -> bool:
        return self.first <= self.last

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.first, self.last + 1))

    def __str__(self) -> str:
        if not self:
            return "none"
        if self.last == _OPEN_END:
            return f"{self.first}+"
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


NO_VERSIONS = Versions(0, -1)
