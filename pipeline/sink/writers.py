"""The classes that Spark writes through: write and writeStream.format("logquake")."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from logquake.pipeline.asking import administering, producing
from logquake.pipeline.options.values import OptionError
from logquake.pipeline.sink.exactly_once import check_epoch, write_once
from logquake.pipeline.sink.marks import Task
from logquake.pipeline.sink.options import WriteOptions
from logquake.pipeline.sink.writing import write_at_least_once

if TYPE_CHECKING:
    import pyarrow as pa

_QUERY = "sql.streaming.queryId"  # StreamExecution.QUERY_ID_KEY
_EPOCH = "streaming.sql.batchId"  # MicroBatchExecution.BATCH_ID_KEY
_ONLY_EPOCH = 0  # of a batch that is no stream's


@dataclass
class Written(WriterCommitMessage):
    """``task`` where it was exactly once."""

    task: Task | None = None


class _Writer(ABC):
    """What batches and streams have in common."""

    def __init__(self, options: WriteOptions) -> None:
        self._options = options

    @abstractmethod
    def prefix(self, query: str | None) -> str:
        """Of transactional ids: what it is known by when it is run again, for a streaming query or
        amid one. Raises OptionError.
        """

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """Raises ExactlyOnceError, BrokersError, OptionError."""
        options, topic = self._options, self._options.topic
        if not options.is_exactly_once:
            with producing(options.producer, "writing") as producer:
                write_at_least_once(producer, iterator, topic)
            return Written()
        task = self._task()
        keys = {**options.producer, "transactional.id": task.name}
        with (
            administering(options.admin, "looking for marks") as admin,
            producing(keys, "writing") as producer,
        ):
            write_once(producer, admin, task, iterator, topic)
        return Written(task)

    def _task(self) -> Task:
        """This one, on an executor."""
        context = TaskContext.get()
        if context is None:
            raise RuntimeError("rows are written by Spark's tasks alone")
        epoch = context.getLocalProperty(_EPOCH)
        return Task(
            self.prefix(context.getLocalProperty(_QUERY)),
            _ONLY_EPOCH if epoch is None else int(epoch),
            context.partitionId(),
        )

    def _check(self, messages: list[WriterCommitMessage | None]) -> None:
        tasks = [each.task for each in messages if isinstance(each, Written) and each.task]
        if tasks:
            with administering(self._options.admin, "looking for marks") as admin:
                check_epoch(admin, tasks)


class LogquakeWriter(_Writer, DataSourceArrowWriter):
    def __init__(self, options: WriteOptions) -> None:
        super().__init__(options)
        # On the driver, once: all attempts of all tasks have the same.
        self._of_this_run = f"logquake-{uuid4()}"

    def prefix(self, query: str | None) -> str:
        """Another run of the query's batch would not know this one by a name of its own."""
        if self._options.prefix is None and query is not None:
            raise OptionError(
                "exactly-once in foreachBatch takes an option transactionalIdPrefix, another one "
                "for each place that a batch is written at"
            )
        return self._options.prefix or self._of_this_run

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """What tasks have written stands at once. Raises ExactlyOnceError, BrokersError."""
        self._check(messages)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """What the tasks that went through have written stands."""


class LogquakeStreamWriter(_Writer, DataSourceStreamArrowWriter):
    def prefix(self, query: str | None) -> str:
        return self._options.prefix or f"logquake-{query}"

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: ARG002, N803
        """What tasks have written stands at once. Raises ExactlyOnceError, BrokersError."""
        self._check(messages)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        """What the tasks that went through have written stands; the epoch is run again."""
