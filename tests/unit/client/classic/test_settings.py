"""The older clients' keys, by both of their names."""

from __future__ import annotations

import pytest

from logquake.client.classic.settings.consumer import ConsumerConfig, OffsetReset, OffsetsStorage
from logquake.client.classic.settings.older_names import (
    OF_CONSUMERS,
    OF_PRODUCERS,
    in_newer_words,
)
from logquake.client.classic.settings.producer import ProducerConfig, ProducerType
from logquake.client.errors import SettingsError
from logquake.client.settings import Address
from logquake.client.settings.keys import name_of
from logquake.client.settings.reading import read
from logquake.wire.compression import Codec

BROKERS = {"metadata.broker.list": "one:9092"}
GROUP = {"zookeeper.connect": "zk:2181/corner", "group.id": "g"}


def producer(**keys: object) -> ProducerConfig:
    return read(ProducerConfig, in_newer_words(keys, OF_PRODUCERS))


def consumer(**keys: object) -> ConsumerConfig:
    return read(ConsumerConfig, in_newer_words({**GROUP, **keys}, OF_CONSUMERS))


def test_keys_of_the_first_documents_mean_the_newer_ones() -> None:
    config = producer(
        **{
            "broker.list": "0:one:9092,1:two:9093",
            "producer.type": "async",
            "queue.time": "7",
            "queue.size": 50,
            "queue.enqueueTimeout.ms": "0",
            "batch_size": "5",
            "compression.codec": "2",
        }
    )
    assert config.metadata_broker_list == (Address("one", 9092), Address("two", 9093))
    assert config.producer_type is ProducerType.ASYNC
    assert (config.queue_buffering_max_ms, config.queue_buffering_max_messages) == (7, 50)
    assert (config.queue_enqueue_timeout_ms, config.batch_num_messages) == (0, 5)
    assert config.compression_codec is Codec.SNAPPY


@pytest.mark.parametrize("older", [OF_PRODUCERS, OF_CONSUMERS])
def test_every_older_name_is_one_of_a_key_that_there_is(older: dict[str, str]) -> None:
    table = ProducerConfig if older is OF_PRODUCERS else ConsumerConfig
    names = {name_of(name) for name in table.__dataclass_fields__}
    assert set(older.values()) <= names


def test_defaults_are_those_of_0_8() -> None:
    config = producer(**BROKERS)
    assert config.request_required_acks == 0
    assert config.producer_type is ProducerType.SYNC
    assert config.queue_enqueue_timeout_ms == -1
    assert config.message_send_max_retries == 3


def test_what_follows_from_what_a_consumer_is_given() -> None:
    config = consumer(**{"zk.sessiontimeout.ms": 400, "zookeeper.sync.time.ms": 30})
    assert config.zookeeper_connection_timeout_ms == 400
    assert config.rebalance_backoff_ms == 30
    assert config.client_id == "g"
    assert not config.dual_commit_enabled
    assert config.auto_offset_reset is OffsetReset.LARGEST


def test_both_are_committed_to_while_a_group_moves_to_kafka() -> None:
    config = consumer(**{"offsets.storage": "KAFKA"})
    assert config.offsets_storage is OffsetsStorage.KAFKA
    assert config.dual_commit_enabled


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({}, "one of metadata.broker.list"),
        ({**BROKERS, "zk.connect": "zk:2181"}, "not both"),
        ({**BROKERS, "broker.list": "two:9092"}, "set twice: broker.list is its older name"),
        ({**BROKERS, "batch.num.messages": 11_000}, "larger than queue.buffering.max.messages"),
        ({**BROKERS, "producer.type": "later"}, "sync or async"),
        ({**BROKERS, "compression.codec": "zstd"}, "none or gzip"),
        ({**BROKERS, "queue.tim": 5}, "is no key"),
        ({**BROKERS, "send.buffer.bytes": 5}, "the system sizes"),
        ({**BROKERS, "client.id": "a b"}, "letters, digits"),
    ],
)
def test_what_a_producer_may_not_be_set_to(keys: dict[str, object], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        producer(**keys)


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"auto.offset.reset": "newest"}, "smallest or largest"),
        ({"group.id": "a/b"}, "letters, digits"),
        ({"fetch.wait.max.ms": 50, "socket.timeout.ms": 40}, "less than fetch.wait.max.ms"),
    ],
)
def test_what_a_consumer_may_not_be_set_to(keys: dict[str, object], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        consumer(**keys)
