"""What older clients ask is what 0.8.2.2's ask, byte for byte: the expected frames were written by
kafka.api's requests and ByteBufferMessageSet, without their lengths.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logquake.client.classic import requests
from logquake.client.classic.channel import Channel
from logquake.client.classic.messages import Message, encode_messages
from logquake.client.classic.offset_requests import KeptIn, commit_offsets, fetch_offsets
from logquake.client.classic.requests import FetchFrom
from logquake.client.classic.topic_metadata import ask_for_topics
from logquake.client.classic.versions import SPOKEN
from logquake.client.errors import ConnectionLostError
from logquake.wire import schema
from logquake.wire.compression import Codec
from logquake.wire.header import LENGTH_BYTES, RequestHeader, encode_request
from logquake.wire.topic_partition import TopicPartition
from tests.parts import joined

PLACE = TopicPartition("t", 3)
MESSAGES = [Message(b"payload", b"key"), Message(b"no key"), Message(None, b"gone")]
SET = (
    "000000000000000000000018a2f72b6a0000000000036b6579000000077061796c6f6164"
    "0000000000000001000000145d50ab640000ffffffff000000066e6f206b6579"
    "00000000000000020000001296100b91000000000004676f6e65ffffffff"
)


class Frames:
    """Asked once, then lost."""

    def __init__(self) -> None:
        self.frame = b""

    def ask(
        self, request: schema.Message, _response: object, *, at_most: int | None = None
    ) -> schema.Message:
        key = request.__schema__.key
        assert key is not None
        _, newest = SPOKEN[key]
        version = newest if at_most is None else at_most
        header = RequestHeader(key, version, 1, "me")
        self.frame = joined(encode_request(header, request))[LENGTH_BYTES:]
        raise ConnectionLostError("once")

    def tell(self, request: schema.Message) -> None:
        self.ask(request, None)

    def interrupt(self) -> None: ...

    def disconnect(self) -> None: ...


@pytest.mark.parametrize(
    ("ask", "frame"),
    [
        (
            lambda channel: requests.produce(
                channel, {PLACE: bytes.fromhex(SET)}, acks=-1, timeout_ms=7000
            ),
            "000000000000000100026d65ffff00001b5800000001000174000000010000000300000062" + SET,
        ),
        (
            lambda channel: ask_for_topics(channel, ["u", "t"]),
            "000300000000000100026d6500000002000174000175",
        ),
        (
            lambda channel: requests.fetch(
                channel, {PLACE: FetchFrom(9, 1000)}, max_wait_ms=50, min_bytes=1
            ),
            "000100000000000100026d65ffffffff00000032000000010000000100017400000001"
            "000000030000000000000009000003e8",
        ),
        (
            lambda channel: requests.offsets_before(channel, PLACE, -1, 5),
            "000200000000000100026d65ffffffff000000010001740000000100000003ffffffffffffffff"
            "00000005",
        ),
        (
            lambda channel: commit_offsets(channel, "g", {PLACE: 9}, KeptIn.ZOOKEEPER),
            "000800000000000100026d6500016700000001000174000000010000000300000000000000090000",
        ),
        (
            lambda channel: commit_offsets(channel, "g", {PLACE: 9}, KeptIn.KAFKA),
            "000800010000000100026d65000167ffffffff0000000000010001740000000100000003"
            "0000000000000009ffffffffffffffff0000",
        ),
        (
            lambda channel: fetch_offsets(channel, "g", [PLACE], KeptIn.ZOOKEEPER),
            "000900000000000100026d65000167000000010001740000000100000003",
        ),
        (
            lambda channel: fetch_offsets(channel, "g", [PLACE], KeptIn.KAFKA),
            "000900010000000100026d65000167000000010001740000000100000003",
        ),
        (
            lambda channel: requests.coordinator(channel, "g"),
            "000a00000000000100026d65000167",
        ),
    ],
    ids=[
        "produce",
        "metadata",
        "fetch",
        "offsets before",
        "commit in ZooKeeper",
        "commit in Kafka",
        "committed in ZooKeeper",
        "committed in Kafka",
        "coordinator",
    ],
)
def test_a_request(ask: Callable[[Channel], object], frame: str) -> None:
    frames = Frames()
    with pytest.raises(ConnectionLostError):
        ask(frames)  # type: ignore[arg-type]  # it answers nothing, of whatever type
    assert frames.frame.hex() == frame


def test_a_message_set() -> None:
    assert encode_messages(MESSAGES, Codec.NONE).hex() == SET
