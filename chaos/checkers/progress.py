"""Of one partition in one group: who held it when, and what was committed; asked by moments.

A group commits some thousand times an hour, and is assigned some hundred times: each question is
answered without a look at all of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate

from logquake.chaos.evidence.clients import Commit
from logquake.chaos.history.rows import Row

_NOBODY = -1, ""  # generation, process

Owner = tuple[int, str]


class Generations:
    """``assigned`` by time."""

    def __init__(self, assigned: Sequence[Row]) -> None:
        self._assigned = assigned
        self._times = [row.at_us for row in assigned]
        self._highest = list(accumulate(assigned, _higher, initial=(_NOBODY, _NOBODY)))

    def later(self, process: str, generation: int, before_us: int) -> Row | None:
        """The first that another was assigned before that moment in a later generation."""
        count = bisect_left(self._times, before_us)
        highest, of_another = self._highest[count]
        if (of_another if highest[1] == process else highest)[0] <= generation:
            return None
        return next(
            row
            for row in self._assigned
            if row.process != process and row.epoch is not None and row.epoch > generation
        )


def _higher(known: tuple[Owner, Owner], row: Row) -> tuple[Owner, Owner]:
    """The highest generation's owner, and the highest of any other process."""
    highest, of_another = known
    one = (_NOBODY[0] if row.epoch is None else row.epoch, row.process)
    if row.process == highest[1]:
        return max(highest, one), of_another
    if one[0] > highest[0]:
        return one, highest
    return highest, max(of_another, one, key=lambda owner: owner[0])


class Progress:
    """Of commits, in any order."""

    def __init__(self, commits: Iterable[Commit]) -> None:
        asked = sorted(commits, key=lambda commit: (commit.asked_us, commit.process))
        self._all_us = [each.asked_us for each in asked]
        self._most = list(accumulate((each.offset for each in asked), max))
        self._kept = [each for each in asked if each.result == "kept"]
        self._asked_us = [each.asked_us for each in self._kept]
        # Up to each, when the last answer came: answers overtake each other.
        self._answered_us = list(accumulate(map(_answered, self._kept), max))
        self._by_answer = sorted(self._kept, key=_answered)
        self._answers_us = [_answered(each) for each in self._by_answer]
        unknown = [each for each in asked if each.result == "unknown"]
        self._unknown_us = [each.asked_us for each in unknown]
        self._least_unknown = list(accumulate((each.offset for each in unknown), min))

    def last_kept(self, before_us: int) -> Commit | None:
        """Whose answer came last before that moment."""
        count = bisect_left(self._answers_us, before_us)
        return self._by_answer[count - 1] if count else None

    def most_asked(self, before_us: int) -> int:
        """The highest offset that was asked for by then; 0 without one.

        Of what was refused too: a client asks again by itself, and what it is told is the last
        answer. The first may have been lost, and what it asked kept.
        """
        count = bisect_left(self._all_us, before_us)
        return self._most[count - 1] if count else 0

    def least_since(self, last: Commit, before_us: int) -> int:
        """The lowest offset that may have been committed last by then: of ``last``, of what was
        on its way beside it or later, of what was never answered.
        """
        least = last.offset
        for at in reversed(range(bisect_left(self._asked_us, before_us))):
            if self._answered_us[at] <= last.asked_us:
                break
            if _answered(self._kept[at]) > last.asked_us:
                least = min(least, self._kept[at].offset)
        unknown = bisect_left(self._unknown_us, before_us)
        return min(least, self._least_unknown[unknown - 1]) if unknown else least


def _answered(commit: Commit) -> int:
    return commit.answered_us or 0
