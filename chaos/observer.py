"""Partitions as their leaders, their replicas and ZooKeeper say they are, look by look, as rows.

Within a look is asked: ZooKeeper for leaders and ISRs; the leaders for the log start, then the last
stable offset, then the high watermark; every replica for its log end; ZooKeeper once more. In this
order what is told can be held against each other: none of it falls while nothing is truncated, and
an ISR that changed meanwhile is left out. So are answers that come from another leader epoch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from threading import Event, Thread
from typing import Any, NamedTuple

from logquake.chaos.history.rows import Kind
from logquake.chaos.history.writer import HistoryWriter
from logquake.client.errors import ClientError
from logquake.client.settings import Address
from logquake.cluster.errors import ClusterError
from logquake.cluster.observing.broker_connections import BrokerConnections, dial_as
from logquake.cluster.observing.onlookers import ONLOOKER
from logquake.cluster.observing.view import ClusterView
from logquake.cluster.running.observed import ObservedCluster
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from logquake.wire.sentinels import (
    CONSUMER_REPLICA_ID,
    DEBUGGING_REPLICA_ID,
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    NO_LEADER,
    NO_LEADER_EPOCH,
)
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.znodes.topics import PartitionState

ANSWER_MS = 1_000  # a broker that is frozen is given up for this look
MOST_BROKERS = 64  # asked at the same time

Offsets = Mapping[TopicPartition, int]


class _Question(NamedTuple):
    replica_id: int
    isolation_level: int
    timestamp: int


_LOG_START = _Question(CONSUMER_REPLICA_ID, 0, EARLIEST_TIMESTAMP)
_LAST_STABLE = _Question(CONSUMER_REPLICA_ID, 1, LATEST_TIMESTAMP)
_HIGH_WATERMARK = _Question(CONSUMER_REPLICA_ID, 0, LATEST_TIMESTAMP)
_LOG_END = _Question(DEBUGGING_REPLICA_ID, 0, LATEST_TIMESTAMP)


class Observer:
    """Looks at these topics; at all of them, Kafka's own too, where none are named."""

    def __init__(
        self,
        view: ClusterView,
        addresses: Callable[[], Mapping[int, Address]],
        connections: BrokerConnections,
        history: HistoryWriter,
        topics: Collection[str] = (),
    ) -> None:
        self._view = view
        self._addresses = addresses
        self._connections = connections
        self._history = history
        self._topics = frozenset(topics)
        # Brokers are asked side by side.
        self._threads = ThreadPoolExecutor(MOST_BROKERS, "observer")

    def close(self) -> None:
        self._threads.shutdown()
        self._connections.close()

    def look(self) -> None:
        """A row for each partition. Raises ClusterError where ZooKeeper does not answer."""
        states, replicas = self._states(), self._replicas()
        log_starts = self._of_leaders(_LOG_START, states)
        stable = self._of_leaders(_LAST_STABLE, states)
        high_watermarks = self._of_leaders(_HIGH_WATERMARK, states)
        log_ends = self._of_replicas(_LOG_END, replicas)
        later = self._states()
        for place, state in sorted(states.items()):
            self._history.record(
                Kind.OBSERVED,
                str(place),
                epoch=state.leader_epoch,
                offset=high_watermarks.get(place),
                after={
                    "leader": None if state.leader == NO_LEADER else state.leader,
                    "isr": list(state.isr) if later.get(place) == state else None,
                    "replicas": list(replicas.get(place, ())),
                    "log_start": log_starts.get(place),
                    "last_stable": stable.get(place),
                    "log_ends": _by_broker(place, log_ends),
                },
            )

    def _states(self) -> dict[TopicPartition, PartitionState]:
        found = self._view.all_partitions()
        return {place: state for place, state in found.items() if self._is_of_interest(place.topic)}

    def _replicas(self) -> dict[TopicPartition, tuple[int, ...]]:
        return {
            TopicPartition(topic, partition): replicas
            for topic, assignment in self._view.assignments().items()
            if self._is_of_interest(topic)
            for partition, replicas in assignment.partitions.items()
        }

    def _is_of_interest(self, topic: str) -> bool:
        return not self._topics or topic in self._topics

    def _of_leaders(
        self, question: _Question, states: Mapping[TopicPartition, PartitionState]
    ) -> Offsets:
        led: dict[int, dict[TopicPartition, int]] = defaultdict(dict)
        for place, state in states.items():
            if state.leader != NO_LEADER:
                led[state.leader][place] = state.leader_epoch
        answers = self._ask_all(question, led)
        return {place: offset for found in answers.values() for place, offset in found.items()}

    def _of_replicas(
        self, question: _Question, replicas: Mapping[TopicPartition, tuple[int, ...]]
    ) -> Mapping[int, Offsets]:
        held: dict[int, dict[TopicPartition, int]] = defaultdict(dict)
        for place, brokers in replicas.items():
            for broker_id in brokers:
                held[broker_id][place] = NO_LEADER_EPOCH
        return self._ask_all(question, held)

    def _ask_all(
        self, question: _Question, places: Mapping[int, Mapping[TopicPartition, int]]
    ) -> Mapping[int, Offsets]:
        addresses = self._addresses()
        asked = {
            broker_id: self._threads.submit(
                _ask, self._connections, addresses[broker_id], question, epochs
            )
            for broker_id, epochs in places.items()
            if broker_id in addresses
        }
        return {broker_id: answer.result() for broker_id, answer in asked.items()}


