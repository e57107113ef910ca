"""Topics of magic 0, 1 and 2, written by a Kafka 3.9 that has them, and then opened by ours: older
clients of ours and of 0.8.2.2 read the same from all, and write behind it.
"""

from __future__ import annotations

import pytest
from confluent_kafka import Producer as Librdkafka
from confluent_kafka.admin import NewTopic

from logquake.client.classic.messages import KeyedMessage
from logquake.client.classic.producer import Producer
from logquake.client.classic.serializer import StringEncoder
from logquake.client.errors import ClientError
from tests.compat.classic_twins import PATIENCE_MS, RELEASE, ClassicTwin
from tests.compat.directory_in_turns import DirectoryInTurns
from tests.compat.new_topics import create
from tests.compat.old_releases import OldReleases
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [pytest.mark.maven, pytest.mark.slow]

FORMATS = {"magic-0": "0.9.0", "magic-1": "0.10.0", "magic-2": "2.8"}
CODECS = ("none", "gzip", "snappy")


def test_topics_of_every_format(turns: DirectoryInTurns, old: OldReleases) -> None:
    written: dict[str, list[str]] = {topic: [] for topic in FORMATS}
    with turns.kafka(inter_broker_protocol_version="2.8") as servers:
        for topic, version in FORMATS.items():
            new = NewTopic(topic, 1, 1, config={"message.format.version": version})
            create(servers, new)
        written = write_and_read(servers, old, written)
        only_whole_messages_count(servers)
    with turns.ours() as servers:
        write_and_read(servers, old, written)


def write_and_read(
    servers: str, old: OldReleases, before: dict[str, list[str]]
) -> dict[str, list[str]]:
    """What there is then, by topic."""
    twin = ClassicTwin(int(servers.rpartition(":")[2]), "")
    written = {}
    for topic, there in before.items():
        wait_for_leader(twin, topic)
        more = [*written_by_ours(servers, topic, len(there)), *written_by_others(servers, topic)]
        written[topic] = [*there, *more]
        found = twin.payloads(topic)
        assert [offset for offset, _ in found] == list(range(len(found)))
        assert [(payload or b"").decode() for _, payload in found] == written[topic]
        assert read_by_old(old, servers, topic, len(found)) == written[topic]
    return written


def wait_for_leader(twin: ClassicTwin, topic: str) -> None:
    def leaders() -> list[int]:
        return [each.leader_id for each in twin.topic(topic).partitions]

    wait_for("leader", leaders, lambda found: found and found[0] >= 0, unready=(ClientError,))


def written_by_ours(servers: str, topic: str, begin: int) -> list[str]:
    texts = []
    for codec in CODECS:
        keys: dict[str, object] = {
            "broker.list": servers,
            "serializer.class": StringEncoder(),
            "request.required.acks": -1,
            "request.timeout.ms": PATIENCE_MS,
            "compression.codec": codec,
        }
        batch = [f"line {begin} {codec} {each}" for each in range(20)]
        with Producer(keys) as producer:
            producer.send(*(KeyedMessage(topic, text) for text in batch))
        texts += batch
    return texts


def written_by_others(servers: str, topic: str) -> list[str]:
    """In the newest format that there is; the broker converts it."""
    texts = [f"line of librdkafka {each}" for each in range(20)]
    failed: list[object] = []
    producer = Librdkafka({"bootstrap.servers": servers, "compression.type": "lz4"})
    for text in texts:
        producer.produce(topic, text, on_delivery=lambda error, _: failed.append(error))
    assert producer.flush(PATIENCE_S) == 0
    assert failed == [None] * len(texts)
    return texts


def read_by_old(old: OldReleases, servers: str, topic: str, count: int) -> list[str]:
    said = old.run(
        RELEASE,
        "kafka.tools.SimpleConsumerShell",
        *("--broker-list", servers, "--topic", topic, "--partition", "0"),
        *("--offset", "-2", "--max-messages", str(count), "--no-wait-at-logend"),
    )
    return [line for line in said.splitlines() if line.startswith("line ")]


def only_whole_messages_count(servers: str) -> None:
    """Of a topic that is sent as it lies on disk, a fetch may end within a message."""
    with ClassicTwin(int(servers.rpartition(":")[2]), "").consumer() as consumer:
        messages = consumer.fetch("magic-0", 0, 0, 100).messages
        assert messages.size_in_bytes == 100
        assert 0 < messages.valid_bytes < 100
        assert messages.next_offset == len(list(messages))
        nothing = consumer.fetch("magic-0", 0, 0, 20).messages
    assert (nothing.size_in_bytes, nothing.valid_bytes, nothing.next_offset) == (20, 0, None)
