"""What fetchers put and a program takes (KafkaStream, ConsumerIterator, PartitionTopicInfo)."""

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
    """How far an owned partition is. ``consumed_offset`` is of what the program takes next,
    ``fetched_offset`` of what is fetched next; both below zero until it is known where to begin.
    """

    def __init__(self, place: TopicPartition, offset: int, buffer: StreamBuffer) -> None:
        self.place = place
        self.consumed_offset = offset
        self.fetched_offset = offset
        self.buffer = buffer

    def begin_at(self, offset: int) -> None:
        """Reset, where there was no offset or what it named is gone."""
        self.fetched_offset = offset
        self.buffer.begin_at(self, offset)


class Chunk(NamedTuple):
    """FetchedDataChunk: what one fetch brought of one partition."""

    info: PartitionTopicInfo
    fetch_offset: int
    messages: MessageSet


class Beginning(NamedTuple):
    """What comes behind it of a partition begins there, and not where what was before it ends."""

    info: PartitionTopicInfo
    offset: int


class StreamBuffer:
    """Of one stream: chunks that were fetched, and the one that is being taken.

    Any thread may put, clear and end; one takes.
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
        """Once there is room; false if it has to stop before, or nothing more is taken."""
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
        """Nothing more is taken, until it is cleared."""
        return self._failure is not None

    def _is_over(self, stopping: Event) -> bool:
        return stopping.is_set() or self._has_ended or self.has_failed

    def begin_at(self, info: PartitionTopicInfo, offset: int) -> None:
        """Once what was put of it before is taken: that is handed out all the same."""
        with self._changed:
            if self._holds(info):
                self._chunks.append(Beginning(info, offset))
                self._changed.notify_all()
            else:
                info.consumed_offset = offset

    def take(self, timeout_ms: int) -> tuple[TopicPartition, MessageAndOffset] | None:
        """The next message, which then counts as consumed; None at the end. Below zero it waits for
        as long as it takes.

        Raises ConsumerTimeoutError; MessageTooLargeError and CorruptRecordError each time from then
        on, until the buffer is cleared.
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
        """What was put and not taken yet is dropped, also of the current chunk."""
        with self._changed:
            self._clear()

    def end(self) -> None:
        """Whoever takes finds nothing any more."""
        with self._changed:
            self._has_ended = True
            self._clear()

    def _clear(self) -> None:
        self._chunks.clear()
        self._current = self._failure = None
        self._changed.notify_all()

    def _wait(self, deadline_s: float | None) -> None:
        """Never so long that Ctrl-C is not heard."""
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
        """Those of a wrapper that were consumed before are left out."""
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
    """Messages as they come; it ends when its connector is shut down.

    Iterating raises ConsumerTimeoutError after consumer.timeout.ms, and may go on;
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