def _ask(
    connections: BrokerConnections,
    address: Address,
    question: _Question,
    epochs: Mapping[TopicPartition, int],
) -> Offsets:
    """Of those that it answers without an error."""
    topics: dict[str, list[ListOffsetsPartition]] = defaultdict(list)
    for place, epoch in sorted(epochs.items()):
        topics[place.topic].append(
            ListOffsetsPartition(
                partition_index=place.partition,
                current_leader_epoch=epoch,
                timestamp=question.timestamp,
            )
        )
    request = ListOffsetsRequest(
        replica_id=question.replica_id,
        isolation_level=question.isolation_level,
        topics=[ListOffsetsTopic(name=name, partitions=asked) for name, asked in topics.items()],
    )
    try:
        answer = connections.ask(address, request, ListOffsetsResponse)
    except ClientError:
        return {}
    return {
        TopicPartition(topic.name, each.partition_index): each.offset
        for topic in answer.topics
        for each in topic.partitions
        if each.error_code == ErrorCode.NONE
    }


def _by_broker(place: TopicPartition, found: Mapping[int, Offsets]) -> dict[str, Any]:
    return {
        str(broker_id): offsets[place]
        for broker_id, offsets in sorted(found.items())
        if place in offsets
    }


def _addresses(kafka: ObservedCluster) -> dict[int, Address]:
    """Those that clients are told."""
    brokers = kafka.state().brokers
    return {
        one.broker_id: Address(one.host, one.port) for one in brokers if one.broker_id is not None
    }


@contextmanager
def observing(
    kafka: ObservedCluster,
    history: HistoryWriter,
    *,
    every_s: float = 1.0,
    topics: Collection[str] = (),
) -> Iterator[None]:
    """Look again and again, from a thread, for as long as the block lasts."""
    connections = BrokerConnections(dial_as(ONLOOKER, ANSWER_MS, kafka.way_in))
    observer = Observer(kafka.view, partial(_addresses, kafka), connections, history, topics)
    stopping = Event()
    thread = Thread(target=_look_again, args=(observer, every_s, stopping), name="observer")
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()
        observer.close()


def _look_again(observer: Observer, every_s: float, stopping: Event) -> None:
    while not stopping.is_set():
        with suppress(ClusterError):  # it is ZooKeeper that is broken just now
            observer.look()
        stopping.wait(every_s)
