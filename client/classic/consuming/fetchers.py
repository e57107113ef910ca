"""Which broker's fetcher has which partitions (ConsumerFetcherManager, AbstractFetcherManager)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from threading import Condition, Event
from typing import NamedTuple, Protocol

from logquake.client.classic.consuming.fetcher import BrokerFetcher
from logquake.client.classic.consuming.stream import PartitionTopicInfo
from logquake.client.classic.consuming.worker import Worker
from logquake.client.classic.hashing import absolute, java_hash
from logquake.client.classic.settings.consumer import ConsumerConfig
from logquake.client.classic.simple_consumer import SimpleConsumer
from logquake.client.classic.topic_metadata import Broker, TopicMetadata
from logquake.client.errors import ClientError
from logquake.wire.topic_partition import TopicPartition

_log = logging.getLogger(__name__)

_NOTHING_TO_FIND_S = 0.2


class Leaders(Protocol):
    """Finds the leaders, for the duration of one start."""

    def find(self, topics: Collection[str]) -> Sequence[TopicMetadata]:
        """Raises ClientError."""

    def interrupt(self) -> None:
        """From any thread: a running find raises ClosedError."""


Connect = Callable[[Broker], SimpleConsumer]


class FetcherId(NamedTuple):
    broker: Broker
    number: int  # below num.consumer.fetchers


class Fetchers:
    """start() and stop() alternate; each start has its own threads, one of which finds leaders for
    the partitions that have none.
    """

    def __init__(
        self,
        consumer: str,
        config: ConsumerConfig,
        new_leaders: Callable[[], Leaders],
        connect: Connect,
    ) -> None:
        self._consumer = consumer
        self._config = config
        self._new_leaders = new_leaders
        self._connect = connect
        self._changed = Condition()
        self._infos: dict[TopicPartition, PartitionTopicInfo] = {}
        self._leaderless: set[TopicPartition] = set()
        self._fetchers: dict[FetcherId, BrokerFetcher] = {}
        self._leaders = new_leaders()
        self._finder: Worker | None = None

    def start(self, infos: Iterable[PartitionTopicInfo]) -> None:
        """``startConnections``."""
        self._infos = {info.place: info for info in infos}
        self._leaderless = set(self._infos)
        self._leaders = self._new_leaders()
        self._finder = Worker(f"{self._consumer}-leader-finder-thread", self._find_once)
        self._finder.start()

    def stop(self) -> None:
        """``stopConnections``: once it returns, nothing more is put into streams."""
        if self._finder is not None:
            self._finder.stop()
        self._leaders.interrupt()
        with self._changed:
            fetchers = list(self._fetchers.values())
            self._changed.notify_all()
        for each in fetchers:
            each.stop()
        if self._finder is not None:
            self._finder.join()  # it may have started another one
        for each in self._fetchers.values():
            each.stop()
        for each in self._fetchers.values():
            each.join()
        self._finder = None
        self._fetchers.clear()

    def lags(self) -> dict[TopicPartition, int]:
        """How many messages fetching lags behind the end of each partition (ConsumerLag)."""
        with self._changed:
            fetchers = list(self._fetchers.values())
        return {place: lag for each in fetchers for place, lag in dict(each.lags).items()}

    def _hand_back(self, places: Collection[TopicPartition]) -> None:
        with self._changed:
            self._leaderless.update(places)
            self._changed.notify_all()

    def _find_once(self, stopping: Event) -> None:
        with self._changed:
            if not self._leaderless:
                self._changed.wait(_NOTHING_TO_FIND_S)
            wanted = set(self._leaderless)
        if wanted and not stopping.is_set():
            self._find(wanted)
            stopping.wait(self._config.refresh_leader_backoff_ms / 1000)

    def _find(self, wanted: Collection[TopicPartition]) -> None:
        try:
            told = self._leaders.find({place.topic for place in wanted})
        except ClientError as error:
            _log.warning("no leader is known of %s: %s", ", ".join(map(str, wanted)), error)
            return
        led = {
            place: each.leader
            for topic in told
            for each in topic.partitions
            if (place := TopicPartition(topic.topic, each.partition)) in wanted
            and each.leader is not None
        }
        self._hand_to_fetchers(led)
        self._end_idle_ones()

    def _hand_to_fetchers(self, led: Mapping[TopicPartition, Broker]) -> None:
        with self._changed:
            self._leaderless -= led.keys()
        for place, broker in led.items():
            number = absolute(31 * java_hash(place.topic) + place.partition)
            self._fetcher(FetcherId(broker, number % self._config.num_consumer_fetchers)).add(
                {place: self._infos[place]}
            )

    def _fetcher(self, wanted: FetcherId) -> BrokerFetcher:
        fetcher = self._fetchers.get(wanted)
        if fetcher is None:
            broker, number = wanted
            name = f"ConsumerFetcherThread-{self._consumer}-{number}-{broker.id}"
            fetcher = BrokerFetcher(name, self._config, self._connect(broker), self._hand_back)
            with self._changed:
                self._fetchers[wanted] = fetcher
        return fetcher

    def _end_idle_ones(self) -> None:
        """``shutdownIdleFetcherThreads``."""
        idle = [each for each, fetcher in self._fetchers.items() if fetcher.is_idle]
        for each in idle:
            with self._changed:
                fetcher = self._fetchers.pop(each)
            fetcher.stop()
            fetcher.join()
