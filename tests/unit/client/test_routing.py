"""Finding brokers and leaders, and trying again."""

from __future__ import annotations

import pytest

from logquake.client.errors import (
    BrokerError,
    ClientError,
    ConnectionLostError,
    NoLeaderError,
    OffsetOutOfRangeError,
)
from logquake.client.routing import Leader, Router
from logquake.client.settings import Address, ClientSettings
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from tests.unit.client.cluster_in_memory import FakeClock, FakeNetwork, FakeTopology


def test_the_next_bootstrap_server_is_asked_when_one_is_down(
    router: Router, network: FakeNetwork
) -> None:
    network.refused.add(Address("boot", 1))
    assert router.any_broker().address == Address("boot", 2)


def test_all_bootstrap_servers_down_names_them_all(router: Router, network: FakeNetwork) -> None:
    network.refused |= {Address("boot", 1), Address("boot", 2)}
    with pytest.raises(ConnectionLostError, match=r"boot:1.*boot:2"):
        router.any_broker()


def test_a_broker_that_was_learned_stands_in_for_the_bootstrap_servers(
    router: Router, network: FakeNetwork
) -> None:
    router.metadata([])
    router.any_broker().close()
    network.refused |= {Address("boot", 1), Address("boot", 2)}
    assert router.any_broker().address in (Address("one", 9092), Address("two", 9092))


def test_leaders_are_remembered_until_something_fails(
    router: Router, network: FakeNetwork, topology: FakeTopology
) -> None:
    assert router.leader("t", 0) == Leader(1, 5)
    topology.leaders[0] = (2, 6)
    assert router.leader("t", 0) == Leader(1, 5)
    assert router.leader("t", 1) == Leader(2, 7)
    assert len(network.requests[ApiKey.METADATA]) == 1
    router.forget_leaders()
    assert router.leader("t", 0) == Leader(2, 6)


def test_a_partition_without_leader_is_waited_for(
    router: Router, topology: FakeTopology, clock: FakeClock
) -> None:
    topology.leaders[0] = (-1, 5)
    started = clock.now

    def attempt() -> Leader:
        if clock.now - started >= 1000:
            topology.leaders[0] = (2, 6)
        return router.leader("t", 0)

    assert router.with_retries(attempt) == Leader(2, 6)


def test_retries_end_with_the_last_error(
    router: Router, topology: FakeTopology, clock: FakeClock
) -> None:
    topology.leaders[0] = (-1, 5)
    started = clock.now
    with pytest.raises(NoLeaderError, match="t-0"):
        router.with_retries(lambda: router.leader("t", 0), 2000)
    assert 1900 <= clock.now - started <= 2000


def test_what_is_not_retriable_is_raised_at_once(router: Router, clock: FakeClock) -> None:
    started = clock.now

    def attempt() -> None:
        raise OffsetOutOfRangeError("t-0")

    with pytest.raises(OffsetOutOfRangeError):
        router.with_retries(attempt)
    assert clock.now == started


def test_an_unknown_topic_is_kafkas_error(router: Router) -> None:
    with pytest.raises(BrokerError) as error:
        router.leader("nope", 0)
    assert error.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_an_unknown_broker_is_asked_about_and_then_missing(router: Router) -> None:
    assert router.broker(2).address == Address("two", 9092)
    with pytest.raises(ClientError, match="broker 9"):
        router.broker(9)


def test_no_controller_is_retriable(router: Router, topology: FakeTopology) -> None:
    assert router.controller().address == Address("one", 9092)
    topology.controller_id = -1
    with pytest.raises(NoLeaderError) as error:
        router.controller()
    assert error.value.retriable


def test_a_connection_of_ones_own_is_nobody_elses(router: Router, network: FakeNetwork) -> None:
    own = router.connect(2)
    assert own.address == Address("two", 9092)
    assert own is not router.broker(2)
    router.close()
    assert own.is_open
    own.close()
    assert all(one.closed for one in network.sockets)


def test_closing_closes_every_connection(router: Router, network: FakeNetwork) -> None:
    with router:
        router.broker(1)
        router.broker(2)
    assert len(network.sockets) == 3
    assert all(one.closed for one in network.sockets)


@pytest.mark.parametrize("servers", ["nohost", "host:", ":1", "host:x"])
def test_bootstrap_servers_must_be_host_and_port(servers: str) -> None:
    with pytest.raises(ValueError, match="host:port"):
        ClientSettings(servers).addresses()


def test_an_ipv6_address_is_given_in_brackets() -> None:
    assert ClientSettings("[::1]:9092, b:1").addresses() == [("::1", 9092), ("b", 1)]
