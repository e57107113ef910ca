"""Rows of one task written once, in whatever attempt: with their mark, in one transaction.

In this order: take the transactional id, look for the mark, write the rows, write the mark, commit.
Taking the id aborts what an attempt before left open, waits for the end of what it had decided, and
fences it: what is not marked then will never be.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from logquake.client.commits import commits_of
from logquake.client.groups import Groups
from logquake.client.producer.transactional import TransactionalProducer
from logquake.client.routing import Router
from logquake.pipeline.marks import (
    Mark,
    Row,
    Tally,
    Task,
    check_partitions,
    check_same,
    from_commits,
    is_written,
    others_of,
    to_commit,
)
from logquake.pipeline.write_options import WriteOptions
from logquake.pipeline.writing import Writing, rows_of
from logquake.wire.topic_partition import TopicPartition

if TYPE_CHECKING:
    import pyarrow as pa


def write_once(
    router: Router, options: WriteOptions, task: Task, batches: Iterable[pa.RecordBatch]
) -> int:
    """How many rows were written now. Raises ExactlyOnceError, ClientError, OptionError."""
    tally = Tally()
    rows = tally.over(rows_of(batches))
    producer = take_id(router, options, task)
    mark = read_mark(router, task)
    if mark is not None and is_written(mark, task):
        for _ in rows:
            pass
        check_same(task, mark.summary, tally.summary)
        return 0
    with producer.transaction():
        topics = write_rows(router, options, producer, rows)
        if topics:
            # Last: only now it is known of how many rows, and readers of the mark wait least.
            write_mark(producer, task, options.topic or min(topics), tally)
    return tally.summary.rows


def take_id(router: Router, options: WriteOptions, task: Task) -> TransactionalProducer:
    return TransactionalProducer(
        router,
        task.name,
        timeout_ms=options.transaction_timeout_ms,
        settings=options.producer,
    )


def read_mark(router: Router, task: Task) -> Mark | None:
    commits = commits_of(router, task.name, require_stable=True)
    return from_commits(task, commits.values())


def write_rows(
    router: Router, options: WriteOptions, producer: TransactionalProducer, rows: Iterable[Row]
) -> set[str]:
    """The topics that they went to."""
    writing = Writing(router, options, producer.send)
    writing.add(rows)
    writing.flush()
    return writing.topics


def write_mark(producer: TransactionalProducer, task: Task, topic: str, tally: Tally) -> None:
    # Kafka takes offsets of partitions that there are, and each topic has this one.
    place = TopicPartition(topic, 0)
    producer.send_offsets(task.name, {place: to_commit(Mark(task.epoch, tally.summary))})


def check_epoch(router: Router, tasks: Collection[Task]) -> None:
    """Of all tasks of an epoch (one at least) that are through: that there were no more before.

    Raises ExactlyOnceError, ClientError.
    """
    prefix, epoch, _ = next(iter(tasks))
    groups = [listing.group_id for listing in Groups(router).list_all()]
    for partition in others_of(prefix, len(tasks), groups):
        other = Task(prefix, epoch, partition)
        check_partitions(other, len(tasks), read_mark(router, other))
