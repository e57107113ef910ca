"""What fetchers put into a stream, and what a program takes out of it."""

from __future__ import annotations

from threading import Event

import pytest

from logquake.client.classic.consuming.stream import Chunk, PartitionTopicInfo, StreamBuffer
from logquake.client.classic.errors import ConsumerTimeoutError, MessageTooLargeError
from logquake.client.classic.messages import Message, MessageSet, encode_messages
from logquake.client.errors import CorruptRecordError
from logquake.wire.compression import Codec
from logquake.wire.topic_partition import TopicPartition

PLACE = TopicPartition("t", 0)
RUNNING = Event()


def chunk(info: PartitionTopicInfo, *payloads: bytes, codec: Codec = Codec.NONE) -> Chunk:
    """From offset 0 on."""
    data = encode_messages([Message(each) for each in payloads], codec)
    return Chunk(info, 0, MessageSet(memoryview(data)))


def buffer_and_info(offset: int = 0) -> tuple[StreamBuffer, PartitionTopicInfo]:
    buffer = StreamBuffer(1)
    return buffer, PartitionTopicInfo(PLACE, offset, buffer)


def taken(buffer: StreamBuffer) -> bytes | None:
    found = buffer.take(0)
    assert found is not None
    place, each = found
    assert place == PLACE
    return each.message.payload


def test_what_is_taken_is_consumed() -> None:
    buffer, info = buffer_and_info()
    buffer.put(chunk(info, b"a", b"b"), RUNNING)
    assert (taken(buffer), info.consumed_offset) == (b"a", 1)
    assert (taken(buffer), info.consumed_offset) == (b"b", 2)
    with pytest.raises(ConsumerTimeoutError):
        buffer.take(1)


def test_what_a_wrapper_has_from_before_is_left_out() -> None:
    buffer, info = buffer_and_info(2)
    buffer.put(chunk(info, b"a", b"b", b"c", codec=Codec.GZIP), RUNNING)
    assert (taken(buffer), info.consumed_offset) == (b"c", 3)


@pytest.mark.parametrize("beginning", [0, 50])
def test_what_was_fetched_before_a_reset_is_handed_out_before_what_comes_of_it(
    beginning: int,
) -> None:
    """Of a log that was cut off, and grows again, or whose beginning was deleted."""
    buffer, info = buffer_and_info()
    buffer.put(chunk(info, b"a", b"b"), RUNNING)
    taken(buffer)
    info.begin_at(beginning)
    assert (info.fetched_offset, info.consumed_offset) == (beginning, 1)
    assert (taken(buffer), info.consumed_offset) == (b"b", 2)
    with pytest.raises(ConsumerTimeoutError):
        buffer.take(0)
    assert info.consumed_offset == beginning
    if beginning == 0:
        buffer.put(chunk(info, b"c"), RUNNING)
        assert (taken(buffer), info.consumed_offset) == (b"c", 1)


def test_a_reset_of_what_nothing_was_fetched_of_counts_at_once() -> None:
    """Whether anything is taken or not: it is what is committed."""
    _, info = buffer_and_info(-1)
    info.begin_at(50)
    assert info.consumed_offset == 50


def test_what_is_cleared_is_not_consumed() -> None:
    buffer, info = buffer_and_info()
    buffer.put(chunk(info, b"a", b"b"), RUNNING)
    taken(buffer)
    buffer.put(chunk(info, b"c"), RUNNING)
    buffer.clear()
    assert info.consumed_offset == 1
    with pytest.raises(ConsumerTimeoutError):
        buffer.take(0)


def test_a_full_buffer_takes_nothing_from_who_has_to_stop() -> None:
    buffer, info = buffer_and_info()
    assert buffer.put(chunk(info, b"a"), RUNNING)
    stopping = Event()
    stopping.set()
    assert not buffer.put(chunk(info, b"b"), stopping)
    assert len(buffer) == 1


def test_it_ends() -> None:
    buffer, info = buffer_and_info()
    buffer.put(chunk(info, b"a"), RUNNING)
    buffer.end()
    assert buffer.take(-1) is None
    assert info.consumed_offset == 0


def test_a_message_that_does_not_fit_stops_the_stream() -> None:
    buffer, info = buffer_and_info()
    whole = encode_messages([Message(b"x" * 100)], Codec.NONE)
    buffer.put(Chunk(info, 0, MessageSet(memoryview(whole[:50]))), RUNNING)
    for _ in range(2):
        with pytest.raises(MessageTooLargeError, match="t-0 at offset 0"):
            buffer.take(0)
    buffer.clear()
    buffer.put(chunk(info, b"a"), RUNNING)
    assert taken(buffer) == b"a"


def test_a_damaged_message_stops_the_stream() -> None:
    buffer, info = buffer_and_info()
    data = bytearray(encode_messages([Message(b"good"), Message(b"bad")], Codec.NONE))
    data[-1] ^= 1
    buffer.put(Chunk(info, 0, MessageSet(memoryview(data))), RUNNING)
    assert taken(buffer) == b"good"
    for _ in range(2):
        with pytest.raises(CorruptRecordError, match="t-0 at 1"):
            buffer.take(0)
    assert info.consumed_offset == 1
