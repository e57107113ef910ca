"""What readers were never handed, though they came past it.

Offsets alone do not show it: after a truncation others stand where a reader has been, and it goes
on behind them as if nothing had happened (KIP-320).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from logquake.chaos.history.rows import NOT_SENT, Kind, Row
from logquake.chaos.scenarios.measures import Numbers, first_time


def skipped(rows: Iterable[Row], final_reader: str) -> int:
    """Of what is there in the end, the records below where a reader without a group had got to, and
    that it was never handed; each reader's. ``final_reader`` is as measured() has it.
    """
    readers: dict[str, _Reader] = defaultdict(_Reader)
    count, read_to = 0, dict[str, int]()
    for row in rows:
        if row.what != Kind.POLLED or row.group is not None:
            continue
        if not row.process.startswith(final_reader):
            readers[row.process].take(row)
            continue
        values = first_time(row, read_to)
        begin = (row.offset or 0) + len(row.values or ()) - len(values)
        count += sum(one.missed(row.subject, begin, values) for one in readers.values())
    return count


class _Reader:
    def __init__(self) -> None:
        self._handed = Numbers()
        self._ends: dict[str, int] = {}  # behind the last offset that it was handed, by partition

    def take(self, row: Row) -> None:
        values = row.values or ()
        end = (row.offset or 0) + len(values)
        self._ends[row.subject] = max(end, self._ends.get(row.subject, 0))
        for value in values:
            if value != NOT_SENT:
                self._handed.add(value)

    def missed(self, partition: str, begin: int, values: Iterable[int]) -> int:
        """How many of the records that are at ``begin`` and the offsets after it."""
        end = self._ends.get(partition, 0)
        return sum(
            offset < end and value != NOT_SENT and value not in self._handed
            for offset, value in enumerate(values, begin)
        )
