"""Asks brokers for records ahead of the polls that take them (Kafka's AbstractFetch).

Each broker has one Fetch in flight, for all partitions read from it. The next is sent once all of
the last response was returned: otherwise it might wait for records of the other partitions, and
hold up those just used up (as in 4.0, KAFKA-17182). So memory is bounded by fetch.max.bytes per
broker.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from logquake.client.consumer.cluster import FetchedCluster
from logquake.client.consumer.fetch.batches import StoredBatch
from logquake.client.consumer.fetch.buffer import FetchBuffer
from logquake.client.consumer.fetch.collecting import FetchCollector, Fetched
from logquake.client.consumer.fetch.completed import CompletedFetch
from logquake.client.consumer.fetch.sessions import Asked, FetchSession, SessionRequest
from logquake.client.consumer.fetch.statistics import FetchStatistics, Tally
from logquake.client.consumer.fetch.taken import Taken
from logquake.client.consumer.records import ConsumerRecord
from logquake.client.consumer.settings import FetchSettings
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.network.moved_leaders import moved_leaders, nodes_at
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.fetch import FetchResponse
from logquake.wire.sentinels import NO_LEADER
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.uuids import ZERO_UUID


class Fetcher:
    """The sender calls `requests`, and then `answered` or `failed` once for each of them."""

    def __init__(
        self, settings: FetchSettings, subscriptions: Subscriptions, cluster: FetchedCluster
    ) -> None:
        self._subscriptions = subscriptions
        self._settings = settings
        self._cluster = cluster
        self.statistics = FetchStatistics()
        self._buffer = FetchBuffer()
        self._collector = FetchCollector(
            settings, subscriptions, cluster, self._buffer, self.statistics
        )
        self._sessions: dict[int, FetchSession] = {}
        self._in_flight: dict[int, SessionRequest] = {}

    def collect(self, now_ms: int, taken: Taken) -> Fetched[ConsumerRecord]:
        """See FetchCollector.collect."""
        return self._collector.collect(now_ms, CompletedFetch.take, taken)

    def collect_batches(self, now_ms: int, taken: Taken) -> Fetched[StoredBatch]:
        return self._collector.collect(now_ms, CompletedFetch.take_batches, taken)

    @property
    def has_something(self) -> bool:
        """Whether there are records or an error for a poll."""
        of = self._subscriptions.find
        return any((state := of(each.place)) and state.is_fetchable for each in self._buffer)

    @property
    def turns(self) -> int:
        """See `FetchCollector`."""
        return self._collector.turns

    def retain(self, places: Collection[TopicPartition], now_ms: int) -> None:
        """See `FetchCollector`."""
        self._collector.retain(places, now_ms)

    def requests(
        self, now_ms: int, is_available: Callable[[int], bool]
    ) -> dict[int, SessionRequest]:
        """Requests for the available brokers, by broker; they count as sent."""
        read_from: dict[int, list[TopicPartition]] = {}
        for place in self._subscriptions.fetchable(now_ms):
            node_id = self._read_from(place, now_ms)
            if node_id is not None and node_id not in self._in_flight:
                read_from.setdefault(node_id, []).append(place)
        buffered = self._buffer.places
        wanted = {
            node_id: {place: self._asked(place) for place in places}
            for node_id, places in read_from.items()
            if buffered.isdisjoint(places) and self._can_reach(node_id, is_available)
        }
        sent = {node_id: self._session(node_id).next_request(of) for node_id, of in wanted.items()}
        self._in_flight |= sent
        return sent

    def next_due_ms(self, now_ms: int) -> int | None:
        """When the next back-off of a partition whose leader refused ends."""
        return self._subscriptions.next_fetch_ms(now_ms)

    def answered(self, node_id: int, answer: FetchResponse, version: int) -> bool:
        """Take in a response. Returns whether it was useful."""
        request = self._in_flight.pop(node_id)
        told = self._session(node_id).on_answer(answer, version)
        if told is None:
            if answer.error_code == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR:
                self._cluster.request_update()
            return False
        tally = Tally(len(told))
        self._buffer.add(
            CompletedFetch(
                place, request.session[place].offset, data, self._settings, tally, node_id
            )
            for place, data in told.items()
        )
        moved = moved_leaders(
            (place, data.error_code, data.current_leader) for place, data in told.items()
        )
        self._cluster.leaders_told(moved, nodes_at(answer.node_endpoints))
        return True

    def failed(self, node_id: int) -> None:
        """No response will come."""
        del self._in_flight[node_id]
        session = self._session(node_id)
        session.on_lost()
        for place in session.places:
            state = self._subscriptions.find(place)
            if state is not None:
                state.forget_replica()

    def closing_requests(self) -> dict[int, SessionRequest]:
        """Requests by known broker that close its session."""
        nodes = self._cluster.snapshot.nodes
        return {
            node_id: session.closing_request()
            for node_id, session in self._sessions.items()
            if node_id in nodes
        }

    def _can_reach(self, node_id: int, is_available: Callable[[int], bool]) -> bool:
        """No connection can be made to a leader that is no longer among the brokers, so none will
        fail and trigger a metadata request; request metadata here instead.
        """
        if is_available(node_id):
            return True
        if node_id not in self._cluster.snapshot.nodes:
            self._cluster.request_update()
        return False

    def _read_from(self, place: TopicPartition, now_ms: int) -> int | None:
        """The preferred replica, or the leader; None if there is no leader."""
        state = self._subscriptions.of(place)
        position = state.valid_position
        if position is None or position.leader.node_id == NO_LEADER:
            self._cluster.request_update()
            return None
        nearer = state.preferred_replica(now_ms)
        if nearer is None:
            return position.leader.node_id
        if nearer in self._cluster.snapshot.nodes:
            return nearer
        self._cluster.request_update()
        state.forget_replica()
        return position.leader.node_id

    def _asked(self, place: TopicPartition) -> Asked:
        position = self._subscriptions.of(place).valid_position
        if position is None:
            raise ValueError(f"{place} has no valid position")
        topic = self._cluster.snapshot.topics.get(place.topic)
        topic_id = ZERO_UUID if topic is None else topic.topic_id
        return Asked(topic_id, position.offset, position.leader.epoch)

    def _session(self, node_id: int) -> FetchSession:
        return self._sessions.setdefault(node_id, FetchSession())
