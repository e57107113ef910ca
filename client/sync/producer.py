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
from logquake.client.producer.appending.preparing import OnDelivery
from logquake.client.producer.delivery import RecordMetadata
from logquake.client.producer.facade import ProducerFacade
from logquake.client.producer.record import Headers
from logquake.client.producer.runs import OnFailure, Rows
from logquake.client.producer.statistics import Groups
from logquake.client.producer.transactions.offsets import Offsets
from logquake.client.sync.futures import Future
from logquake.client.sync.threads import start_thread
from logquake.client.unclosed import tell_if_unclosed


class Producer(ProducerFacade):
    """Sends records from any thread; its own thread writes them in batches.

    `ProducerFacade` documents the arguments.

    A context manager: leaving it waits until all records are written, and closes the producer.
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
        """Enqueue a record; it is written later, and the future's result is its metadata.

        Blocks for at most max.block.ms, until the topic's metadata and buffer memory are available.
        ``on_delivery`` is called with the record's metadata, or with its destination and the error,
        in the order of sends to a partition. It runs on the producer's thread, so a slow callback
        delays the records behind it. The future raises DeliveryError, which says whether the record
        may have been written nevertheless.

        A callback may send, but never blocks: if it would have to, RuntimeError is raised.

        ``headers`` are ordered pairs of a key and a value, which is bytes or None.

        Raises SerializationError, ValueError for a negative partition or timestamp, TypeError if
        they are not integers or another argument has the wrong type, ClosedError, and, with a
        transactional.id, TransactionError.
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
        except BaseException:  # Ctrl-C: what is in a batch must still be sent
            driver.wake()
            raise
        return Future(driver.run(steps), driver)

    def send_rows(self, topic: str, rows: Rows, on_failure: OnFailure) -> None:
        """Enqueue many records at once that the caller has encoded (`client/producer/runs.py`), for
        programs that hold records in columns.

        Like send(), but only failures are reported, to ``on_failure``, and it may block for
        max.block.ms for each batch. If a record is too large, or names a partition that does not
        exist, none is sent.

        Raises ClosedError, with a transactional.id TransactionError, and ValueError if the program
        configured something that must see each record, such as an interceptor.
        """
        self._driver.run(self._producing.appending_rows.in_time(topic, rows, on_failure))

    def flush(self, timeout_ms: int | None = None) -> None:
        """Send all enqueued records without lingering, and wait until each has succeeded or failed.

        By then the callbacks of all earlier sends have run. Without a timeout, only
        delivery.timeout.ms bounds the wait. Raises TimedOutError, and ClosedError.
        """
        self._driver.run(self._producing.flush(timeout_ms))

    def partitions_for(self, topic: str) -> list[PartitionNodes]:
        """Sorted. Raises TimedOutError after max.block.ms, BrokerError, and ClosedError."""
        return self._driver.run(self._producing.partitions_for(topic))

    def metrics(self) -> Groups:
        """The producer's metrics, by group and under Kafka's names; those of a topic have the group
        "producer-topic-metrics:" plus its name. Averages and maxima cover the last minute, and are
        NaN if nothing was measured.
        """
        with self._driver.lock:
            return self._producing.metrics()

    # Transactions (KIP-98): each call takes at most max.block.ms, then raises TimedOutError; the
    # same call may then be repeated. After TransactionFailedError call abort_transaction(), after
    # ProducerFencedError and ProducerBrokenError close(). TransactionStateError is raised for a
    # call that the current state does not allow.

    def init_transactions(self) -> None:
        """Must be called first, with a transactional.id: it fences the id's previous producer, and
        aborts the transaction it left open. Raises BrokerError too, if authorization fails.
        """
        self._driver.run(self._producing.transactions.init())

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Begin a transaction; commit it at the end, or, after an error, try to abort it.

        Raises the error that ended it. If the commit raised TimedOutError, commit_transaction()
        resumes it.
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
        """Records sent from now on belong to the transaction."""
        self._driver.run(self._producing.transactions.begin())

    def send_offsets_to_transaction(
        self, offsets: Offsets, group_metadata: ConsumerGroupMetadata
    ) -> None:
        """Commit a consumer's offsets with the transaction. The consumer must have
        enable.auto.commit off; pass its group_metadata(). If CommitFailedError is the cause of the
        error, the group has moved on without that consumer (KIP-447).
        """
        self._driver.run(self._producing.transactions.send_offsets(offsets, group_metadata))

    def commit_transaction(self) -> None:
        """Wait until all records are written and their callbacks have run, then commit; consumers
        with read_committed see them a moment later. If any record failed, nothing is committed.
        """
        self._driver.run(self._producing.transactions.commit())

    def abort_transaction(self) -> None:
        """Discard the transaction. Unsent records fail with TransactionAbortedError."""
        self._driver.run(self._producing.transactions.abort())

    def close(self, timeout_ms: int | None = None) -> None:
        """Write all enqueued records, then close; records not written in time fail. A transaction
        that is not committed is aborted.

        In a callback the timeout is 0, as in Kafka's: the thread that runs callbacks is the one
        that writes. Closing again only waits for the first close. If a function of the program
        blocks that thread, close waits for it for at most five more seconds; interceptors,
        serializers and a partitioner are closed when the thread ends.
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
