"""The older producer, which sends at once or from a queue (kafka.javaapi.producer.Producer)."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from types import TracebackType
from typing import Any, Protocol, Self

from logquake.client.classic.channel import Dial, dial_as
from logquake.client.classic.coordination.client import OpenSession
from logquake.client.classic.coordination.kazoo import kazoo_sessions
from logquake.client.classic.messages import KeyedMessage
from logquake.client.classic.partitioner import DefaultPartitioner
from logquake.client.classic.producing.broker_partitions import AskedPartitions, BrokerPartitions
from logquake.client.classic.producing.collating import Collation
from logquake.client.classic.producing.event_handler import DefaultEventHandler
from logquake.client.classic.producing.handling import Handling
from logquake.client.classic.producing.hooks import CallbackHandler, Messages
from logquake.client.classic.producing.pool import ProducerPool
from logquake.client.classic.producing.queueing import Queueing
from logquake.client.classic.producing.send_thread import Batching, SendThread
from logquake.client.classic.producing.sending_at_once import SendingAtOnce
from logquake.client.classic.producing.statistics import ProducerStatistics
from logquake.client.classic.producing.zookeeper_partitions import ZooKeeperPartitions
from logquake.client.classic.serializer import DefaultEncoder
from logquake.client.classic.settings.older_names import OF_PRODUCERS, in_newer_words
from logquake.client.classic.settings.producer import ProducerConfig, ProducerType
from logquake.client.classic.topic_metadata import MetadataAsker
from logquake.client.classic.versions import Release
from logquake.client.clock import SleepingClock, SystemClock
from logquake.client.errors import ProducerClosedError
from logquake.client.settings.reading import read


class Sending(Protocol):
    """The part that producer.type selects."""

    def send(self, messages: Messages) -> None: ...

    def close(self, timeout_ms: int | None) -> bool: ...

    def gauges(self) -> dict[str, int]: ...


class Producer:
    """``Producer({"broker.list": "localhost:9092", "producer.type": "async"})``; keys are 0.8's, or
    0.7's, with dots or underscores. Threads may share it, and wait for one another.
    """

    def __init__(
        self,
        config: Mapping[str, object] | None = None,
        /,
        *,
        release: Release = Release.V0_8_2,
        dial: Dial | None = None,
        open_session: OpenSession | None = None,
        clock: SleepingClock | None = None,
        random: Random | None = None,
        **keys: object,
    ) -> None:
        """Raises SettingsError, and with zk.connect ZooKeeperTimeoutError."""
        given = in_newer_words({**(config or {}), **keys}, OF_PRODUCERS)
        self._config = read(ProducerConfig, given)
        self._clock = clock or SystemClock()
        self._statistics = ProducerStatistics()
        self._is_closed = False
        default = self._default_handler(
            release, dial or dial_as(release), open_session, random or Random()
        )
        self._way = self._way_of_sending(Handling(self._config.event_handler, default))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def send(self, *messages: KeyedMessage[Any, Any]) -> None:
        """Write the messages, and return once acks are satisfied; or, with producer.type=async,
        only enqueue them.

        Raises ProducerClosedError; FailedToSendError, and what an encoder raises; with
        producer.type=async QueueFullError for a message that is dropped; earlier ones are queued.
        """
        if self._is_closed:
            raise ProducerClosedError("the producer was closed")
        for each in messages:
            self._statistics.sent(each.topic)
        self._way.send(messages)

    def metrics(self) -> dict[str, int]:
        """Counts under the names of Kafka's meters, followed by a slash and the topic."""
        return self._statistics.counts() | self._way.gauges()

    def close(self, timeout_ms: int | None = None) -> bool:
        """Send queued messages, then close. Returns whether that was done in time. A second call
        waits too, unless sending was given up.

        Without a time-out, only retries limit the wait. Messages not written in time are dropped;
        callers waiting for room in the queue get ProducerClosedError. On the queue's thread, where
        hooks and an event.handler run, it does not wait: queued messages are sent once these have
        returned.
        """
        self._is_closed = True
        return self._way.close(timeout_ms)

    def _default_handler(
        self, release: Release, dial: Dial, open_session: OpenSession | None, random: Random
    ) -> DefaultEventHandler:
        config = self._config
        encoder = config.serializer_class or DefaultEncoder()
        collation = Collation(config.partitioner_class or DefaultPartitioner(), random)
        asker = MetadataAsker(dial, config.client_id, config.request_timeout_ms, random)
        partitions: BrokerPartitions = AskedPartitions(asker, config.metadata_broker_list)
        if config.zookeeper_connect:
            sessions = open_session or kazoo_sessions(config)
            partitions = ZooKeeperPartitions(config, sessions, asker, collation.forget)
        return DefaultEventHandler(
            config,
            (config.key_serializer_class or encoder, encoder),
            collation,
            partitions,
            ProducerPool(dial, config.client_id, config.request_timeout_ms),
            self._statistics,
            self._clock,
            release.magic,
        )

    def _way_of_sending(self, handling: Handling) -> Sending:
        config = self._config
        if config.producer_type is ProducerType.SYNC:
            return SendingAtOnce(handling)
        hooks: CallbackHandler = config.callback_handler or CallbackHandler()
        batching = Batching(
            hooks, config.batch_num_messages, config.queue_buffering_max_ms, self._clock.now_ms()
        )
        thread = SendThread(
            f"ProducerSendThread-{config.client_id}",
            handling,
            batching,
            config.queue_buffering_max_messages,
            self._clock,
        )
        return Queueing(thread, hooks, self._statistics, config.queue_enqueue_timeout_ms)
