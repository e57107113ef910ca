"""Offsets that the group's coordinator keeps: what it says, and what it does not say."""

from __future__ import annotations

import json
from threading import Event
from typing import Any

import pytest

from logquake.client.classic.channel import Dial
from logquake.client.classic.consuming.offsets import OffsetsInKafka
from logquake.client.classic.consuming.statistics import ConsumerStatistics
from logquake.client.classic.coordination import nodes
from logquake.client.classic.settings.consumer import ConsumerConfig
from logquake.client.errors import BrokerError
from logquake.client.settings import Address
from logquake.client.settings.reading import read
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import FindCoordinatorResponse
from logquake.wire.messages.group_offsets import (
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.classic.conftest import NewZk
from tests.unit.client.cluster_in_memory import FakeNetwork

PLACE = TopicPartition("t", 0)


class Coordinator:
    """It answers with ``codes``, one after the other and the last again, without an offset where
    there is one.
    """

    def __init__(self, network: FakeNetwork, *codes: ErrorCode) -> None:
        self._codes = list(codes)
        network.handlers[ApiKey.FIND_COORDINATOR] = lambda _request, address: (
            FindCoordinatorResponse(error_code=0, node_id=1, host=address.host, port=address.port)
        )
        network.handlers[ApiKey.OFFSET_FETCH] = self._offset

    def _offset(self, _request: Any, _: Address) -> OffsetFetchResponse:
        code = self._codes.pop(0) if len(self._codes) > 1 else self._codes[0]
        told = OffsetFetchResponsePartition(
            partition_index=0, committed_offset=-1 if code else 7, metadata="", error_code=code
        )
        return OffsetFetchResponse(topics=[OffsetFetchResponseTopic(name="t", partitions=[told])])


@pytest.fixture
def store(new_zk: NewZk, dial: Dial) -> OffsetsInKafka:
    zk = new_zk()
    zk.run(nodes.put("/brokers/ids/1", json.dumps({"host": "one", "port": 9092}).encode()))
    keys = {
        "zookeeper.connect": "model",
        "group.id": "g",
        "offsets.channel.backoff.ms": 1,
        "offsets.commit.max.retries": 2,
    }
    config = read(ConsumerConfig, keys)
    return OffsetsInKafka(zk, config, dial, Event(), ConsumerStatistics(), None)


def test_a_coordinator_that_cannot_say_is_asked_again(
    network: FakeNetwork, store: OffsetsInKafka
) -> None:
    Coordinator(
        network,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NONE,
    )
    assert store.fetch([PLACE]) == {PLACE: 7}


def test_an_offset_that_is_not_told_is_not_none_at_all(
    network: FakeNetwork, store: OffsetsInKafka
) -> None:
    """Else its reader would begin where auto.offset.reset says."""
    Coordinator(network, ErrorCode.GROUP_AUTHORIZATION_FAILED)
    with pytest.raises(BrokerError) as refused:
        store.fetch([PLACE])
    assert refused.value.code is ErrorCode.GROUP_AUTHORIZATION_FAILED


def test_nothing_is_committed_of_a_topic_that_0_8_2_has_no_offset_of(
    network: FakeNetwork, store: OffsetsInKafka
) -> None:
    Coordinator(network, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert store.fetch([PLACE]) == {PLACE: -1}
