"""A fetch session with one broker, the consumer's side (KIP-227, Kafka's FetchSessionHandler).

A full request names all partitions; if the broker keeps a session, later ones name only partitions
that are new, have moved, or are to be forgotten. Topics go by id if all have one, otherwise by name
(KIP-516).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from logquake.client.consumer.settings import FetchSettings
from logquake.wire.errors import ErrorCode
from logquake.wire.fetch_sessions import FetchMetadata
from logquake.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
)
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.uuids import ZERO_UUID

LAST_BY_NAME = 12  # later versions name topics by their ids


class Asked(NamedTuple):
    """What a request wants of one partition; ``topic_id`` is ZERO_UUID if unknown."""

    topic_id: bytes
    offset: int
    leader_epoch: int


class Forgotten(NamedTuple):
    topic_id: bytes
    place: TopicPartition


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """``named`` are in the order in which the broker is to serve them; topics of ``replaced`` were
    deleted and created again.
    """

    metadata: FetchMetadata
    named: Mapping[TopicPartition, Asked]
    by_id: bool
    # The session's partitions after this request: a response may contain any of them.
    session: Mapping[TopicPartition, Asked]
    removed: Collection[Forgotten] = field(default_factory=tuple)
    replaced: Collection[Forgotten] = field(default_factory=tuple)

    @property
    def at_most(self) -> int | None:
        """The last version that can express the request; None for any."""
        return None if self.by_id else LAST_BY_NAME

    def message(self, settings: FetchSettings, version: int) -> FetchRequest:
        forget = list(self.removed)
        if version > LAST_BY_NAME:  # by name, the new topic would be forgotten with the old one
            forget += self.replaced
        return FetchRequest(
            max_wait_ms=settings.max_wait_ms,
            min_bytes=settings.min_bytes,
            max_bytes=settings.max_bytes,
            isolation_level=settings.isolation,
            session_id=self.metadata.session_id,
            session_epoch=self.metadata.epoch,
            topics=_topics(self.named, settings.partition_max_bytes),
            forgotten_topics_data=[
                ForgottenTopic(topic=place.topic, topic_id=topic_id, partitions=[place.partition])
                for topic_id, place in forget
            ],
            rack_id=settings.rack,
        )

    def session_is_forgotten(self, answer: FetchResponse) -> bool:
        """Only an incremental request can be answered so, unless the broker is dishonest."""
        is_unknown = answer.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        return is_unknown and not self.metadata.is_full


def _topics(named: Mapping[TopicPartition, Asked], max_bytes: int) -> list[FetchTopic]:
    """Only adjacent partitions of a topic are grouped, since brokers serve them in order."""
    topics: list[FetchTopic] = []
    for (topic, partition), asked in named.items():
        if not topics or (topics[-1].topic, topics[-1].topic_id) != (topic, asked.topic_id):
            topics.append(FetchTopic(topic=topic, topic_id=asked.topic_id, partitions=[]))
        topics[-1].partitions.append(
            FetchPartition(
                partition=partition,
                current_leader_epoch=asked.leader_epoch,
                fetch_offset=asked.offset,
                partition_max_bytes=max_bytes,
            )
        )
    return topics


class FetchSession:
    def __init__(self) -> None:
        self._metadata = FetchMetadata()
        self._held: dict[TopicPartition, Asked] = {}
        self._names: dict[bytes, str] = {}  # of the session's topics, if they go by id

    @property
    def places(self) -> Iterable[TopicPartition]:
        return self._held.keys()

    def next_request(self, wanted: Mapping[TopicPartition, Asked]) -> SessionRequest:
        """``wanted`` is in the order in which the broker is to serve the partitions."""
        before, self._held = self._held, dict(wanted)
        by_id = ZERO_UUID not in {asked.topic_id for asked in wanted.values()}
        if self._metadata.is_full:
            named, removed, replaced = dict(wanted), [], []
        else:
            named = {place: asked for place, asked in wanted.items() if before.get(place) != asked}
            removed = [
                Forgotten(asked.topic_id, place)
                for place, asked in before.items()
                if place not in wanted
            ]
            replaced = [
                Forgotten(asked.topic_id, place)
                for place, asked in before.items()
                if place in wanted and _is_another(asked.topic_id, wanted[place].topic_id)
            ]
            by_id = by_id and ZERO_UUID not in {one.topic_id for one in removed}
        self._names = (
            {asked.topic_id: place.topic for place, asked in wanted.items()} if by_id else {}
        )
        return SessionRequest(self._metadata, named, by_id, dict(wanted), removed, replaced)

    def on_answer(
        self, answer: FetchResponse, version: int
    ) -> Mapping[TopicPartition, PartitionData] | None:
        """Advance the session. Returns the response's partitions, None if it is unusable."""
        error = ErrorCode.of_peer(answer.error_code)
        if error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
            self._metadata = FetchMetadata()
            return None
        if error is not ErrorCode.NONE:
            self.on_lost()
            return None
        told = self._told(answer, version)
        if told is None or not self._is_plausible(told):
            self._metadata = FetchMetadata() if self._metadata.is_full else self._metadata.lost()
            return None
        self._metadata = self._metadata.answered(answer.session_id)
        return told

    def on_lost(self) -> None:
        """Without a usable response, the next request replaces the session, if there is one."""
        self._metadata = self._metadata.lost()

    def closing_request(self) -> SessionRequest:
        """A request to close the session. No other may follow."""
        self._metadata = self._metadata.closing()
        return self.next_request({})

    def _is_plausible(self, told: Mapping[TopicPartition, PartitionData]) -> bool:
        """A full request must be answered with all partitions. A throttled response may have none,
        which is no answer either (KIP-219).
        """
        if self._metadata.is_full:
            return told.keys() == self._held.keys()
        return told.keys() <= self._held.keys()

    def _told(
        self, answer: FetchResponse, version: int
    ) -> Mapping[TopicPartition, PartitionData] | None:
        """None if a topic's id is not one of the session's."""
        told: dict[TopicPartition, PartitionData] = {}
        for topic in answer.responses:
            name = self._name(topic, version)
            if name is None:
                return None
            told |= {TopicPartition(name, one.partition_index): one for one in topic.partitions}
        return told

    def _name(self, topic: FetchableTopicResponse, version: int) -> str | None:
        return topic.topic if version <= LAST_BY_NAME else self._names.get(topic.topic_id)


def _is_another(before: bytes, now: bytes) -> bool:
    return before != now and ZERO_UUID not in (before, now)
