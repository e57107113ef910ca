"""Records out of what is typed or piped: one a line, its key in front where one is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from logquake.cluster.errors import ClusterError

# Before a delimiter comes, a record is held in memory. Brokers take 1 MB unless told otherwise.
MAX_RECORD_BYTES = 64 * 1024 * 1024


class Typed(NamedTuple):
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclass(frozen=True, slots=True)
class LineFormat:
    """How lines become records."""

    delimiter: bytes = b"\n"
    key_separator: bytes | None = None  # a line without it has no key
    key: bytes | None = None  # of records that bring none
    headers: tuple[tuple[str, bytes | None], ...] = ()
    empty_is_null: bool = False

    def record(self, line: bytes) -> Typed:
        key, value = self.key, line
        if self.key_separator is not None and self.key_separator in line:
            key, _, value = line.partition(self.key_separator)
        return Typed(self._null(key), self._null(value), self.headers)

    def _null(self, data: bytes | None) -> bytes | None:
        return None if self.empty_is_null and not data else data


class Lines:
    """Cuts what comes in pieces of any size at a delimiter."""

    def __init__(self, delimiter: bytes) -> None:
        self._delimiter = delimiter
        self._rest = b""

    def add(self, piece: bytes) -> list[bytes]:
        """The lines that are whole now. Raises ClusterError for one beyond MAX_RECORD_BYTES."""
        *whole, self._rest = (self._rest + piece).split(self._delimiter)
        if len(self._rest) > MAX_RECORD_BYTES:
            raise ClusterError(
                f"no delimiter in {MAX_RECORD_BYTES} bytes: choose another with --delimiter"
            )
        return whole

    def end(self) -> list[bytes]:
        """A last line that nothing ends."""
        rest, self._rest = self._rest, b""
        return [rest] if rest else []


def parse_headers(assignments: Sequence[str]) -> tuple[tuple[str, bytes | None], ...]:
    """``name=value``; a name alone has no value. Raises ClusterError for no name."""
    headers: list[tuple[str, bytes | None]] = []
    for assignment in assignments:
        name, separator, value = assignment.partition("=")
        if not name:
            raise ClusterError(f"{assignment!r} is no header: write name=value")
        headers.append((name, value.encode() if separator else None))
    return tuple(headers)


def choice(text: str, among: Mapping[str, int], what: str) -> int:
    """Raises ClusterError."""
    if text not in among:
        raise ClusterError(f"no {what} {text!r}: choose {', '.join(among)}")
    return among[text]
