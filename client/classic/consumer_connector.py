"""Streams of messages for the consumers of a group, which ZooKeeper coordinates
(kafka.javaapi.consumer.ConsumerConnector, ZookeeperConsumerConnector).
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Mapping, Sequence
from random import Random
from threading import Event, Lock
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from logquake.client.classic.channel import Dial, dial_as
from logquake.client.classic.consuming.rebalancer import BufferOf, Rebalancer
from logquake.client.classic.consuming.registering import Registering
from logquake.client.classic.consuming.registration import StaticTopics, TopicCount, Wildcard
from logquake.client.classic.consuming.statistics import ConsumerStatistics
from logquake.client.classic.consuming.stream import KafkaStream, StreamBuffer
from logquake.client.classic.consuming.topic_filter import TopicFilter
from logquake.client.classic.consuming.watching import Watching
from logquake.client.classic.consuming.wiring import new_fetchers, new_offset_store
from logquake.client.classic.consuming.worker import Worker
from logquake.client.classic.coordination.client import OpenSession, ZkClient
from logquake.client.classic.coordination.kazoo import kazoo_sessions
from logquake.client.classic.errors import StreamsExistError
from logquake.client.classic.serializer import Decoder, DefaultDecoder
from logquake.client.classic.settings.consumer import ConsumerConfig
from logquake.client.classic.settings.older_names import OF_CONSUMERS, in_newer_words
from logquake.client.classic.versions import Release
from logquake.client.clock import SleepingClock, SystemClock
from logquake.client.errors import ClientError, ClosedError
from logquake.client.settings.reading import read
from logquake.wire.topic_partition import TopicPartition

_log = logging.getLogger(__name__)


class ConsumerConnector:
    """``ConsumerConnector({"zookeeper.connect": "localhost:2181", "group.id": "g"})``; keys are
    0.8's, or 0.7's, with dots or underscores.

    Streams are created once. Each is for one thread; the connector works on its own threads. Close
    it with shutdown(), or use it as a context manager.
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
        """Raises SettingsError, ZooKeeperTimeoutError."""
        given = in_newer_words({**(config or {}), **keys}, OF_CONSUMERS)
        self._config = read(ConsumerConfig, given)
        self._clock = clock or SystemClock()
        dial = dial or dial_as(release)
        self.consumer_id = f"{self._config.group_id}_{self._config.consumer_id or self._own_id()}"
        self._statistics = ConsumerStatistics()
        self._stopping = Event()
        self._lock = Lock()
        self._wanted: TopicCount | None = None
        self._is_shut_down = False
        self._watching = Watching(
            f"{self.consumer_id}_watcher_executor", self._changed, self._session_is_new
        )
        self._zk = self._connect_zk(open_session or kazoo_sessions(self._config))
        self._offsets = new_offset_store(
            self._zk, self._config, dial, self._stopping, self._statistics
        )
        self._registering = Registering(self.consumer_id, self._config, self._clock)
        self._fetchers = new_fetchers(
            self.consumer_id, self._zk, self._config, dial, random or Random()
        )
        self._rebalancer = Rebalancer(
            self.consumer_id,
            self._config,
            self._zk,
            self._offsets,
            self._fetchers,
            self._stopping,
            self._statistics,
        )
        self._committing = Worker("kafka-consumer-autocommit", self._auto_commit)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.shutdown()

    def create_message_streams(
        self,
        topic_count_map: Mapping[str, int],
        key_decoder: Decoder[Any] | None = None,
        value_decoder: Decoder[Any] | None = None,
    ) -> dict[str, list[KafkaStream[Any, Any]]]:
        """``createMessageStreams``: that many streams per topic. Without decoders, bytes.

        When it returns, the consumer has its share of the group's partitions. Raises
        StreamsExistError, RebalanceFailedError, NotRegisteredError, ZooKeeperError; ValueError for
        fewer than one stream.
        """
        wanted = self._want(StaticTopics(topic_count_map))
        buffers = {
            topic: [self._buffer() for _ in range(count)]
            for topic, count in topic_count_map.items()
        }
        self._begin(
            wanted,
            [each for of_topic in buffers.values() for each in of_topic],
            lambda topic, thread: buffers[topic][thread.number],
        )
        return {
            topic: [self._stream(each, key_decoder, value_decoder) for each in of_topic]
            for topic, of_topic in buffers.items()
        }

    def create_message_streams_by_filter(
        self,
        topic_filter: TopicFilter,
        num_streams: int = 1,
        key_decoder: Decoder[Any] | None = None,
        value_decoder: Decoder[Any] | None = None,
    ) -> list[KafkaStream[Any, Any]]:
        """``createMessageStreamsByFilter``: for all topics that a Whitelist or Blacklist allows,
        including later ones. Raises as create_message_streams().
        """
        wanted = self._want(Wildcard(topic_filter, num_streams))
        buffers = [self._buffer() for _ in range(num_streams)]
        self._begin(wanted, buffers, lambda _topic, thread: buffers[thread.number])
        return [self._stream(each, key_decoder, value_decoder) for each in buffers]

    def commit_offsets(self) -> None:
        """``commitOffsets``: commit all messages that streams returned. Raises ClientError."""
        self._offsets.commit(self._rebalancer.consumed())

    def owned(self) -> list[TopicPartition]:
        """Its share of the group's partitions, sorted."""
        return sorted(self._rebalancer.consumed())

    def metrics(self) -> dict[str, int]:
        """Counts and gauges under Kafka's names, followed by a slash and the partition."""
        lags = {place: max(0, lag) for place, lag in self._fetchers.lags().items()}
        return {
            **self._statistics.counts(),
            **{f"ConsumerLag/{place}": lag for place, lag in sorted(lags.items())},
            "MaxLag": max(lags.values(), default=0),
            "OwnedPartitionsCount": len(self._rebalancer.consumed()),
        }

    def shutdown(self) -> None:
        """End all streams; with auto.commit.enable, commit what they returned; the group's other
        consumers take over. A second call does nothing.
        """
        with self._lock:
            if self._is_shut_down:
                return
            self._is_shut_down = True
        self._stopping.set()
        for each in (self._watching.worker, self._committing):
            each.stop()
            each.join()
        self._rebalancer.stop()
        if self._config.auto_commit_enable:
            self._commit_at_the_end()
        self._offsets.close()
        self._zk.close()

    # On its own threads

    def _changed(self) -> None:
        self._rebalancer.rebalance()

    def _session_is_new(self) -> None:
        self._rebalancer.forget()
        if self._wanted is not None:
            self._registering.register(self._zk, self._wanted, self._stopping)
            self._rebalancer.rebalance()

    def _auto_commit(self, stopping: Event) -> None:
        if not stopping.wait(self._config.auto_commit_interval_ms / 1000):
            self.commit_offsets()

    def _commit_at_the_end(self) -> None:
        for attempt in range(self._config.offsets_commit_max_retries + 1):
            if attempt:
                self._clock.sleep_ms(self._config.offsets_channel_backoff_ms)
            try:
                self.commit_offsets()
            except ClientError as error:
                _log.warning("%s: offsets are not committed: %s", self.consumer_id, error)
            else:
                return

    # Its parts

    def _want(self, wanted: TopicCount) -> TopicCount:
        with self._lock:
            if self._is_shut_down:
                raise ClosedError("the connector was shut down")
            if self._wanted is not None:
                raise StreamsExistError("a connector makes message streams once")
            self._wanted = wanted
        return wanted

    def _begin(
        self, wanted: TopicCount, buffers: Sequence[StreamBuffer], buffer_of: BufferOf
    ) -> None:
        self._registering.register(self._zk, wanted, self._stopping)
        self._rebalancer.start(buffers, buffer_of)
        self._watching.worker.start()
        if self._config.auto_commit_enable:
            self._committing.start()

    def _own_id(self) -> str:
        """Host, time and a random number."""
        return f"{socket.gethostname()}-{self._clock.wall_ms()}-{uuid4().hex[:8]}"

    def _buffer(self) -> StreamBuffer:
        return StreamBuffer(self._config.queued_max_message_chunks)

    def _stream(
        self,
        buffer: StreamBuffer,
        key_decoder: Decoder[Any] | None,
        value_decoder: Decoder[Any] | None,
    ) -> KafkaStream[Any, Any]:
        bytes_as_they_are = DefaultDecoder()
        return KafkaStream(
            buffer,
            self._config.consumer_timeout_ms,
            key_decoder or bytes_as_they_are,
            value_decoder or bytes_as_they_are,
        )

    def _connect_zk(self, open_session: OpenSession) -> ZkClient:
        config = self._config
        return ZkClient(
            open_session,
            connection_timeout_ms=config.zookeeper_connection_timeout_ms,
            call_timeout_ms=config.zookeeper_session_timeout_ms
            + config.zookeeper_connection_timeout_ms,
            on_watch=self._watching.watched,
            on_new_session=self._watching.new_session,
        )
