"""What a producer sent, and what became of every send.

A send is named by its number, counting from 0 in the order of sending. Outcomes follow Jepsen:
acked (with partition and offset), refused (certainly not appended), unknown (a time-out or a lost
connection: it may or may not be in the log). Times are monotonic seconds.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum


class Outcome(IntEnum):
    UNKNOWN = 0  # also while no answer has come
    ACKED = 1
    REFUSED = 2


@dataclass(frozen=True, slots=True)
class Ack:
    """An acked send and where its record is."""

    number: int
    partition: int
    offset: int


class Outcomes:
    """Outcomes of up to millions of sends, in arrays: 15 bytes a send."""

    def __init__(self) -> None:
        self._outcomes = array("b")
        self._partitions = array("h")
        self._offsets = array("q")
        self.unknown_reasons: dict[str, int] = {}
        self.acked = 0

    def __len__(self) -> int:
        """How many sends there were."""
        return len(self._outcomes)

    def sent(self) -> int:
        """Record one more send; its number."""
        self._outcomes.append(Outcome.UNKNOWN)
        self._partitions.append(-1)
        self._offsets.append(-1)
        return len(self._outcomes) - 1

    def ack(self, number: int, partition: int, offset: int) -> None:
        self._outcomes[number] = Outcome.ACKED
        self._partitions[number] = partition
        self._offsets[number] = offset
        self.acked += 1

    def refuse(self, number: int) -> None:
        self._outcomes[number] = Outcome.REFUSED

    def lose_sight(self, number: int, reason: str) -> None:
        """The outcome is unknown, for a reason worth counting."""
        self._outcomes[number] = Outcome.UNKNOWN
        self.unknown_reasons[reason] = self.unknown_reasons.get(reason, 0) + 1

    def outcome(self, number: int) -> Outcome:
        return Outcome(self._outcomes[number])

    def acks(self) -> Iterator[Ack]:
        """Every acked send, in the order of sending."""
        for number, outcome in enumerate(self._outcomes):
            if outcome == Outcome.ACKED:
                yield Ack(number, self._partitions[number], self._offsets[number])
