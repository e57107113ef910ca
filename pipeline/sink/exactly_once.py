"""Rows of one task written once, in whatever attempt: with their mark, in one transaction.

In this order: take the transactional id, look for the mark, write the rows, look once more where
the mark is to be, write it there, commit. Taking the id aborts what an attempt before left open,
waits for the end of what it had decided, and fences it: what is not marked then will never be.

It takes two looks, for brokers up to Kafka 3.9 (GroupMetadataManager) answer that a transaction has
ended before they take over what it committed. Until then they say of a partition that is asked
about that it may change, but pass over one that never had a commit where all of a group's are asked
about; and which partition a mark lies under, only the rows tell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from logquake.client.consumer.offsets import ConsumerGroupMetadata
from logquake.pipeline.sink.deliveries import Deliveries
from logquake.pipeline.sink.marks import (
    Mark,
    Task,
    check_partitions,
    check_same,
    from_commits,
    is_written,
    others_of,
    to_commit,
)
from logquake.pipeline.sink.tally import Tally
from logquake.pipeline.sink.task_clients import ReadingMarks, Sending
from logquake.pipeline.sink.writing import send_batches
from logquake.wire.topic_partition import TopicPartition

if TYPE_CHECKING:
    import pyarrow as pa


def write_once(
    producer: Sending,
    marks: ReadingMarks,
    task: Task,
    batches: Iterable[pa.RecordBatch],
    topic: str | None,
) -> int:
    """How many rows were written now; ``topic`` goes before their own. The producer's
    transactional id is the task's name.

    Raises ExactlyOnceError, ClientError, OptionError.
    """
    tally = Tally()
    tallied = tally.over(batches)
    producer.init_transactions()
    try:
        _check_unwritten(marks, task)
        with producer.transaction():
            deliveries = Deliveries()
            topics = send_batches(producer, tallied, topic, deliveries)
            deliveries.check()
            if topics:
                _check_unwritten(marks, task, topics)
                # Last: only now it is known of how many rows, and readers of the mark wait least.
                write_mark(producer, task, topic or min(topics), tally)
    except _WrittenBefore as before:
        for _ in tallied:
            pass
        check_same(task, before.mark.summary, tally.summary)
        return 0
    return tally.summary.rows


class _WrittenBefore(Exception):  # noqa: N818  # no error
    def __init__(self, mark: Mark) -> None:
        super().__init__()
        self.mark = mark


def _check_unwritten(
    marks: ReadingMarks, task: Task, topics: Collection[str] | None = None
) -> None:
    """Raises _WrittenBefore, ExactlyOnceError, ClientError."""
    mark = read_mark(marks, task, topics)
    if mark is not None and is_written(mark, task):
        raise _WrittenBefore(mark)


def read_mark(
    marks: ReadingMarks, task: Task, topics: Collection[str] | None = None
) -> Mark | None:
    """With ``topics`` where it lies if they are the rows' own, once nothing can change it.

    Raises ExactlyOnceError, ClientError.
    """
    places = None if topics is None else [_place(topic) for topic in sorted(topics)]
    return _read_marks(marks, {task: places})[task]


def _read_marks(
    marks: ReadingMarks, wanted: Mapping[Task, Collection[TopicPartition] | None]
) -> dict[Task, Mark | None]:
    """With None of all that the task's group has committed."""
    asked = marks.list_consumer_group_offsets(
        {task.name: places for task, places in wanted.items()}, require_stable=True
    )
    return {
        task: from_commits(task, filter(None, asked[task.name].result().values()))
        for task in wanted
    }


def write_mark(producer: Sending, task: Task, topic: str, tally: Tally) -> None:
    mark = to_commit(Mark(task.epoch, tally.summary))
    producer.send_offsets_to_transaction({_place(topic): mark}, ConsumerGroupMetadata(task.name))


def _place(topic: str) -> TopicPartition:
    """Kafka takes offsets of partitions that there are, and each topic has this one."""
    return TopicPartition(topic, 0)


def check_epoch(marks: ReadingMarks, tasks: Collection[Task]) -> None:
    """Of all tasks of an epoch (one at least) that are through: that there were no more before.

    Raises ExactlyOnceError, ClientError.
    """
    prefix, epoch, _ = next(iter(tasks))
    groups = [listing.group_id for listing in marks.list_consumer_groups().result().all()]
    others = [Task(prefix, epoch, partition) for partition in others_of(prefix, len(tasks), groups)]
    # In one question: after one epoch of many partitions all later ones ask about their marks.
    for other, mark in _read_marks(marks, dict.fromkeys(others)).items():
        check_partitions(other, len(tasks), mark)
