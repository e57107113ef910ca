"""What members of groups took and committed, against each other and against the log of commits.

check_commits is the specification of "no lost or doubled commit". A member that is assigned a
partition begins at an offset that is not below any commit that had been answered before it was
assigned: what is lost, or taken back, would be taken twice. Within one assignment it takes each
offset once, in order. No commit that is asked for is below one that had been answered before. At
the end the group's offset is the last one that was answered, or a later one that was asked for.
And the log of commits never goes back, whoever wrote it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from logquake.chaos.history.rows import Kind, Row

_EXAMPLES = 5


class Place(NamedTuple):
    """A partition of a topic that a group consumes."""

    group: str
    topic: str
    partition: int

    @classmethod
    def of(cls, group: str, subject: str) -> Place:
        """Of a row's subject: ``orders-3``."""
        topic, _, partition = subject.rpartition("-")
        return cls(group, topic, int(partition))


class Assigned(NamedTuple):
    """When a member was told; it may not have taken anything yet."""

    place: Place
    at_us: int


class Taken(NamedTuple):
    """A record that a member took."""

    place: Place
    offset: int


class Commit(NamedTuple):
    """``answered_us`` is None where no answer came, or an error that leaves open what happened."""

    place: Place
    offset: int
    asked_us: int
    answered_us: int | None


Step = Assigned | Taken | Commit


class Diary:
    """What one member did, in its order."""

    def __init__(self, member: str) -> None:
        self.member = member
        self.steps: list[Step] = []

    def taken(self) -> Iterable[Taken]:
        return (step for step in self.steps if isinstance(step, Taken))

    def commits(self) -> Iterable[Commit]:
        return (step for step in self.steps if isinstance(step, Commit))


def diaries_of(rows: Iterable[Row]) -> list[Diary]:
    """Of every process that acted in a group's name."""
    diaries: dict[str, Diary] = {}
    kept: dict[tuple[str, int], int] = {}  # what was asked for or begun, and when it was kept
    rows = [row for row in rows if row.group is not None or row.what == Kind.TRANSACTION_ENDED]
    for row in rows:
        if row.after in ("kept", "committed") and row.caused_by is not None:
            kept[row.process, row.caused_by] = row.at_us
    for row in rows:
        if row.group is not None:
            diary = diaries.setdefault(row.process, Diary(row.process))
            diary.steps += _steps(row, Place.of(row.group, row.subject), kept)
    return list(diaries.values())


def _steps(row: Row, place: Place, kept: Mapping[tuple[str, int], int]) -> Iterator[Step]:
    offset = row.offset or 0
    match row.what:
        case Kind.ASSIGNED:
            yield Assigned(place, row.at_us)
        case Kind.POLLED:
            yield from (Taken(place, offset + at) for at in range(len(row.values or ())))
        case Kind.COMMIT_ASKED:
            # In a transaction it is kept with the transaction.
            cause = row.sequence if row.caused_by is None else row.caused_by
            yield Commit(place, offset, row.at_us, kept.get((row.process, cause)))


@dataclass(slots=True)
class Verdict:
    """Counts, and the first few cases in words."""

    assignments: int = 0
    taken: int = 0
    answered: int = 0
    unanswered: int = 0
    lost: int = 0  # assignments that began below an answered commit
    taken_twice: int = 0  # within one assignment
    went_back: int = 0  # commits, in what members were answered or in the log
    wrong_at_the_end: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not (self.lost or self.taken_twice or self.went_back or self.wrong_at_the_end)

    def note(self, text: str) -> None:
        if len(self.examples) < _EXAMPLES:
            self.examples.append(text)


def check_commits(
    diaries: Iterable[Diary], at_the_end: Mapping[Place, int], log: Iterable[tuple[Place, int]]
) -> Verdict:
    """``at_the_end`` is what groups' coordinators say, ``log`` what their topic holds in order."""
    diaries = list(diaries)
    verdict = Verdict()
    answered = _answered(diaries, verdict)
    for diary in diaries:
        _check_diary(verdict, diary, answered)
    _check_end(verdict, diaries, answered, at_the_end)
    _check_log(verdict, log)
    return verdict


_Answered = Mapping[Place, list[Commit]]  # in the order of the answers


def _answered(diaries: list[Diary], verdict: Verdict) -> _Answered:
    found: dict[Place, list[Commit]] = defaultdict(list)
    for diary in diaries:
        for commit in diary.commits():
            if commit.answered_us is None:
                verdict.unanswered += 1
            else:
                verdict.answered += 1
                found[commit.place].append(commit)
    for commits in found.values():
        commits.sort(key=lambda commit: commit.answered_us or 0)
        _check_order(verdict, commits)
    return found


def _check_order(verdict: Verdict, answered: list[Commit]) -> None:
    earlier = iter(answered)
    before = next(earlier)
    highest = -1
    for commit in sorted(answered, key=lambda commit: commit.asked_us):
        while (before.answered_us or 0) < commit.asked_us:
            highest = max(highest, before.offset)
            before = next(earlier)
        if commit.offset < highest:
            verdict.went_back += 1
            verdict.note(f"{commit} was taken after {highest} had been answered")


def _check_diary(verdict: Verdict, diary: Diary, answered: _Answered) -> None:
    assigned_us: dict[Place, int] = {}  # and nothing taken since
    latest: dict[Place, int] = {}
    for step in diary.steps:
        place = step.place
        match step:
            case Assigned(at_us=at_us):
                verdict.assignments += 1
                assigned_us[place] = at_us
            case Taken(offset=offset):
                verdict.taken += 1
                if place in assigned_us:
                    _check_begin(verdict, diary, step, assigned_us.pop(place), answered)
                elif offset <= latest.get(place, -1):
                    verdict.taken_twice += 1
                    verdict.note(f"{diary.member} takes {step} after {latest[place]}")
                latest[place] = offset


def _check_begin(
    verdict: Verdict, diary: Diary, first: Taken, assigned_us: int, answered: _Answered
) -> None:
    for commit in answered.get(first.place, ()):
        if commit.answered_us is None or commit.answered_us >= assigned_us:
            return
        if commit.offset > first.offset:
            verdict.lost += 1
            verdict.note(f"{diary.member} begins with {first}, below {commit.offset} that was kept")
            return


def _check_end(
    verdict: Verdict, diaries: list[Diary], answered: _Answered, at_the_end: Mapping[Place, int]
) -> None:
    asked: dict[Place, set[int]] = defaultdict(set)
    for diary in diaries:
        for commit in diary.commits():
            asked[commit.place].add(commit.offset)
    for place, offsets in asked.items():
        least = max((commit.offset for commit in answered.get(place, ())), default=-1)
        found = at_the_end.get(place, -1)
        if found < least or (found >= 0 and found not in offsets):
            verdict.wrong_at_the_end += 1
            verdict.note(f"{place} is at {found}, though {least} was answered")


def _check_log(verdict: Verdict, log: Iterable[tuple[Place, int]]) -> None:
    latest: dict[Place, int] = {}
    for place, offset in log:
        if offset < latest.get(place, -1):
            verdict.went_back += 1
            verdict.note(f"{place}: the log has {offset} after {latest[place]}")
        latest[place] = offset
