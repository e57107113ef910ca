"""The numbers by which sends are known: unique in a run, and read back out of the records.

A process counts from its ordinal times 2^40. The number is the record's value, in decimal digits,
with blanks behind it up to the size that was asked for. What has no value, a tombstone, or one of
its own carries it in a header, which counts more than any value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from logquake.chaos.history.rows import NOT_SENT

HEADER = "logquake.number"
_BITS_OF_COUNT = 40
_END = 1 << 63

Headers = Iterable[tuple[str, str | bytes | None]]


def numbers(ordinal: int) -> Iterator[int]:
    """Those of the process with that ordinal; each process of a run has another."""
    return count(number_at(ordinal, 0))


def place_of(number: int) -> tuple[int, int]:
    """The ordinal of the process that sent it, and how many of its sends were before."""
    return divmod(number, 1 << _BITS_OF_COUNT)


def number_at(ordinal: int, index: int) -> int:
    """place_of() of it gives these back."""
    return (ordinal << _BITS_OF_COUNT) + index


def to_value(number: int, size: int = 0) -> bytes:
    return (b"%d" % number).ljust(size)


def to_headers(number: int) -> list[tuple[str, str | bytes | None]]:
    """Of a tombstone, or of what has a value of its own."""
    return [(HEADER, b"%d" % number)]


def number_of(value: bytes | None, headers: Headers | None = None) -> int:
    """NOT_SENT for a record that no workload made."""
    told = _in_headers(headers) if headers else None
    if told is None:
        told = value
    try:
        number = int(told) if told is not None else NOT_SENT
    except ValueError:
        return NOT_SENT
    return number if 0 <= number < _END else NOT_SENT


def _in_headers(headers: Headers) -> str | bytes | None:
    return next((value for name, value in headers if name == HEADER), None)
