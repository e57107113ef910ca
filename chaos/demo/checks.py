"""Histories against what was read back.

check_readback is the specification of "nothing acked is lost": every acked send is read back at
the offset that was acked, once, with its own key and value; sends of one key are read in the order
in which they were sent; and nothing is read that was never sent.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from logquake.chaos.history.outcomes import Outcome, Outcomes
from logquake.chaos.workloads.readback import ReadRecord

_EXAMPLES = 5


@dataclass(slots=True)
class Verdict:
    """Counts, and the first few cases of each kind in words."""

    sent: int = 0
    acked: int = 0
    unknown: int = 0
    read: int = 0
    lost: int = 0  # acked, not read back at its offset
    duplicated: int = 0  # read more often than it was sent
    changed: int = 0  # read at an acked offset with another key or value
    out_of_order: int = 0  # after a later send of the same key
    phantom: int = 0  # read, and no acked or unknown send explains it
    examples: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not (
            self.lost or self.duplicated or self.changed or self.out_of_order or self.phantom
        )

    def note(self, text: str) -> None:
        if len(self.examples) < _EXAMPLES:
            self.examples.append(text)


Pair = tuple[bytes | None, bytes | None]
_NOBODY = -1


class _Places:
    """Which send was acked at which place, and which places were read; 9 bytes an offset."""

    def __init__(self, history: Outcomes) -> None:
        self._numbers: dict[int, array[int]] = {}
        for ack in history.acks():
            numbers = self._numbers.setdefault(ack.partition, array("q"))
            if ack.offset >= len(numbers):
                numbers.extend([_NOBODY] * (ack.offset + 1 - len(numbers)))
            numbers[ack.offset] = ack.number
        self._read = {partition: bytearray(len(n)) for partition, n in self._numbers.items()}

    def number_at(self, partition: int, offset: int) -> int:
        """The send that was acked there, or _NOBODY."""
        numbers = self._numbers.get(partition)
        return numbers[offset] if numbers is not None and offset < len(numbers) else _NOBODY

    def mark_read(self, partition: int, offset: int) -> bool:
        """False if the place had been read before."""
        read = self._read[partition]
        fresh = not read[offset]
        read[offset] = 1
        return fresh

    def unread(self) -> Iterator[tuple[int, int, int]]:
        """(number, partition, offset) of every ack that was not read."""
        for partition, numbers in sorted(self._numbers.items()):
            read = self._read[partition]
            for offset, number in enumerate(numbers):
                if number != _NOBODY and not read[offset]:
                    yield number, partition, offset


def check_readback(
    history: Outcomes,
    sent: Callable[[int], Pair],
    read: Iterable[ReadRecord],
) -> Verdict:
    """Compare; ``sent(number)`` gives back the key and value of a send."""
    verdict = Verdict(sent=len(history), acked=history.acked)
    places = _Places(history)
    unexplained: Counter[Pair] = Counter()
    last_number: dict[bytes | None, int] = {}
    for record in read:
        verdict.read += 1
        number = places.number_at(record.partition, record.offset)
        if number == _NOBODY:
            unexplained[record.key, record.value] += 1
        elif places.mark_read(record.partition, record.offset):
            _check_content(verdict, record, sent(number), number)
            _check_order(verdict, record, number, last_number)
        else:
            verdict.duplicated += 1
            verdict.note(f"read twice: {_at(record)}")
    _count_lost(verdict, places)
    _explain(verdict, history, sent, unexplained)
    return verdict


def _check_content(verdict: Verdict, record: ReadRecord, pair: Pair, number: int) -> None:
    if (record.key, record.value) != pair:
        verdict.changed += 1
        verdict.note(f"send {number} was acked at {_at(record)}, which holds something else")


def _check_order(
    verdict: Verdict, record: ReadRecord, number: int, last_number: dict[bytes | None, int]
) -> None:
    before = last_number.get(record.key, -1)
    if number < before:
        verdict.out_of_order += 1
        verdict.note(f"send {number} is read after send {before} of the same key: {_at(record)}")
    last_number[record.key] = max(number, before)


def _count_lost(verdict: Verdict, places: _Places) -> None:
    for number, partition, offset in places.unread():
        verdict.lost += 1
        verdict.note(f"send {number} was acked at {partition}@{offset} and is gone")


def _explain(
    verdict: Verdict,
    history: Outcomes,
    sent: Callable[[int], Pair],
    unexplained: Counter[Pair],
) -> None:
    """What was read without an ack is a send of unknown outcome, a duplicate, or a phantom."""
    known: set[Pair] = set()
    for number in range(len(history)):
        outcome = history.outcome(number)
        if outcome is Outcome.UNKNOWN:
            verdict.unknown += 1
            unexplained[sent(number)] -= 1
            known.add(sent(number))
        elif outcome is Outcome.ACKED and unexplained:
            known.add(sent(number))
    for pair, count in unexplained.items():
        if count > 0 and pair in known:
            verdict.duplicated += count
            verdict.note(f"{count} more than were sent of key {pair[0]!r}")
        elif count > 0:
            verdict.phantom += count
            verdict.note(f"{count} records of key {pair[0]!r} that nobody sent")


def _at(record: ReadRecord) -> str:
    return f"{record.partition}@{record.offset}"
