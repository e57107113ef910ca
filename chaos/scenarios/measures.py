"""What was lost and what is there twice, by the number of the send: what scenarios predict; and
how fast the run broke things.

Invariants say what must never happen; acks=0 and acks=1 promise so little that losing is no
violation. Here every ack counts, whatever it was worth.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from logquake.chaos.history.numbers import number_at, place_of
from logquake.chaos.history.rows import NOT_SENT, Kind, Row
from logquake.chaos.scenarios.memberships import NO_MEMBERSHIPS, Memberships
from logquake.chaos.scenarios.pace import NO_PACE, Pace, paced


@dataclass(frozen=True, slots=True)
class Measures:
    """``lost`` were acked and not read in the end, ``doubled`` were read more than once then.
    ``skipped`` lie where a reader has been, and it was never handed them.
    """

    lost: int
    doubled: int
    first_lost: tuple[int, ...] = ()
    pace: Pace = NO_PACE
    skipped: int = 0
    groups: Memberships = NO_MEMBERSHIPS


NOTHING_MEASURED = Measures(0, 0)

_SHOWN = 10


def measured(rows: Iterable[Row], final_reader: str, compacted: Collection[str] = ()) -> Measures:
    """``final_reader`` is how the names of those begin who read all in the end.

    Left out are sends in transactions, which may be aborted, and topics whose records may go.
    """
    acked, read, in_transactions = Numbers(), Numbers(), Numbers()
    doubled, read_to = 0, dict[str, int]()
    faults: list[Row] = []
    for row in rows:
        if row.what in (Kind.FAULT_BEGUN, Kind.FAULT_ENDED):
            faults.append(row)
        if row.subject.rpartition("-")[0] in compacted:
            continue
        if row.what == Kind.SEND and row.value is not None and row.caused_by is not None:
            in_transactions.add(row.value)
        elif row.what == Kind.ACKED and row.value is not None:
            acked.add(row.value)
        elif row.what == Kind.POLLED and row.process.startswith(final_reader):
            values = first_time(row, read_to)
            doubled += sum(not read.add(value) for value in values if value != NOT_SENT)
    lost = [one for one in acked if one not in read and one not in in_transactions]
    return Measures(len(lost), doubled, tuple(lost[:_SHOWN]), paced(faults))


def first_time(row: Row, read_to: dict[str, int]) -> Sequence[int]:
    """Of what a reader polled, that which it had not polled before: it may have begun again."""
    begin, values = row.offset or 0, row.values or ()
    known = read_to.get(row.subject, 0)
    read_to[row.subject] = max(known, begin + len(values))
    return values[max(0, known - begin) :]


class Numbers:
    """A set of sends' numbers, a byte each: those of a process follow each other."""

    def __init__(self) -> None:
        self._of_process: dict[int, bytearray] = {}

    def add(self, number: int) -> bool:
        """Whether it is new."""
        process, index = place_of(number)
        seen = self._of_process.setdefault(process, bytearray())
        if index >= len(seen):
            seen.extend(bytes(max(index + 1 - len(seen), len(seen))))
        fresh = not seen[index]
        seen[index] = 1
        return fresh

    def __contains__(self, number: int) -> bool:
        process, index = place_of(number)
        seen = self._of_process.get(process, b"")
        return index < len(seen) and bool(seen[index])

    def __iter__(self) -> Iterator[int]:
        for process, seen in sorted(self._of_process.items()):
            for index, is_there in enumerate(seen):
                if is_there:
                    yield number_at(process, index)
