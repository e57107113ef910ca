"""One connection: versions, time-outs, and answers that make no sense."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from logquake.client.connection import Connection, connect_to_one
from logquake.client.errors import (
    ConnectionLostError,
    MalformedResponseError,
    RequestTimedOutError,
    UnsupportedVersionError,
)
from logquake.client.network.settings import NetworkSettings
from logquake.client.settings import Address
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from tests.unit.client.cluster_in_memory import FakeClock, FakeNetwork

BROKER = Address("one", 9092)


@pytest.fixture
def connection(network: FakeNetwork, settings: NetworkSettings, clock: FakeClock) -> Connection:
    return connect_to_one(BROKER, settings, clock=clock, sockets=network.new_sockets())


def speaking(network: FakeNetwork, lowest: int, highest: int) -> None:
    answer = ApiVersionsResponse(
        api_keys=[ApiVersion(api_key=3, min_version=lowest, max_version=highest)]
    )
    network.handlers[ApiKey.API_VERSIONS] = lambda *_: answer


def test_the_highest_common_version_is_spoken(
    network: FakeNetwork, settings: NetworkSettings, clock: FakeClock
) -> None:
    speaking(network, 0, 7)
    connection = connect_to_one(BROKER, settings, clock=clock, sockets=network.new_sockets())
    assert connection.version_of(MetadataRequest) == 7
    assert connection.version_of(MetadataRequest, at_most=5) == 5
    connection.request(MetadataRequest(topics=[]), MetadataResponse)
    header = network.headers[-1]
    assert (header.api_key, header.api_version, header.client_id) == (3, 7, "logquake")


@pytest.mark.parametrize(("lowest", "highest"), [(13, 99), (0, -1)])
def test_no_common_version_is_said_so(
    network: FakeNetwork, settings: NetworkSettings, clock: FakeClock, lowest: int, highest: int
) -> None:
    speaking(network, lowest, highest)
    connection = connect_to_one(BROKER, settings, clock=clock, sockets=network.new_sockets())
    with pytest.raises(UnsupportedVersionError, match="MetadataRequest"):
        connection.request(MetadataRequest(topics=[]), MetadataResponse)


def test_a_broker_that_refuses_the_version_of_the_question_is_asked_in_version_0(
    network: FakeNetwork, settings: NetworkSettings, clock: FakeClock
) -> None:
    def old_broker(*_: Any) -> Any:
        if network.headers[-1].api_version > 0:
            # Version 0 of the response, whatever the request's: error, then an empty list.
            body = struct.pack(">ihi", network.headers[-1].correlation_id, 35, 0)
            return struct.pack(">i", len(body)) + body
        return ApiVersionsResponse(api_keys=[ApiVersion(api_key=3, min_version=0, max_version=2)])

    network.handlers[ApiKey.API_VERSIONS] = old_broker
    connection = connect_to_one(BROKER, settings, clock=clock, sockets=network.new_sockets())
    assert [header.api_version for header in network.headers] == [3, 0]
    assert connection.version_of(MetadataRequest) == 2


def test_a_broker_that_does_not_answer_is_given_up_and_the_connection_closed(
    connection: Connection, network: FakeNetwork, clock: FakeClock
) -> None:
    network.handlers[ApiKey.METADATA] = lambda *_: None
    before = clock.now
    with pytest.raises(RequestTimedOutError):
        connection.request(MetadataRequest(topics=[]), MetadataResponse, timeout_ms=300)
    assert clock.now - before == 300
    assert not connection.is_open
    assert network.sockets[-1].closed


@pytest.mark.parametrize("failure", [ConnectionResetError("reset"), BrokenPipeError("broken")])
def test_a_lost_connection_is_said_so(
    connection: Connection, network: FakeNetwork, failure: Exception
) -> None:
    network.handlers[ApiKey.METADATA] = lambda *_: failure
    with pytest.raises(ConnectionLostError, match="one:9092"):
        connection.request(MetadataRequest(topics=[]), MetadataResponse)
    assert not connection.is_open


@pytest.mark.parametrize(
    "frame",
    [
        struct.pack(">i", -1),
        struct.pack(">i", 0x7FFFFFFF),
        struct.pack(">ii", 4, 4711),
        struct.pack(">ii", 4, 2),
        struct.pack(">i", 2) + b"ab",
    ],
    ids=["negative", "huge", "another's answer", "no body", "no correlation id"],
)
def test_nonsense_closes_the_connection(
    connection: Connection, network: FakeNetwork, frame: bytes
) -> None:
    network.handlers[ApiKey.METADATA] = lambda *_: frame
    with pytest.raises(MalformedResponseError):
        connection.request(MetadataRequest(topics=[]), MetadataResponse)
    assert not connection.is_open


def test_a_refused_connection_is_retriable(
    network: FakeNetwork, settings: NetworkSettings, clock: FakeClock
) -> None:
    network.refused.add(BROKER)
    with pytest.raises(ConnectionLostError) as lost:
        connect_to_one(BROKER, settings, clock=clock, sockets=network.new_sockets())
    assert lost.value.retriable


def test_error_codes_of_kafka_are_known_by_name() -> None:
    from logquake.client.errors import BrokerError, check

    check(0, "fine")
    with pytest.raises(BrokerError, match="NOT_LEADER_OR_FOLLOWER: t-0") as error:
        check(ErrorCode.NOT_LEADER_OR_FOLLOWER, "t-0")
    assert error.value.retriable
    with pytest.raises(BrokerError, match=r"UNKNOWN_SERVER_ERROR: t-0 \(error code 9999\)"):
        check(9999, "t-0")
