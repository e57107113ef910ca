"""What a mark says of a task that runs again: decided from values alone."""

from __future__ import annotations

import pytest

from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.pipeline.sink.marks import (
    ExactlyOnceError,
    Mark,
    Summary,
    Task,
    check_partitions,
    from_commits,
    is_written,
    others_of,
    to_commit,
)

TASK = Task("query", epoch=7, partition=2)
ROWS = Summary(rows=3, checksum=0xAB)


def test_every_epoch_of_a_task_has_one_transactional_id() -> None:
    assert TASK.name == Task("query", 8, 2).name == "query-2"


@pytest.mark.parametrize(
    ("mark", "written"),
    [
        (None, False),  # it died before it committed, or never ran
        (Mark(6, ROWS), False),  # the epoch before
        (Mark(7, ROWS), True),  # it committed, and Spark never heard of it
    ],
)
def test_rows_are_written_unless_the_mark_is_of_their_epoch(
    mark: Mark | None, written: bool
) -> None:
    assert is_written(mark, TASK) is written


def test_an_epoch_of_the_past_is_refused() -> None:
    with pytest.raises(ExactlyOnceError, match="query-2: epoch 7 is to be written after epoch 8"):
        is_written(Mark(8, ROWS), TASK)


def test_a_mark_is_an_offset_and_is_read_back() -> None:
    commit = to_commit(Mark(7, ROWS))
    assert commit == OffsetAndMetadata(7, metadata="rows=3 checksum=00000000000000ab")
    assert from_commits(TASK, [to_commit(Mark(5, Summary())), commit]) == Mark(7, ROWS)
    assert from_commits(TASK, []) is None


@pytest.mark.parametrize("metadata", ["", "rows=3", "rows=3 checksum=xyz", "rows checksum"])
def test_an_offset_of_somebody_else_is_no_mark(metadata: str) -> None:
    with pytest.raises(ExactlyOnceError, match="group query-2 has an offset that is no mark"):
        from_commits(TASK, [OffsetAndMetadata(7, metadata=metadata)])


def test_tasks_beyond_those_of_an_epoch_are_known_by_their_groups() -> None:
    groups = ["query", "query-0", "query-10", "query-3", "query-3-0", "query-x", "other-5"]
    assert others_of("query", 3, groups) == [3, 10]


def test_an_epoch_that_had_more_partitions_is_told_of() -> None:
    check_partitions(TASK, 2, None)
    check_partitions(TASK, 2, Mark(6, ROWS))
    with pytest.raises(ExactlyOnceError, match="epoch 7 had more partitions before than the 2"):
        check_partitions(TASK, 2, Mark(7, ROWS))
