"""Streams, from fetchers to the program (KafkaStream, ConsumerIterator, PartitionTopicInfo)."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterator
from threading import Condition, Event
from typing import Generic, NamedTuple, Self, TypeVar

from logquake.client.classic.errors import ConsumerTimeoutError, MessageTooLargeError
from logquake.client.classic.messages import MessageAndMetadata, MessageAndOffset, MessageSet
from logquake.client.classic.serializer import Decoder
from logquake.client.errors import ClientError, CorruptRecordError
from logquake.wire.errors import RecordError
from logquake.wire.topic_partition import TopicPartition

_log = logging.getLogger(__name__)

K = TypeVar("K")
V = TypeVar("V")

_LOOK_AGAIN_S = 0.2


class PartitionTopicInfo:
    """The offsets of an owned partition. ``consumed_offset`` is the next one for the program,
    ``fetched_offset`` the next one to fetch; both are negative until the start is known.
    """

    def __init__(self, place: TopicPartition, offset: int, buffer: StreamBuffer) -> None:
        self.place = place
        self.consumed_offset = offset
        self.fetched_offset = offset
        self.buffer = buffer

    def begin_at(self, offset: int) -> None:
        """Reset, because there was no offset, or it was out of range."""
        self.fetched_offset = offset
        self.buffer.begin_at(self, offset)


class Chunk(NamedTuple):
    """FetchedDataChunk: the result of one fetch for one partition."""

    info: PartitionTopicInfo
    fetch_offset: int
    messages: MessageSet


class Beginning(NamedTuple):
    """Marks a reset: the partition's next chunk does not continue the one before."""

    info: PartitionTopicInfo
    offset: int


class StreamBuffer:
    """The buffer of one stream: fetched chunks, and the one that messages are taken from.

    Any thread may put, clear and end; only one takes.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._changed = Condition()
        self._chunks: deque[Chunk | Beginning] = deque()
        self._current: tuple[Chunk, Iterator[MessageAndOffset]] | None = None
        self._failure: ClientError | None = None
        self._has_ended = False

    def __len__(self) -> int:
        return len(self._chunks)

    def put(self, chunk: Chunk, stopping: Event) -> bool:
        """Wait for room, and add it; False if stopped before, or if the stream has failed."""
        with self._changed:
            while not self._is_over(stopping):
                if len(self._chunks) < self._capacity:
                    self._chunks.append(chunk)
                    self._changed.notify_all()
                    return True
                self._changed.wait(_LOOK_AGAIN_S)
            return False

    @property
    def has_failed(self) -> bool:
        """Whether the stream has failed; then nothing is taken until it is cleared."""
        return self._failure is not None

    def _is_over(self, stopping: Event) -> bool:
        return stopping.is_set() or self._has_ended or self.has_failed

    def begin_at(self, info: PartitionTopicInfo, offset: int) -> None:
        """Reset a partition's offset, after its earlier chunks were taken normally."""
        with self._changed:
            if self._holds(info):
                self._chunks.append(Beginning(info, offset))
                self._changed.notify_all()
            else:
                info.consumed_offset = offset

    def take(self, timeout_ms: int) -> tuple[TopicPartition, MessageAndOffset] | None:
        """The next message, which then counts as consumed; None at the end. A negative timeout
        waits for ever.

        Raises ConsumerTimeoutError; MessageTooLargeError and CorruptRecordError on this and each
        later call, until the buffer is cleared.
        """
        deadline_s = None if timeout_ms < 0 else time.monotonic() + timeout_ms / 1000
        with self._changed:
            while True:
                if self._failure is not None:
                    raise self._failure
                found = self._next_of_current()
                if found is not None:
                    return found
                if self._chunks:
                    self._begin(self._chunks.popleft())
                    self._changed.notify_all()
                elif self._has_ended:
                    return None
                else:
                    self._wait(deadline_s)

    def clear(self) -> None:
        """Drop everything not taken yet, including the rest of the current chunk."""
        with self._changed:
            self._clear()

    def end(self) -> None:
        """End the stream: take() returns None from now on."""
        with self._changed:
            self._has_ended = True
            self._clear()

    def _clear(self) -> None:
        self._chunks.clear()
        self._current = self._failure = None
        self._changed.notify_all()

    def _wait(self, deadline_s: float | None) -> None:
        """In short waits, so that Ctrl-C is noticed."""
        left_s = _LOOK_AGAIN_S if deadline_s is None else deadline_s - time.monotonic()
        if left_s <= 0:
            raise ConsumerTimeoutError("no message came in time (consumer.timeout.ms)")
        self._changed.wait(min(left_s, _LOOK_AGAIN_S))

    def _holds(self, info: PartitionTopicInfo) -> bool:
        current = [] if self._current is None else [self._current[0]]
        return any(each.info is info for each in (*current, *self._chunks))

    def _begin(self, chunk: Chunk | Beginning) -> None:
        info = chunk.info
        if isinstance(chunk, Beginning):
            info.consumed_offset = chunk.offset
            return
        if info.consumed_offset < chunk.fetch_offset:
            _log.error(
                "%s is consumed up to %d, and fetched from %d on: messages may be lost",
                info.place,
                info.consumed_offset,
                chunk.fetch_offset,
            )
            info.consumed_offset = chunk.fetch_offset
        if chunk.messages.next_offset is None:
            self._failure = MessageTooLargeError(info.place, chunk.fetch_offset)
        else:
            self._current = chunk, iter(chunk.messages)

    def _next_of_current(self) -> tuple[TopicPartition, MessageAndOffset] | None:
        """Skips messages of a wrapper that were consumed before."""
        if self._current is None:
            return None
        chunk, messages = self._current
        info = chunk.info
        try:
            for each in messages:
                if each.offset >= info.consumed_offset:
                    info.consumed_offset = each.next_offset
                    return info.place, each
        except RecordError as error:
            self._failure = CorruptRecordError(info.place, info.consumed_offset, str(error))
            raise self._failure from error
        self._current = None
        return None


class KafkaStream(Generic[K, V]):
    """Messages as they arrive; it ends when its connector is shut down.

    Iterating raises ConsumerTimeoutError after consumer.timeout.ms, and may then continue;
    MessageTooLargeError, CorruptRecordError. For one thread.
    """

    def __init__(
        self,
        buffer: StreamBuffer,
        timeout_ms: int,
        key_decoder: Decoder[K],
        value_decoder: Decoder[V],
    ) -> None:
        self._buffer = buffer
        self._timeout_ms = timeout_ms
        self._key_decoder = key_decoder
        self._value_decoder = value_decoder

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> MessageAndMetadata[K, V]:
        taken = self._buffer.take(self._timeout_ms)
        if taken is None:
            raise StopIteration
        (topic, partition), (message, offset) = taken
        return MessageAndMetadata(
            topic, partition, offset, message, self._key_decoder, self._value_decoder
        )
