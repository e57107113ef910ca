"""Appends rows: many records at once, which the caller encodes.

The rules are those of records: partitions, the size of batches, waiting and refusals
(`Appending`). But rows bypass serializers, interceptors and a partitioner of the program, which
look at single records; and of two rows for one partition, one by its key and one because any
partition would do, the later may be written first.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from logquake.client.clock import Clock
from logquake.client.driving.steps import Call, Steps
from logquake.client.producer.appended import RUNS
from logquake.client.producer.appending.admitting import Admitting
from logquake.client.producer.appending.topic_waits import TopicWaits
from logquake.client.producer.runs import OnFailure, Rows, Run
from logquake.client.settings.producer import ProducerConfig


class AppendingRows:
    def __init__(
        self, config: ProducerConfig, clock: Clock, topics: TopicWaits, admitting: Admitting
    ) -> None:
        self._config = config
        self._clock = clock
        self._topics = topics
        self._admitting = admitting

    def in_time(self, topic: str, rows: Rows, on_failure: OnFailure) -> Steps[None]:
        """Append each batch within max.block.ms; otherwise its rows have failed, as ``on_failure``
        is told.

        Batches appended before that are sent. Raises ClosedError, TransactionError, and ValueError
        if the program configured something that must see each record, such as an interceptor.
        """
        self._check_nobody_wants_records()
        refusal = yield from self._admitting.or_refusal(
            self._wait_and_append(topic, rows, on_failure)
        )
        if refusal is not None:
            yield Call(partial(on_failure, refusal))

    def _check_nobody_wants_records(self) -> None:
        config = self._config
        if config.interceptor_classes or config.key_serializer or config.value_serializer:
            raise ValueError("rows go past interceptors and serializers: send() takes records")
        if config.partitioner_class is not None:
            raise ValueError("rows go past a partitioner of the program's: send() takes records")

    def _wait_and_append(self, topic: str, rows: Rows, on_failure: OnFailure) -> Steps[None]:
        admitting = self._admitting
        admitting.check_may_append()
        known = yield from self._topics.wait(
            topic, rows.largest_partition, self._clock.now_ms(), admitting.deadline_ms()
        )
        admitting.check_size(rows.largest_bytes)
        count = None if self._config.partitioner_ignore_keys else len(known.all)
        # Without holding the core: this takes as long as everything else here.
        runs: Sequence[tuple[int | None, Run]] = yield Call(
            partial(rows.by_partition, count, self._clock.wall_ms())
        )
        for partition, run in runs:
            while run.left:
                appended = yield from admitting.append_in_time(
                    RUNS, topic, partition, run, admitting.deadline_ms()
                )
                appended.delivery.when_failed(on_failure)
