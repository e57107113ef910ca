"""What a client knows of its cluster, and when to refresh it (org.apache.kafka.clients.Metadata).

It is requested on demand, when a topic is used for the first time, and when it is old. A leader
epoch is never replaced by an older one, which only a stale broker reports, unless the topic's id
shows that it is another topic (KIP-320, KIP-516).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

from logquake.client.network.backoff import ExponentialBackoff
from logquake.client.network.effects import Node
from logquake.client.network.snapshot import (
    Snapshot,
    TopicInfo,
    nodes_told,
    topic_told,
)
from logquake.client.network.topics_in_use import TopicsInUse, WantedTopics
from logquake.wire.messages.metadata import MetadataResponse
from logquake.wire.sentinels import NO_CONTROLLER, NO_LEADER, NO_LEADER_EPOCH
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.uuids import ZERO_UUID


@dataclass(frozen=True, slots=True)
class MetadataSettings:
    # metadata.max.age.ms: the longest it takes to discover new brokers and partitions.
    max_age_ms: int = 300_000
    # metadata.max.idle.ms: how long a topic's metadata is requested after its last use.
    max_idle_ms: int = 300_000
    # retry.backoff.ms and its .max: between a response, or failure, and the next request.
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    # metadata.recovery.strategy=rebootstrap: if no known broker can be reached, go back to the
    # configured ones (KIP-899).
    rebootstraps: bool = True
    # metadata.recovery.rebootstrap.trigger.ms: also if a wanted response has not come for that
    # long (KIP-1102), since a connection to a dead address may never fail by itself.
    rebootstrap_trigger_ms: int = 300_000
    # allow.auto.create.topics: brokers may create a requested topic that does not exist.
    creates_topics: bool = False


class Question(NamedTuple):
    """``is_partial``: only new topics. ``number`` rises with each request for new topics.
    ``topics`` None means all.
    """

    topics: list[str] | None
    is_partial: bool
    number: int


class Metadata:
    """``addresses`` are bootstrap.servers; their nodes have the ids -1, -2 and so on. By default
    the ``topics`` are those in use.
    """

    def __init__(
        self,
        settings: MetadataSettings,
        addresses: Sequence[tuple[str, int]],
        random: Random,
        topics: WantedTopics | None = None,
    ) -> None:
        self.bootstrap = {
            -index: Node(-index, host, port) for index, (host, port) in enumerate(addresses, 1)
        }
        self.snapshot = Snapshot(self.bootstrap)
        self.updates = 0  # how many responses were taken in
        self.updated_ms = 0  # when the last one about all topics came
        self.failures = 0  # since the last response
        self._settings = settings
        self._backoff = ExponentialBackoff(
            settings.retry_backoff_ms, settings.retry_backoff_max_ms, random
        )
        self._topics = topics or TopicsInUse(settings.max_idle_ms)
        self._epochs: dict[TopicPartition, int] = {}  # the highest seen
        self._wants_all = False
        self._wants_new = False
        self._number = 0
        self._expires_ms = 0
        self._not_before_ms = 0
        self._same_answers = 0  # in a row
        self._same_until_ms = 0

    # The brokers

    def nodes(self) -> Sequence[Node]:
        return tuple(self.snapshot.nodes.values())

    def node(self, node_id: int) -> Node | None:
        return self.snapshot.nodes.get(node_id) or self.bootstrap.get(node_id)

    def rebootstrap(self) -> None:
        """No known broker can be reached, or responds. The topics' partitions stay known, so that a
        producer still accepts records for them.
        """
        topics = {name: info.without_leaders() for name, info in self.snapshot.topics.items()}
        self.snapshot = Snapshot(self.bootstrap, topics)
        self._wants_all = True

    def controller_moved(self) -> None:
        """The supposed controller says that it is not."""
        self.snapshot = replace(self.snapshot, controller_id=NO_CONTROLLER)
        self.request_update(after_progress=True)

    # When to request it, and what

    def use(self, topic: str, now_ms: int) -> bool:
        """Returns whether the topic is new, and will be requested."""
        is_new = self._topics.use(topic, now_ms)
        if is_new:
            self.request_update_for_new_topics()
        return is_new

    def request_update_for_new_topics(self) -> None:
        """At once, without a back-off after the last response."""
        self._wants_new = True
        self._number += 1
        self._not_before_ms = self._same_answers = self._same_until_ms = 0

    def request_update(self, *, after_progress: bool = False) -> None:
        """With ``after_progress``, identical responses before do not delay the next request."""
        self._wants_all = True
        if after_progress:
            self._same_answers = self._same_until_ms = 0

    @property
    def is_update_wanted(self) -> bool:
        """Whether an update was requested, and no response has come since."""
        return self._wants_all or self._wants_new

    def update_delay_ms(self, now_ms: int) -> int:
        """How long until the next request, 0 for now."""
        expires_ms = self._expires_ms
        due_ms = 0 if self._wants_all or self._wants_new else expires_ms
        if due_ms < self._not_before_ms:
            due_ms = self._not_before_ms
        if due_ms < self._same_until_ms and expires_ms > now_ms:
            due_ms = self._same_until_ms
        return due_ms - now_ms if due_ms > now_ms else 0

    def question(self, now_ms: int) -> Question:
        self._topics.forget_idle(now_ms)
        new = None if self._wants_all or self._expires_ms <= now_ms else self._topics.new()
        topics = self._topics.all(now_ms) if new is None else new
        return Question(topics, new is not None, self._number)

    # The response

    def update(
        self, question: Question, answer: MetadataResponse, version: int, now_ms: int
    ) -> None:
        if not answer.brokers:  # from a broker that has just started: count it as a failure
            self.fail(now_ms)
            return
        self._wants_new = question.number < self._number
        if not question.is_partial:
            self._wants_all = False
            self.updated_ms = now_ms
            self._expires_ms = now_ms + self._settings.max_age_ms
        self.updates += 1
        self.failures = 0
        self._same_answers += 1
        self._take_in(answer, version, now_ms, keep_others=question.is_partial)
        self._not_before_ms = now_ms + self._backoff.after(0)
        same = self._same_answers
        self._same_until_ms = now_ms + self._backoff.after(same - 1) if same else 0
        if self._wants_new:  # since the request: in Kafka it waits for retry.backoff.ms
            self.request_update_for_new_topics()

    def leaders_told(
        self, leaders: Mapping[TopicPartition, tuple[int, int]], nodes: Iterable[Node]
    ) -> None:
        """Leaders' ids and epochs, and their addresses, from a Produce or Fetch response (KIP-951).

        Epochs that are not newer than the known ones are ignored, and so are leaders whose address
        is unknown.
        """
        known = {**self.snapshot.nodes, **{node.id: node for node in nodes}}
        moved: dict[str, dict[int, tuple[int, int]]] = {}
        for place, (leader, epoch) in leaders.items():
            info = self.snapshot.partition(place)
            if info is not None and leader in known and epoch > info.leader_epoch:
                moved.setdefault(place.topic, {})[place.partition] = (leader, epoch)
                self._epochs[place] = epoch
        if not moved:
            return
        self.snapshot = replace(self.snapshot, nodes=known)
        for topic, of_topic in moved.items():
            self._lead(topic, of_topic)

    def saw_epoch(self, place: TopicPartition, epoch: int) -> None:
        """The epoch in which a record was written. A leader with an older epoch gets no more
        requests: it may not know of its successor, and lacks later records.
        """
        if epoch > self._epochs.get(place, epoch):
            self._epochs[place] = epoch
            self._lead(place.topic, {place.partition: (NO_LEADER, epoch)})
            self.request_update()

    def fail(self, now_ms: int) -> None:
        self._not_before_ms = now_ms + self._backoff.after(self.failures)
        self.failures += 1
        self._same_answers = self._same_until_ms = 0

    def _lead(self, topic: str, leaders: Mapping[int, tuple[int, int]]) -> None:
        """Replace the leaders of known partitions."""
        old = self.snapshot.topics.get(topic)
        if old is None:
            return
        partitions = dict(old.partitions)
        for index in leaders.keys() & partitions.keys():
            leader, epoch = leaders[index]
            partitions[index] = replace(partitions[index], leader=leader, leader_epoch=epoch)
        self.snapshot = self.snapshot.with_topics({topic: replace(old, partitions=partitions)})

    def _take_in(
        self, answer: MetadataResponse, version: int, now_ms: int, *, keep_others: bool
    ) -> None:
        told: dict[str, TopicInfo] = {}
        for topic in answer.topics:
            name = topic.name or ""
            self._topics.answered(name)
            if self._topics.is_in_use(name, now_ms, topic.is_internal):
                info = topic_told(topic, version)
                told[name] = self._newest(name, info)
                if info.is_stale:
                    self.request_update()
        kept = self.snapshot.topics if keep_others else {}
        in_use = {
            name: info
            for name, info in kept.items()
            if self._topics.is_in_use(name, now_ms, info.is_internal)
        }
        self.snapshot = Snapshot(nodes_told(answer), in_use, answer.controller_id).with_topics(told)
        self._epochs = {
            place: epoch
            for place, epoch in self._epochs.items()
            if self._topics.is_in_use(place.topic, now_ms)
        }

    def _newest(self, name: str, told: TopicInfo) -> TopicInfo:
        """The response, except partitions for which a newer epoch is known."""
        known = self.snapshot.topics.get(name)
        known_id = known.topic_id if known else ZERO_UUID
        is_another = told.topic_id not in (ZERO_UUID, known_id)
        partitions = dict(told.partitions)
        for index, info in told.partitions.items():
            place = TopicPartition(name, index)
            seen = self._epochs.get(place)
            if info.leader_epoch == NO_LEADER_EPOCH:
                self._epochs.pop(place, None)
                self._same_answers = 0
            elif seen is None or is_another or info.leader_epoch >= seen:
                if seen is None or is_another or info.leader_epoch > seen:
                    self._same_answers = 0
                self._epochs[place] = info.leader_epoch
            elif known and known.knows_leader(index):
                partitions[index] = known.partitions[index]
            else:  # the leader of that epoch was forgotten, as after a re-bootstrap
                partitions[index] = replace(info, leader=NO_LEADER, leader_epoch=seen)
                self.request_update()
        return replace(told, partitions=partitions)
