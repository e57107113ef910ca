"""Sends the markers of decided transactions to the leaders of their partitions, until each has one
(Kafka's TransactionMarkerChannelManager).

It goes over the network even where this broker leads the partition, so that there is one path to
reason about. Who leads is looked up at every attempt. A topic that is deleted needs no marker. Of
one that the metadata cache does not know ZooKeeper is asked: the controller sets aside partitions
whose states make no sense, all of a topic's too, and names them again once those are mended.
"""

from __future__ import annotations

from logquake.node.coordinators.transactions.deleted_topics import DeletedTopics
from logquake.node.coordinators.transactions.marker_channel import MarkerChannel
from logquake.node.coordinators.transactions.marker_requests import (
    Decision,
    Markers,
    errors_by_producer,
    outcome,
)
from logquake.node.coordinators.transactions.states import Partitions
from logquake.node.journal_events import TRANSACTION_MARKERS_FENCED
from logquake.node.metadata.cache import MetadataCache
from logquake.seams.journal import Event, Journal
from logquake.seams.network import Disconnected, Endpoint, Network
from logquake.seams.scheduler import Scheduler
from logquake.wire.messages.transaction_commit import WriteTxnMarkersResponse
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition

_RETRY_MS = 20  # Kafka asks again as fast as it is refused
_UNKNOWN_RETRY_MS = 1_000  # until ZooKeeper is asked again


class MarkerSender:
    def __init__(
        self,
        broker_id: int,
        metadata: MetadataCache,
        deleted_topics: DeletedTopics,
        network: Network,
        scheduler: Scheduler,
        journal: Journal,
    ) -> None:
        self._client_id = f"broker-{broker_id}-txn-marker-sender"
        self._metadata = metadata
        self._deleted_topics = deleted_topics
        self._network = network
        self._scheduler = scheduler
        self._journal = journal
        self._channels: dict[int, MarkerChannel] = {}
        self._retries: Markers = {}

    def send(self, decision: Decision) -> None:
        """Markers for every partition that has none yet."""
        partitions = decision.transaction.state.partitions
        if partitions:
            self._route(decision, partitions)
        else:
            decision.on_marked()

    def _route(self, decision: Decision, partitions: Partitions) -> None:
        unknown, leaderless = set(), set()
        by_leader: dict[Endpoint, set[TopicPartition]] = {}
        for each in sorted(partitions):
            state = self._metadata.partition(*each)
            if not self._metadata.has_topic(each.topic):
                unknown.add(each)
            elif state is not None and (endpoint := self._metadata.endpoint(state.leader)):
                by_leader.setdefault(endpoint, set()).add(each)
            else:
                leaderless.add(each)
        for endpoint, led in by_leader.items():
            self._channel(endpoint).add(decision, frozenset(led))
        self._retry_later(decision, frozenset(leaderless))
        self._leave_out_deleted(decision, frozenset(unknown))

    def _leave_out_deleted(self, decision: Decision, unknown: Partitions) -> None:
        if not unknown:
            return

        def found(deleted: frozenset[str]) -> None:
            if decision.holds:
                needless = frozenset(each for each in unknown if each.topic in deleted)
                self._note_marked(decision, needless)

        def again() -> None:
            if decision.holds:
                self._route(decision, unknown & decision.transaction.state.partitions)

        self._scheduler.call_later(_UNKNOWN_RETRY_MS, again)
        self._deleted_topics.find({each.topic for each in unknown}, found)

    def _channel(self, endpoint: Endpoint) -> MarkerChannel:
        known = self._channels.get(endpoint.broker_id)
        if known is not None and known.endpoint == endpoint:
            return known
        channel = self._network.channel(endpoint, self._client_id)
        self._channels[endpoint.broker_id] = MarkerChannel(endpoint, channel, self._on_answer)
        if known is not None:
            for decision, partitions in known.close().items():
                self._retry_later(decision, partitions)
        return self._channels[endpoint.broker_id]

    def _on_answer(self, markers: Markers, answer: Message | Disconnected) -> None:
        written = answer if isinstance(answer, WriteTxnMarkersResponse) else None
        errors = errors_by_producer(written) if written is not None else {}
        for decision, partitions in markers.items():
            if not decision.holds:
                continue
            found = outcome(partitions, errors.get(decision.transaction.producer.id, {}))
            self._retry_later(decision, found.failed)
            self._note_fenced(decision, found.fenced)
            self._note_marked(decision, found.marked)

    def _note_marked(self, decision: Decision, partitions: Partitions) -> None:
        if not partitions:
            return
        decision.transaction.marked(partitions)
        if not decision.transaction.state.partitions:
            decision.on_marked()

    def _note_fenced(self, decision: Decision, partitions: Partitions) -> None:
        """They never get one of this decision: it stays open until another term looks at it."""
        if partitions:
            named = ", ".join(map(str, sorted(partitions)))
            why = f"of a later epoch: {named}"
            subject = decision.transaction.transactional_id
            self._journal.record(Event(TRANSACTION_MARKERS_FENCED, subject, why))

    def _retry_later(self, decision: Decision, partitions: Partitions) -> None:
        if not partitions:
            return
        if not self._retries:
            self._scheduler.call_later(_RETRY_MS, self._retry)
        self._retries[decision] = self._retries.get(decision, frozenset()) | partitions

    def _retry(self) -> None:
        retries, self._retries = self._retries, {}
        for decision, partitions in retries.items():
            if decision.holds:
                self._route(decision, partitions)
