"""Client libraries over TCP: what they write, read, ask and administer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logquake.cluster.api import Cluster
from logquake.wire.errors import ErrorCode
from tests.compat.adapters.base import (
    CODECS,
    EARLIEST,
    LATEST,
    Adapter,
    ClientError,
    Message,
    Writing,
)
from tests.waiting import wait_for

START_MS = 1_700_000_000_000
MAX_MESSAGE_BYTES = 1_048_588  # of a batch
BATCH_OVERHEAD_BYTES = 100  # more than header and framing of a batch of one record

MESSAGES = [
    Message(b"value", b"key", (("one", b"1"), ("one", b"2"), ("empty", b"")), START_MS),
    Message(None, b"tombstone", (), START_MS + 1),
    Message(b"", None, (), START_MS + 2),
    Message(b"", b"", (), START_MS + 3),
    Message("grüße".encode(), b"\x00\xff", (("schlüssel", b"\x00\xff"),), START_MS + 4),
    *(Message(b"%d" % index * 40, None, (), START_MS + index) for index in range(5, 60)),
]


def test_every_codec_carries_every_kind_of_message(
    client: Adapter, codec: str, topic: Callable[..., str]
) -> None:
    name = topic(partitions=2)
    offsets = client.write(name, 1, MESSAGES, Writing(codec=codec))
    assert offsets == list(range(len(MESSAGES)))
    assert client.read(name, 1, len(MESSAGES)) == MESSAGES


def test_each_library_reads_what_the_others_wrote(
    clients: list[Adapter], topic: Callable[..., str]
) -> None:
    """A partition for each codec."""
    name = topic(partitions=len(CODECS))
    for writer in clients:
        for partition, codec in enumerate(CODECS):
            writer.write(name, partition, MESSAGES[:10], Writing(codec=codec))
    expected = MESSAGES[:10] * len(clients)
    for reader in clients:
        for partition in range(len(CODECS)):
            assert reader.read(name, partition, len(expected)) == expected


def test_a_header_may_be_null(client: Adapter, topic: Callable[..., str]) -> None:
    if not client.has_null_headers:
        pytest.skip(f"{type(client).__name__} refuses them")
    name = topic()
    message = Message(b"", None, (("null", None), ("", b"")))
    client.write(name, 0, [message], Writing())
    assert client.read(name, 0, 1) == [message]


@pytest.mark.parametrize(
    ("acks", "idempotent"), [("0", False), ("1", False), ("all", False), ("all", True)]
)
def test_acks(client: Adapter, topic: Callable[..., str], acks: str, idempotent: bool) -> None:
    name = topic()
    # The first ack tells that the leader knows of its topic: with acks=0 nobody would.
    client.write(name, 0, MESSAGES[:1], Writing())
    offsets = client.write(name, 0, MESSAGES, Writing(acks=acks, idempotent=idempotent))
    if acks != "0":
        assert offsets == list(range(1, 1 + len(MESSAGES)))
    assert client.read(name, 0, 1 + len(MESSAGES)) == MESSAGES[:1] + MESSAGES


def test_reading_starts_where_it_is_told_to(client: Adapter, topic: Callable[..., str]) -> None:
    name = topic()
    client.write(name, 0, MESSAGES, Writing(codec="gzip"))
    assert client.read(name, 0, 3, offset=7) == MESSAGES[7:10]


def test_a_message_of_almost_the_largest_size(client: Adapter, topic: Callable[..., str]) -> None:
    name = topic()
    big = [Message(bytes(MAX_MESSAGE_BYTES - BATCH_OVERHEAD_BYTES), timestamp_ms=START_MS)]
    how = Writing(max_request_bytes=2 * MAX_MESSAGE_BYTES)
    assert client.write(name, 0, big, how) == [0]
    assert client.read(name, 0, 1) == big


def test_a_message_too_large_is_refused_as_such(client: Adapter, topic: Callable[..., str]) -> None:
    name = topic()
    how = Writing(max_request_bytes=2 * MAX_MESSAGE_BYTES)
    with pytest.raises(ClientError) as refused:
        client.write(name, 0, [Message(bytes(MAX_MESSAGE_BYTES))], how)
    assert refused.value.code == ErrorCode.MESSAGE_TOO_LARGE
    assert client.offset(name, 0, LATEST) == 0


def test_offsets_by_time(client: Adapter, topic: Callable[..., str]) -> None:
    name = topic()
    client.write(name, 0, MESSAGES, Writing())
    assert client.offset(name, 0, EARLIEST) == 0
    assert client.offset(name, 0, LATEST) == len(MESSAGES)
    assert client.offset(name, 0, START_MS + 7) == 7
    assert client.offset(name, 0, START_MS - 1000) == 0


def test_no_offset_lies_after_the_last_time(client: Adapter, topic: Callable[..., str]) -> None:
    name = topic()
    client.write(name, 0, MESSAGES, Writing())
    assert client.offset(name, 0, START_MS + 10**6) == -1


def test_topics_come_and_go(client: Adapter) -> None:
    name = f"made-by-{type(client).__name__}"
    client.create_topic(name, 3, 2, {"segment.bytes": "1048576"})
    with pytest.raises(ClientError) as refused:
        client.create_topic(name, 3, 2, {})
    assert refused.value.code == ErrorCode.TOPIC_ALREADY_EXISTS
    # Any broker is asked, and the controller answers when it has told one.
    wait_for("topic that is told of", client.topics, lambda told: told.get(name) == 3)
    client.delete_topic(name)
    wait_for("topic that is gone", client.topics, lambda told: name not in told)
    with pytest.raises(ClientError) as refused:
        client.delete_topic(name)
    assert refused.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(
    ("name", "partitions", "replicas", "config", "error"),
    [
        ("no spaces", 1, 1, {}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("wide", 1, 9, {}, ErrorCode.INVALID_REPLICATION_FACTOR),
        ("odd", 1, 1, {"segment.bytes": "x"}, ErrorCode.INVALID_CONFIG),
    ],
)
def test_topics_that_cannot_be(
    client: Adapter,
    name: str,
    partitions: int,
    replicas: int,
    config: dict[str, str],
    error: ErrorCode,
) -> None:
    with pytest.raises(ClientError) as refused:
        client.create_topic(name, partitions, replicas, config)
    assert refused.value.code == error
    assert name not in client.topics()


def test_a_topic_is_made_by_writing_to_it(client: Adapter, cluster: Cluster) -> None:
    name = f"written-by-{type(client).__name__}"
    assert client.write(name, 0, MESSAGES[:1], Writing()) == [0]
    cluster.wait_isr(name, 0, size=3)
    client.delete_topic(name)
