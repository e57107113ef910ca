"""What appending records and appending rows share: whether they may be appended now, what they wait
for, and what happens if they are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from logquake.client.clock import Clock
from logquake.client.driving.steps import Steps
from logquake.client.errors import (
    ClientError,
    ClosedError,
    DeliveryError,
    RecordTooLargeError,
    TimedOutError,
    TransactionError,
)
from logquake.client.network.metadata import Metadata
from logquake.client.producer.accumulator import Accumulator
from logquake.client.producer.appended import Appended, D, Item, Way
from logquake.client.producer.appending.memory_waits import MemoryWaits
from logquake.client.producer.appending.topic_waits import TopicWaits
from logquake.client.producer.leaders import Leaders
from logquake.client.producer.memory import Lease
from logquake.client.producer.transactions.steps import TransactionSteps
from logquake.client.settings.producer import ProducerConfig

T = TypeVar("T")


class Admitting:
    def __init__(
        self,
        config: ProducerConfig,
        clock: Clock,
        metadata: Metadata,
        accumulator: Accumulator,
        leaders: Callable[[], Leaders],
        topics: TopicWaits,
        memory: MemoryWaits,
        transactions: TransactionSteps | None,
    ) -> None:
        self._config = config
        self._clock = clock
        self._metadata = metadata
        self._accumulator = accumulator
        self._leaders = leaders
        self._topics = topics
        self._transactions = transactions
        self._memory = memory

    def deadline_ms(self) -> int:
        """The deadline of a wait that begins now: max.block.ms."""
        return self._clock.now_ms() + self._config.max_block_ms

    def check_may_append(self) -> None:
        """Before anything is waited for. Raises TransactionError, and ProducerClosedError."""
        if self._transactions is not None:
            self._transactions.check_may_send()

    def check_size(self, size: int) -> None:
        """Check the size of a batch of one record. Raises RecordTooLargeError."""
        for key, bound in (
            ("max.request.size", self._config.max_request_size),
            ("buffer.memory", self._config.buffer_memory),
        ):
            if size > bound:
                raise RecordTooLargeError(f"a record of {size} bytes is more than {key}={bound}")

    def append(
        self,
        way: Way[Item, D],
        topic: str,
        partition: int | None,
        item: Item,
        lease: Lease | None = None,
    ) -> Appended[D] | None:
        """The topic must be known; see `Accumulator.append`. Raises TransactionError too."""
        self.check_may_append()
        leaders = self._leaders()
        now_ms = self._clock.now_ms()
        appended = self._accumulator.append(way, topic, partition, item, leaders, now_ms, lease)
        if appended is None:
            return None
        if appended.wakes:  # at least once per batch, which is often enough
            self._metadata.use(topic, now_ms)
        if self._transactions is not None:
            self._transactions.appended(appended.place)
        return appended

    def append_in_time(
        self, way: Way[Item, D], topic: str, partition: int | None, item: Item, deadline_ms: int
    ) -> Steps[Appended[D]]:
        """`append`, after waiting for memory. Raises TimedOutError too."""
        append = partial(self._append_if_known, way, topic, partition, item)
        return self._memory.appended(append, deadline_ms)

    def _append_if_known(
        self,
        way: Way[Item, D],
        topic: str,
        partition: int | None,
        item: Item,
        lease: Lease,
    ) -> Appended[D] | None:
        if self._topics.known(topic, partition) is None:
            # Deleted during the wait for memory, or during a call of a program's function.
            raise TimedOutError(f"topic {topic} went while what it was sent was taken")
        return self.append(way, topic, partition, item, lease)

    def or_refusal(self, steps: Steps[T]) -> Steps[T | DeliveryError]:
        """The result of the steps, or why not all was accepted, which the call, as in Kafka's
        client, does not raise.

        Raises ClosedError, TransactionError, and errors of the program's own functions.
        """
        try:
            return (yield from steps)
        except (ClosedError, TransactionError):
            raise
        except ClientError as error:
            if self._transactions is not None:
                self._transactions.refused(error)
            return DeliveryError(error, may_be_written=False)
        finally:
            steps.close()  # a signal handler may raise before they continue
