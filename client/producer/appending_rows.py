"""Handing rows over, many records at once that whoever brings them encodes.

All holds of them that holds of records: which partition, how full a batch may be, what waits and
what is refused (`Appending`). But they go past serializers, interceptors and a partitioner of the
program's own, which look at single records; and of two rows to one partition, one by its key say
and the other since any would do, the later may be the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from logquake.client.clock import Clock
from logquake.client.driving.steps import Call, Steps
from logquake.client.errors import ClientError, DeliveryError, TimedOutError
from logquake.client.network.metadata import Metadata
from logquake.client.producer.accumulator import Accumulator
from logquake.client.producer.appended import RUNS, Appended, Full
from logquake.client.producer.appending import OF_THE_CALL, check_size
from logquake.client.producer.leaders import Leaders
from logquake.client.producer.memory import Lease
from logquake.client.producer.memory_waits import MemoryWaits
from logquake.client.producer.runs import OnFailure, Rows, Run, RunDelivery
from logquake.client.producer.topic_waits import TopicWaits
from logquake.client.producer.transactions.steps import TransactionSteps
from logquake.client.settings.producer import ProducerConfig


class AppendingRows:
    def __init__(
        self,
        config: ProducerConfig,
        topics: TopicWaits,
        memory: MemoryWaits,
        transactions: TransactionSteps | None,
        leaders: Callable[[], Leaders],
        accumulator: Accumulator,
        metadata: Metadata,
        clock: Clock,
    ) -> None:
        self._config = config
        self._topics = topics
        self._memory = memory
        self._transactions = transactions
        self._leaders = leaders
        self._accumulator = accumulator
        self._metadata = metadata
        self._clock = clock

    def in_time(self, topic: str, rows: Rows, on_failure: OnFailure) -> Steps[None]:
        """Each batch of them in max.block.ms, else they have failed, as ``on_failure`` is told.

        What was appended before that goes its way. Raises ClosedError, TransactionError, and
        ValueError where something of the program's own wants to see each record.
        """
        self._check_nobody_wants_records()
        try:
            yield from self._wait_and_append(topic, rows, on_failure)
        except OF_THE_CALL:
            raise
        except ClientError as error:
            if self._transactions is not None:
                self._transactions.refused(error)
            yield Call(partial(on_failure, DeliveryError(error, may_be_written=False)))

    def _check_nobody_wants_records(self) -> None:
        config = self._config
        if config.interceptor_classes or config.key_serializer or config.value_serializer:
            raise ValueError("rows go past interceptors and serializers: send() takes records")
        if config.partitioner_class is not None:
            raise ValueError("rows go past a partitioner of the program's: send() takes records")

    def _wait_and_append(self, topic: str, rows: Rows, on_failure: OnFailure) -> Steps[None]:
        known = yield from self._topics.wait(
            topic, rows.largest_partition, self._clock.now_ms(), self._deadline_ms()
        )
        check_size(rows.largest_bytes, self._config)
        count = None if self._config.partitioner_ignore_keys else len(known.all)
        # Others have the core meanwhile: it takes as long as all else that is done here.
        runs: Sequence[tuple[int | None, Run]] = yield Call(
            partial(rows.by_partition, count, self._clock.wall_ms())
        )
        for partition, run in runs:
            append = partial(self._append, topic, partition, run)
            while run.left:
                appended = yield from self._memory.appended(append, self._deadline_ms())
                appended.delivery.when_failed(on_failure)

    def _append(
        self, topic: str, partition: int | None, run: Run, lease: Lease | None
    ) -> Appended[RunDelivery] | Full:
        if self._topics.known(topic, partition) is None:
            raise TimedOutError(f"topic {topic} went while its rows were taken")
        if self._transactions is not None:
            self._transactions.check_may_send()
        now_ms, leaders = self._clock.now_ms(), self._leaders()
        appended = self._accumulator.append_by(RUNS, topic, partition, run, leaders, now_ms, lease)
        if isinstance(appended, Full):
            return appended
        self._metadata.use(topic, now_ms)
        if self._transactions is not None:
            self._transactions.appended(appended.place)
        return appended

    def _deadline_ms(self) -> int:
        return self._clock.now_ms() + self._config.max_block_ms
