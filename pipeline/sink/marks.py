"""What says that a task's rows are written: a mark, committed in one transaction with them.

A mark tells the epoch and sums up the rows. It is a committed offset, of a group that has the name
of the task's transactional id: so it lives in Kafka's compacted topic of offsets, is found by one
question, and expires as offsets do. Epochs follow each other, so the last mark of a task is enough.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from logquake.client.consumer.offsets import OffsetAndMetadata


class ExactlyOnceError(Exception):
    """What is written cannot be told from what is to be written: the query has to stop."""


class Task(NamedTuple):
    """One partition of one epoch, in whichever attempt."""

    prefix: str  # of the query, or of the one batch that is written
    epoch: int
    partition: int

    @property
    def name(self) -> str:
        """Its transactional id, and its mark's group: of every epoch, so that each fences those
        before.
        """
        return f"{self.prefix}-{self.partition}"


@dataclass(frozen=True, slots=True)
class Summary:
    """Rows in whatever order: Spark's shuffles keep none. ``checksum`` is of keys and values."""

    rows: int = 0
    checksum: int = 0


@dataclass(frozen=True, slots=True)
class Mark:
    epoch: int
    summary: Summary


def to_commit(mark: Mark) -> OffsetAndMetadata:
    told = f"rows={mark.summary.rows} checksum={mark.summary.checksum:016x}"
    return OffsetAndMetadata(mark.epoch, metadata=told)


def from_commits(task: Task, commits: Iterable[OffsetAndMetadata]) -> Mark | None:
    """The last: under several topics where a task's rows went to others before.

    Raises ExactlyOnceError for what was committed by somebody else.
    """
    last = max(commits, key=lambda commit: commit.offset, default=None)
    if last is None:
        return None
    try:
        rows, checksum = (part.split("=")[1] for part in last.metadata.split(" "))
        return Mark(last.offset, Summary(int(rows), int(checksum, 16)))
    except (IndexError, ValueError) as error:
        raise ExactlyOnceError(
            f"group {task.name} has an offset that is no mark: {last.metadata!r}"
        ) from error


def is_written(mark: Mark | None, task: Task) -> bool:
    """Whether this epoch's rows of the task are. Raises ExactlyOnceError where later ones are."""
    if mark is not None and mark.epoch > task.epoch:
        raise ExactlyOnceError(
            f"{task.name}: epoch {task.epoch} is to be written after epoch {mark.epoch} was: "
            "another driver runs the query, or its checkpoint was put back"
        )
    return mark is not None and mark.epoch == task.epoch


def check_same(task: Task, written: Summary, again: Summary) -> None:
    """Raises ExactlyOnceError for rows that differ from those that are written."""
    if again != written:
        raise ExactlyOnceError(
            f"{task.name}: epoch {task.epoch} has {written.rows} rows written, and "
            f"{again.rows}{' other' if again.rows == written.rows else ''} now that it runs again: "
            "the query has to give each partition the same rows each time"
        )


def others_of(prefix: str, partitions: int, groups: Iterable[str]) -> list[int]:
    """The partitions, beyond so many, of which one of the groups may be the mark's."""
    found = (group.removeprefix(f"{prefix}-") for group in groups if group.startswith(f"{prefix}-"))
    return sorted(int(rest) for rest in found if rest.isdecimal() and int(rest) >= partitions)


def check_partitions(task: Task, partitions: int, mark: Mark | None) -> None:
    """Raises ExactlyOnceError where a task beyond the epoch's partitions has rows in it."""
    if mark is not None and mark.epoch == task.epoch:
        raise ExactlyOnceError(
            f"epoch {task.epoch} had more partitions before than the {partitions} it has now that "
            f"it runs again: the {mark.summary.rows} rows of {task.name} are written twice"
        )
