"""The producer whose calls are awaited (KafkaProducer)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Any, Self

from logquake.client.aio.futures import Future
from logquake.client.aio.loops import start_on_loop
from logquake.client.arguments import check_time_or_none
from logquake.client.consumer.offsets import ConsumerGroupMetadata
from logquake.client.errors import ClientError, ClosedError
from logquake.client.network.partitions import PartitionNodes
from logquake.client.producer.appending.preparing import OnDelivery
from logquake.client.producer.delivery import RecordMetadata
from logquake.client.producer.facade import ProducerFacade
from logquake.client.producer.record import Headers
from logquake.client.producer.statistics import Groups
from logquake.client.producer.transactions.offsets import Offsets
from logquake.client.unclosed import tell_if_unclosed

# After so many records, a few milliseconds' worth, other tasks get a turn even if there is room
# for more. A turn costs as much as some ten records, so it hardly slows the sender.
_RECORDS_A_TURN = 500


class Producer(ProducerFacade):
    """Like `logquake.client.sync.producer.Producer`, on the loop that is running when it is
    created.

    Raises RuntimeError if no loop is running.
    """

    def _start(self) -> None:
        self._sent = 0
        self._driver = start_on_loop(
            self._producing.foundation,
            self._producing.core,
            self._producing.telling,
            self._producing.name,
        )
        producing = self._producing
        client_id, count_held = producing.settings.client_id, producing.core.records_held
        tell_if_unclosed(self, self._driver, client_id, count_held)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def send(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        *,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Headers = (),
        on_delivery: OnDelivery | None = None,
    ) -> Future[RecordMetadata]:
        """Enqueue a record; it is written later, and awaiting the future returns its metadata.

        ``on_delivery`` is called on the loop, not awaited: TypeError is raised for a coroutine
        function. If the task is cancelled here, its record may have been sent nevertheless.
        Otherwise like the blocking producer's `send`.
        """
        outgoing = self._producing.prepare(
            topic, value, key, partition, timestamp_ms, headers, on_delivery
        )
        driver, appending = self._driver, self._producing.appending
        try:
            appended = appending.at_once(outgoing)
            if appended is not None:
                driver.check_open()
                if appended.wakes:
                    driver.wake()
                if self._ends_turn():
                    await asyncio.sleep(0)
                return Future(appended.delivery, driver)
            steps = appending.in_time(outgoing)
        except Exception as error:  # noqa: BLE001 - raised again, once who wants to hear has heard
            steps = appending.failing(outgoing, error)
        delivery = await driver.run(steps)
        if self._ends_turn():
            await asyncio.sleep(0)
        return Future(delivery, driver)

    def _ends_turn(self) -> bool:
        """Asked once the record is enqueued, so what others send during the turn comes after it."""
        self._sent += 1
        return self._sent % _RECORDS_A_TURN == 0

    async def flush(self, timeout_ms: int | None = None) -> None:
        """Send all enqueued records without lingering, and wait until each has succeeded or failed.

        Raises TimedOutError, and ClosedError.
        """
        await self._driver.run(self._producing.flush(timeout_ms))

    async def partitions_for(self, topic: str) -> list[PartitionNodes]:
        """Sorted. Raises TimedOutError after max.block.ms, BrokerError, and ClosedError."""
        return await self._driver.run(self._producing.partitions_for(topic))

    async def init_transactions(self) -> None:
        """This and the next calls raise what the blocking producer's do."""
        await self._driver.run(self._producing.transactions.init())

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Begin a transaction; commit it at the end, or, after an error, try to abort it."""
        await self.begin_transaction()
        try:
            yield
            await self.commit_transaction()
        except BaseException:
            with suppress(ClientError):
                await self.abort_transaction()
            raise

    async def begin_transaction(self) -> None:
        await self._driver.run(self._producing.transactions.begin())

    async def send_offsets_to_transaction(
        self, offsets: Offsets, group_metadata: ConsumerGroupMetadata
    ) -> None:
        await self._driver.run(self._producing.transactions.send_offsets(offsets, group_metadata))

    async def commit_transaction(self) -> None:
        await self._driver.run(self._producing.transactions.commit())

    async def abort_transaction(self) -> None:
        await self._driver.run(self._producing.transactions.abort())

    def metrics(self) -> Groups:
        """The producer's metrics, by group and under Kafka's names."""
        return self._producing.metrics()

    async def close(self, timeout_ms: int | None = None) -> None:
        """Write all enqueued records, then close; records not written in time fail."""
        check_time_or_none(timeout_ms)
        try:
            if not self._driver.is_closed:
                with suppress(ClosedError):  # by another task, meanwhile
                    await self._driver.run(self._producing.close(timeout_ms))
        finally:
            if self._driver.close():
                self._producing.closed()
