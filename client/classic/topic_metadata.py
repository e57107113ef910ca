"""The leaders of partitions, by TopicMetadataRequest (kafka.api.TopicMetadata, ClientUtils).

If brokers create topics automatically, a request for a missing topic creates it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from random import Random
from threading import Lock

from logquake.client.classic.channel import Channel, Dial
from logquake.client.errors import ClientError, ClosedError, ConnectionLostError
from logquake.client.settings.addresses import Address
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)


@dataclass(frozen=True, slots=True)
class Broker:
    id: int
    address: Address


@dataclass(frozen=True, slots=True)
class PartitionMetadata:
    """``leader`` is None if the partition has none at the moment."""

    partition: int
    leader: Broker | None


@dataclass(frozen=True, slots=True)
class TopicMetadata:
    """``partitions`` are sorted."""

    topic: str
    error_code: int
    partitions: tuple[PartitionMetadata, ...]


def ask_for_topics(channel: Channel, topics: Collection[str]) -> list[TopicMetadata]:
    """All topics if none is named. Raises as Channel.ask."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in sorted(topics)])
    answer = channel.ask(request, MetadataResponse)
    brokers = {
        each.node_id: Broker(each.node_id, Address(each.host, each.port)) for each in answer.brokers
    }
    return [_of_topic(topic, brokers) for topic in answer.topics]


def _of_topic(topic: MetadataResponseTopic, brokers: dict[int, Broker]) -> TopicMetadata:
    in_order = sorted(topic.partitions, key=lambda each: each.partition_index)
    partitions = tuple(
        PartitionMetadata(each.partition_index, brokers.get(each.leader_id)) for each in in_order
    )
    return TopicMetadata(topic.name or "", topic.error_code, partitions)


class MetadataAsker:
    """Asks brokers one after the other, each over a new channel, until one responds
    (ClientUtils.fetchTopicMetadata). For one thread; any thread may interrupt it.
    """

    def __init__(self, dial: Dial, client_id: str, timeout_ms: int, random: Random) -> None:
        self._dial = dial
        self._client_id = client_id
        self._timeout_ms = timeout_ms
        self._random = random
        self._lock = Lock()
        self._asked: Channel | None = None
        self._is_interrupted = False

    def ask(self, brokers: Sequence[Address], topics: Collection[str]) -> list[TopicMetadata]:
        """Raises the last broker's error, or ConnectionLostError without any broker; ClosedError
        once it is interrupted.
        """
        failure: ClientError = ConnectionLostError("there is no broker to ask for metadata")
        for address in self._random.sample(brokers, len(brokers)):
            channel = self._dialled(address)
            try:
                return ask_for_topics(channel, topics)
            except ClosedError:
                raise
            except ClientError as error:
                failure = error
            finally:
                self._hang_up(channel)
        raise failure

    def interrupt(self) -> None:
        """From any thread, for good."""
        with self._lock:
            self._is_interrupted = True
            if self._asked is not None:
                self._asked.interrupt()

    def _dialled(self, address: Address) -> Channel:
        with self._lock:
            if self._is_interrupted:
                raise ClosedError("nobody asks for metadata any more")
            channel = self._asked = self._dial(address, self._client_id, self._timeout_ms)
        return channel

    def _hang_up(self, channel: Channel) -> None:
        with self._lock:
            self._asked = None
        channel.disconnect()
