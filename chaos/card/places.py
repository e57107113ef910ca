"""Where the sends of histories came to lie: twice, or before an earlier one."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from logquake.chaos.history.numbers import place_of
from logquake.chaos.history.rows import NOT_SENT


class Misplaced(NamedTuple):
    """A send that lies there again, or else behind one that was asked for later."""

    client: str
    sent_us: int
    is_again: bool


class Places:
    """Some 10 bytes a send."""

    def __init__(self) -> None:
        self._client: dict[int, str] = {}  # by the ordinal
        self._sent_us: dict[int, array[int]] = {}
        self._was_read: dict[int, bytearray] = {}
        self._latest: dict[tuple[int, str], int] = {}
        self._read_to: dict[str, int] = {}

    def sent(self, number: int, client: str, at_us: int) -> None:
        """A process's numbers rise."""
        ordinal, index = place_of(number)
        self._client[ordinal] = client
        moments = self._sent_us.setdefault(ordinal, array("q"))
        moments.extend([at_us] * (index + 1 - len(moments)))

    def read(self, partition: str, offset: int, values: Sequence[int]) -> Iterator[Misplaced]:
        """What was read before is passed over: the reader has begun again."""
        known = self._read_to.get(partition, 0)
        self._read_to[partition] = max(known, offset + len(values))
        for number in values[max(0, known - offset) :]:
            if number != NOT_SENT:
                yield from self._lies(number, partition)

    def _lies(self, number: int, partition: str) -> Iterator[Misplaced]:
        ordinal, index = place_of(number)
        moments = self._sent_us.get(ordinal, ())
        if index >= len(moments):
            return
        was_read = self._was_read.setdefault(ordinal, bytearray(len(moments)))
        latest = self._latest.get((ordinal, partition), NOT_SENT)
        self._latest[ordinal, partition] = max(latest, index)
        if was_read[index]:
            yield Misplaced(self._client[ordinal], moments[index], is_again=True)
        elif index < latest:
            yield Misplaced(self._client[ordinal], moments[index], is_again=False)
        was_read[index] = 1
