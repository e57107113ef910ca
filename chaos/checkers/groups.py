"""What coordinators of groups promise: one owner, and commits that stay."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from logquake.chaos.checkers.case import Case
from logquake.chaos.checkers.progress import Generations, Progress
from logquake.chaos.checkers.sentences import clock
from logquake.chaos.checkers.verdicts import Violation
from logquake.chaos.evidence.clients import Commit
from logquake.chaos.history.rows import Row
from logquake.wire.java_text import string_hash

_OFFSETS = "__consumer_offsets"
_NEVER = 1 << 62

Place = tuple[str, str]  # group, partition


def groups(case: Case) -> Iterator[Violation]:
    """One owner of a partition in a generation, where a static member that takes the place of
    another life of it is no second one; a stale generation's commit is refused; an acked
    commit survives its coordinator; a committed offset is at or below the high watermark.
    """
    commits: dict[Place, list[Commit]] = defaultdict(list)
    for commit in case.clients.commits:
        commits[commit.group, commit.partition].append(commit)
    assigned: dict[Place, list[Row]] = defaultdict(list)
    for row in sorted(case.clients.assignments, key=lambda row: row[:3]):
        if row.group is not None:
            assigned[row.group, row.subject].append(row)
    yield from _owners(case, assigned)
    yield from _stale(case, commits, assigned)
    yield from _taken_up(case, commits)
    yield from _beyond(case, commits)


def _owners(case: Case, assigned: Mapping[Place, Sequence[Row]]) -> Iterator[Violation]:
    for (group, partition), rows in assigned.items():
        owners: dict[int, Row] = {}
        for row in rows:
            if row.epoch is None:
                continue
            owner = owners.setdefault(row.epoch, row)
            if _member(case, owner.process) != _member(case, row.process):
                text = (
                    f"{owner.process} and {row.process} own {partition} in generation {row.epoch} "
                    f"of group {group}, since {clock(owner.at_us)} and {clock(row.at_us)}"
                )
                yield case.violation("groups", text, _coordinated_in(case, group), owner.at_us)


def _member(case: Case, process: str) -> str:
    """Of all lives of a static member the same (KIP-345)."""
    return str(case.clients.told.get(process, {}).get("instance_id") or process)


def _taken_over(case: Case, commit: Commit, assigned: Sequence[Row]) -> Row | None:
    """By a later life of the same static member, within the generation: the first is fenced."""
    member = _member(case, commit.process)
    lives = [
        row
        for row in assigned
        if row.at_us < commit.asked_us
        and row.epoch == commit.generation
        and _member(case, row.process) == member
    ]
    return lives[-1] if lives and lives[-1].process != commit.process else None


def _stale(
    case: Case, commits: Mapping[Place, list[Commit]], assigned: Mapping[Place, Sequence[Row]]
) -> Iterator[Violation]:
    """Who holds a partition that another was assigned in a later generation is no member of that.

    Before it asked, it had given the partition back, if it were.
    """
    given_back_us: dict[tuple[object, ...], int] = {}
    for gone in case.clients.revoked:
        given_back_us.setdefault((gone.process, gone.group, gone.subject, gone.epoch), gone.at_us)
    for place, of_place in commits.items():
        generations = Generations(assigned.get(place, ()))
        for commit in of_place:
            if commit.result != "kept" or commit.generation is None:
                continue
            holding = (commit.process, *place, commit.generation)
            if given_back_us.get(holding, _NEVER) <= commit.asked_us:
                continue
            row = generations.later(commit.process, commit.generation, commit.asked_us)
            if row is None and _member(case, commit.process) != commit.process:
                row = _taken_over(case, commit, assigned.get(place, ()))
            if row is not None:
                text = (
                    f"{commit.process} committed {commit.offset} of {commit.partition} in "
                    f"generation {commit.generation} of group {commit.group}, and it was kept; "
                    f"{row.process} owned it in generation {row.epoch} since {clock(row.at_us)}"
                )
                where = _coordinated_in(case, commit.group)
                yield case.violation("groups", text, where, row.at_us)


def _taken_up(case: Case, commits: Mapping[Place, list[Commit]]) -> Iterator[Violation]:
    """A member begins no lower than the last commit that was kept before it was assigned.

    Nor than one whose answer was not known by then, where that is lower: it may have come last. And
    nothing lies between the highest that anybody had asked to commit and where it begins. Where it
    begins, its first record tells, unless it was told before. Of a log that lost what was committed
    nobody can say where to begin.
    """
    begins, lost = _first_reads(case), _truncated(case)
    progress = {place: Progress(of_place) for place, of_place in commits.items()}
    for index, row in enumerate(case.clients.assignments):
        made = progress.get((row.group or "", row.subject))
        begin = begins.get(index) if row.offset is None else row.offset
        if made is None or begin is None or begin < 0 or row.subject in lost:
            continue
        last = made.last_kept(row.at_us)
        if last is None:
            continue
        most = made.most_asked(row.at_us)
        if begin < made.least_since(last, row.at_us) or _lies_between(case, row, most, begin):
            text = (
                f"{row.process} was assigned {row.subject} of group {row.group}, and began at "
                f"{begin}; {last.process} had committed {last.offset}, which was kept at "
                f"{clock(last.answered_us or 0)}"
            )
            where = _coordinated_in(case, row.group or "")
            yield case.violation("groups", text, where, last.asked_us)


def _lies_between(case: Case, assigned: Row, first: int, begin: int) -> bool:
    """Whether a member that begins there passes over a record that it would be handed."""
    log = case.reference(assigned.subject)
    if log is None or begin <= first:
        return False
    isolation = case.clients.told.get(assigned.process, {}).get("isolation")
    visible = log.committed_offsets if isolation == "read_committed" else log.offsets
    first = max(first, log.start)
    return bool(np.searchsorted(visible, begin) > np.searchsorted(visible, first))


def _first_reads(case: Case) -> dict[int, int]:
    """The offset of the first record of each assignment, by its index."""
    read = case.clients.polls
    assignments, first = np.unique(read.assignment, return_index=True)
    return dict(zip(assignments.tolist(), read.offset[first].tolist(), strict=True))


def _coordinated_in(case: Case, group: str) -> str:
    """The partition that keeps what the group commits (GroupMetadataManager.partitionFor)."""
    count = sum(name.rpartition("-")[0] == _OFFSETS for name in case.all_states)
    return f"{_OFFSETS}-{abs(string_hash(group)) % max(count, 1)}"


def _truncated(case: Case) -> frozenset[str]:
    return frozenset(row.subject for row in case.journals if row.what == "committed-truncated")


def _beyond(case: Case, commits: Mapping[Place, list[Commit]]) -> Iterator[Violation]:
    for (group, partition), of_place in commits.items():
        log = case.reference(partition)
        highest = max((c.offset for c in of_place if c.result == "kept"), default=0)
        if log is not None and highest > log.end:
            text = f"group {group} committed {highest} of {partition}, which ends at {log.end}"
            yield case.violation("groups", text, partition)
