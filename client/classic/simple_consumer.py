"""Requests to one broker, made by hand (kafka.consumer.SimpleConsumer).

The program itself finds the leader of a partition, and the next one when leadership moves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from threading import Lock
from types import TracebackType
from typing import Self, TypeVar

from logquake.client.classic import offset_requests, requests, topic_metadata
from logquake.client.classic.channel import Channel, Dial, dial_as
from logquake.client.classic.offset_requests import Committed, KeptIn
from logquake.client.classic.requests import NOTHING, Fetched, FetchFrom
from logquake.client.classic.topic_metadata import TopicMetadata
from logquake.client.classic.versions import Release
from logquake.client.errors import ConnectionLostError, MalformedResponseError, RequestTimedOutError
from logquake.client.settings.addresses import Address
from logquake.wire.topic_partition import TopicPartition

T = TypeVar("T")

DEFAULT_FETCH_BYTES = 1024 * 1024  # ConsumerConfig.FetchSize
DEFAULT_TIMEOUT_MS = 30_000  # ConsumerConfig.SocketTimeout
_LOST = (ConnectionLostError, RequestTimedOutError, MalformedResponseError)


class SimpleConsumer:
    """Threads may share it, and wait for one another. Each call is retried once, over another
    connection, and raises ConnectionLostError, RequestTimedOutError, MalformedResponseError, or
    ClosedError.
    """

    def __init__(
        self,
        host: str,
        port: int,
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        client_id: str = "",
        *,
        release: Release = Release.V0_8_2,
        dial: Dial | None = None,
    ) -> None:
        """``timeout_ms`` is per call: Kafka's soTimeout."""
        self._channel = (dial or dial_as(release))(Address(host, port), client_id, timeout_ms)
        self._lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def fetch(
        self,
        topic: str,
        partition: int,
        offset: int,
        fetch_size: int = DEFAULT_FETCH_BYTES,
        *,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
    ) -> Fetched:
        """Messages from that offset on; may include earlier ones of the same wrapper."""
        place = TopicPartition(topic, partition)
        asked = {place: FetchFrom(offset, fetch_size)}
        told = self.multifetch(asked, max_wait_ms=max_wait_ms, min_bytes=min_bytes)
        return told.get(place, NOTHING)

    def multifetch(
        self,
        asked: Mapping[TopicPartition, FetchFrom],
        *,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
    ) -> dict[TopicPartition, Fetched]:
        """Several partitions in one request. A broker that throttles us returns none."""
        return self._ask(
            lambda channel: requests.fetch(
                channel, asked, max_wait_ms=max_wait_ms, min_bytes=min_bytes
            )
        )

    def get_offsets_before(
        self, topic: str, partition: int, time_ms: int, max_num_offsets: int
    ) -> list[int]:
        """``getOffsetsBefore``: at most that many base offsets, newest first, of segments written
        before that time. EARLIEST_TIMESTAMP and LATEST_TIMESTAMP mean the ends of the log. Raises
        BrokerError too.
        """
        place = TopicPartition(topic, partition)
        return self._ask(
            lambda channel: requests.offsets_before(channel, place, time_ms, max_num_offsets)
        )

    def earliest_or_latest_offset(self, topic: str, partition: int, time_ms: int) -> int:
        """``earliestOrLatestOffset``. Raises BrokerError too."""
        found = self.get_offsets_before(topic, partition, time_ms, 1)
        if not found:
            raise MalformedResponseError(f"no offset of {topic}-{partition} was told")
        return found[0]

    def commit_offsets(
        self, group: str, offsets: Mapping[TopicPartition, int], kept_in: KeptIn = KeptIn.KAFKA
    ) -> dict[TopicPartition, int]:
        """``commitOffsets``: error codes. For offsets in Kafka, ask the group's coordinator."""
        return self._ask(
            lambda channel: offset_requests.commit_offsets(channel, group, offsets, kept_in)
        )

    def fetch_offsets(
        self, group: str, places: Collection[TopicPartition], kept_in: KeptIn = KeptIn.KAFKA
    ) -> dict[TopicPartition, Committed]:
        """``fetchOffsets``."""
        return self._ask(
            lambda channel: offset_requests.fetch_offsets(channel, group, places, kept_in)
        )

    def topic_metadata(self, *topics: str) -> list[TopicMetadata]:
        """``send(TopicMetadataRequest)``: all topics by default."""
        return self._ask(lambda channel: topic_metadata.ask_for_topics(channel, topics))

    def coordinator(self, group: str) -> Address:
        """``send(ConsumerMetadataRequest)``: the coordinator that keeps the group's offsets.

        Raises BrokerError too.
        """
        return self._ask(lambda channel: requests.coordinator(channel, group))

    def interrupt(self) -> None:
        """From any thread: waiting calls raise ClosedError."""
        self._channel.interrupt()

    def close(self) -> None:
        self._channel.interrupt()
        with self._lock:
            self._channel.disconnect()

    def _ask(self, ask: Callable[[Channel], T]) -> T:
        with self._lock:
            try:
                return ask(self._channel)
            except _LOST:
                return ask(self._channel)
