"""The producer whose calls block (KafkaProducer)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Self

from logquake.client.arguments import check_time_or_none
from logquake.client.consumer.offsets import ConsumerGroupMetadata
from logquake.client.errors import ClientError, ClosedError
from logquake.client.network.partitions import PartitionNodes
from logquake.client.producer.delivery import RecordMetadata
from logquake.client.producer.facade import ProducerFacade
from logquake.client.producer.preparing import OnDelivery
from logquake.client.producer.record import Headers
from logquake.client.producer.runs import OnFailure, Rows
from logquake.client.producer.statistics import Groups
from logquake.client.producer.transactions.offsets import Offsets
from logquake.client.sync.futures import Future
from logquake.client.sync.threads import start_thread
from logquake.client.unclosed import tell_if_unclosed


class Producer(ProducerFacade):
    """Sends records from any thread; a thread of its own writes them in batches.

    `ProducerFacade` says how one is made.

    As a context manager it is closed at the end, once all is written.
    """

    def _start(self) -> None:
        self._driver = start_thread(
            self._producing.foundation,
            self._producing.core,
            self._producing.telling,
            self._producing.name,
        )
        producing = self._producing
        client_id, count_held = producing.settings.client_id, producing.core.records_held
        tell_if_unclosed(self, self._driver, client_id, count_held)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def send(
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
        """Hand over a record; it is written later, and the future says where.

        It waits for max.block.ms at most, until the topic is known and there is memory for it.
        ``on_delivery`` is called with where it is, or where it was to go and why it is not there,
        in the order of sends to a partition, on the producer's thread: whatever it takes keeps
        the next records waiting. The future raises DeliveryError, which says whether the record
        may be written all the same.

        A callback may send, but never waits: RuntimeError is raised where it would have to.

        ``headers`` are pairs of a key and bytes, or None, in their order.

        Raises SerializationError, ValueError for a partition or a time below 0, TypeError for one
        that is no whole number and for what else is no such thing, ClosedError, and with a
        transactional.id TransactionError.
        """
        outgoing = self._producing.prepare(
            topic, value, key, partition, timestamp_ms, headers, on_delivery
        )
        driver, appending = self._driver, self._producing.appending
        try:
            with driver.lock:
                appended = appending.at_once(outgoing)
                if appended is not None and appended.wakes:
                    driver.check_open()
                    driver.wake()
            if appended is not None:
                return Future(appended.delivery, driver)
            steps = appending.in_time(outgoing)
        except Exception as error:  # noqa: BLE001 - raised again, once who wants to hear has heard
            steps = appending.failing(outgoing, error)
        except BaseException:  # Ctrl-C: what is in a batch is to be sent
            driver.wake()
            raise
        return Future(driver.run(steps), driver)

    def send_rows(self, topic: str, rows: Rows, on_failure: OnFailure) -> None:
        """Hand over many records at once, encoded by whoever has them (`client/producer/runs.py`):
        for those that have them in columns.

        As send(), but ``on_failure`` alone tells what becomes of them, and for each batch again it
        waits for max.block.ms at most. Where one is too large, or names a partition that there is
        not, none is sent.

        Raises ClosedError, with a transactional.id TransactionError, and ValueError where
        something of the program's own wants to see each record.
        """
        self._driver.run(self._producing.appending_rows.in_time(topic, rows, on_failure))

    def flush(self, timeout_ms: int | None = None) -> None:
        """Send what is there without waiting for more, until all of it is done.

        Callbacks of what was sent before are called by then. By default it takes as long as it
        takes, which is bounded by delivery.timeout.ms. Raises TimedOutError, and ClosedError.
        """
        self._driver.run(self._producing.flush(timeout_ms))

    def partitions_for(self, topic: str) -> list[PartitionNodes]:
        """In order. Raises TimedOutError after max.block.ms, BrokerError, and ClosedError."""
        return self._driver.run(self._producing.partitions_for(topic))

    def metrics(self) -> Groups:
        """What the producer has done, by group and under Kafka's names; of a topic by the group
        "producer-topic-metrics:" and its name. Averages and maxima are of the last minute, and no
        numbers where there was nothing.
        """
        with self._driver.lock:
            return self._producing.metrics()

    # Transactions (KIP-98): each call takes max.block.ms at most, and raises TimedOutError after
    # that; the same may be called again then. After TransactionFailedError abort_transaction()
    # helps, and close() after ProducerFencedError and ProducerBrokenError; TransactionStateError
    # is for calls that come at the wrong time.

    def init_transactions(self) -> None:
        """Before all else, with a transactional.id: whoever had the id before is fenced, and what
        it left open is aborted. Raises BrokerError too, for who is not authorized.
        """
        self._driver.run(self._producing.transactions.init())

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Begin one; commit it at the end, or abort it, as far as that can be, after an error.

        Raises what ended it. After TimedOutError of the commit, commit_transaction() goes on.
        """
        self.begin_transaction()
        try:
            yield
            self.commit_transaction()
        except BaseException:
            with suppress(ClientError):
                self.abort_transaction()
            raise

    def begin_transaction(self) -> None:
        """What is sent from now on counts with the transaction."""
        self._driver.run(self._producing.transactions.begin())

    def send_offsets_to_transaction(
        self, offsets: Offsets, group_metadata: ConsumerGroupMetadata
    ) -> None:
        """Committed for the group when the transaction is; of a consumer with enable.auto.commit
        off, whose group_metadata() it is. After CommitFailedError as a cause the group has gone on
        without that consumer (KIP-447).
        """
        self._driver.run(self._producing.transactions.send_offsets(offsets, group_metadata))

    def commit_transaction(self) -> None:
        """All that was sent is written, its callbacks are called, and readers of committed records
        see it, a moment later. If one record failed nothing is committed.
        """
        self._driver.run(self._producing.transactions.commit())

    def abort_transaction(self) -> None:
        """None of it counts. What has not left yet fails with TransactionAbortedError."""
        self._driver.run(self._producing.transactions.abort())

    def close(self, timeout_ms: int | None = None) -> None:
        """Write what is there, and end; what is not written in time has failed then. A transaction
        that is not committed is aborted.

        Called in a callback it gives nothing any time, as Kafka's does: the thread that calls back
        is the one that writes. Closing again does nothing but wait for the first one. A function
        of the program's that keeps that thread is waited for no longer than five seconds more;
        interceptors, serializers and a partitioner are closed when that thread is at its end.
        """
        check_time_or_none(timeout_ms)
        given_ms = 0 if self._driver.is_own_thread() else timeout_ms
        deadline_ms = self._driver.deadline_ms(given_ms)
        try:
            if not self._driver.is_closed:
                with suppress(ClosedError):  # by another thread, meanwhile
                    self._driver.run(self._producing.close(given_ms))
        finally:
            if self._driver.close(deadline_ms):
                self._driver.when_over(self._producing.closed)
