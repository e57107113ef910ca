"""Offsets by leader."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from logquake.client.consumer.settings import Isolation
from logquake.client.errors import BrokerError
from logquake.client.offsets import FoundOffset, latest_offsets, list_offsets
from logquake.client.routing import Router
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from logquake.wire.sentinels import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from tests.unit.client.cluster_in_memory import FakeNetwork, FakeTopology


def answering(code: ErrorCode = ErrorCode.NONE) -> Callable[[Any, Any], ListOffsetsResponse]:
    def answer(request: Any, _address: Any) -> ListOffsetsResponse:
        partitions = [
            ListOffsetsPartitionResponse(
                partition_index=one.partition_index,
                error_code=code,
                timestamp=one.timestamp,
                offset=100 + one.partition_index,
                leader_epoch=one.current_leader_epoch,
            )
            for one in request.topics[0].partitions
        ]
        return ListOffsetsResponse(
            topics=[ListOffsetsTopicResponse(name="t", partitions=partitions)]
        )

    return answer


def test_every_leader_is_asked_for_its_own_partitions(router: Router, network: FakeNetwork) -> None:
    network.handlers[ApiKey.LIST_OFFSETS] = answering()
    found = list_offsets(router, "t", {1: LATEST_TIMESTAMP, 0: EARLIEST_TIMESTAMP})
    assert found == {
        0: FoundOffset(100, EARLIEST_TIMESTAMP, 5),
        1: FoundOffset(101, LATEST_TIMESTAMP, 7),
    }
    assert len(network.requests[ApiKey.LIST_OFFSETS]) == 2


def test_latest_offsets_cover_the_topic_in_the_isolation_asked_for(
    router: Router, network: FakeNetwork
) -> None:
    network.handlers[ApiKey.LIST_OFFSETS] = answering()
    offsets = latest_offsets(router, "t", isolation=Isolation.READ_COMMITTED)
    assert offsets == {0: 100, 1: 101}
    assert {r.isolation_level for r in network.requests[ApiKey.LIST_OFFSETS]} == {1}


def test_a_leader_that_moved_is_followed(
    router: Router, network: FakeNetwork, topology: FakeTopology
) -> None:
    def moved(request: Any, address: Any) -> ListOffsetsResponse:
        if address.host == "one":
            topology.leaders[0] = (2, 6)
            return answering(ErrorCode.NOT_LEADER_OR_FOLLOWER)(request, address)
        return answering()(request, address)

    network.handlers[ApiKey.LIST_OFFSETS] = moved
    assert list_offsets(router, "t", {0: LATEST_TIMESTAMP}) == {
        0: FoundOffset(100, LATEST_TIMESTAMP, 6)
    }


def test_an_error_that_stays_is_raised_by_name(router: Router, network: FakeNetwork) -> None:
    network.handlers[ApiKey.LIST_OFFSETS] = answering(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    with pytest.raises(BrokerError, match="TOPIC_AUTHORIZATION_FAILED: offsets of t-0"):
        list_offsets(router, "t", {0: LATEST_TIMESTAMP})
