"""Connections of clients over their quotas rest (KIP-219)."""

from __future__ import annotations

import gc

import pytest

from logquake.node.net.connection import Connection
from logquake.node.net.limits import ConnectionLimits
from logquake.node.quotas.entities import ClientEntity
from logquake.wire.api import ApiKey
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from tests.doubles.clock import ManualClock
from tests.net.server import Client, Server, ServerFactory

WAIT_MS = 5_000


@pytest.fixture
def server(clock: ManualClock, new_server: ServerFactory) -> Server:
    server = new_server(ConnectionLimits(), clock)
    server.handler.answer = lambda _: MetadataResponse()
    return server


@pytest.fixture
def client(server: Server) -> Client:
    """Its first request is the one after which it has to wait."""
    server.handler.on_request = lambda request: (
        request.throttle(WAIT_MS) if request.header.correlation_id == 0 else None
    )
    client = server.client()
    client.send(MetadataRequest(), 9, 0)
    client.send(MetadataRequest(), 9, 1)
    return client


def handled(server: Server) -> list[int]:
    server.settle()
    return server.handler.correlation_ids


def test_the_answer_leaves_at_once_and_the_next_request_waits(
    server: Server, client: Client, clock: ManualClock
) -> None:
    assert client.receive_response(ApiKey.METADATA, 9)[0] == 0
    clock.advance_ms(WAIT_MS - 1)
    assert handled(server) == [0]
    clock.advance_ms(1)
    assert handled(server) == [0, 1]
    assert client.receive_response(ApiKey.METADATA, 9)[0] == 1


def test_the_longest_of_several_waits_counts(
    server: Server, client: Client, clock: ManualClock
) -> None:
    client.receive_response(ApiKey.METADATA, 9)
    first = server.handler.requests[0]
    first.throttle(2 * WAIT_MS)
    first.throttle(1)
    clock.advance_ms(2 * WAIT_MS - 1)
    assert handled(server) == [0]
    clock.advance_ms(1)
    assert handled(server) == [0, 1]


def test_others_do_not_wait(server: Server, client: Client) -> None:
    client.receive_response(ApiKey.METADATA, 9)
    other = server.client()
    other.send(MetadataRequest(), 9, 2)
    assert other.receive_response(ApiKey.METADATA, 9)[0] == 2


def test_a_client_that_waits_and_leaves_is_forgotten(server: Server, client: Client) -> None:
    """However long it had to wait: by reference count (node/process/heap.py)."""
    client.receive_response(ApiKey.METADATA, 9)
    server.handler.requests.clear()
    gc.collect()
    gc.disable()
    try:
        client.reset()
        server.until(lambda: not len(server.processor))
        server.settle()
        assert not [each for each in gc.get_objects() if isinstance(each, Connection)]
    finally:
        gc.enable()


class TestAddresses:
    """The first ten connections in what counts as ten seconds are one a second."""

    @pytest.fixture
    def server(self, clock: ManualClock, new_server: ServerFactory) -> Server:
        server = new_server(ConnectionLimits(), clock)
        server.of_addresses.limits.set(ClientEntity("127.0.0.1"), 1)
        return server

    def test_who_comes_too_fast_is_held_up_and_sent_away(
        self, server: Server, clock: ManualClock
    ) -> None:
        served = [server.client() for _ in range(10)]
        server.until(lambda: len(server.processor) == 10)
        one_too_many = server.client()
        server.settle()
        assert not one_too_many.is_closed()
        clock.advance_ms(1_000)
        server.until(one_too_many.is_closed)
        assert (len(server.processor), any(each.is_closed() for each in served)) == (10, False)

    def test_who_was_sent_away_does_not_count(self, server: Server, clock: ManualClock) -> None:
        clients = [server.client() for _ in range(30)]
        server.until(lambda: len(server.processor) == 10)
        server.settle()
        clock.advance_ms(1_100)
        server.until(lambda: sum(each.is_closed() for each in clients) == 20)
        clock.advance_ms(10_000)
        more = [server.client() for _ in range(10)]
        server.until(lambda: len(server.processor) == 10 + len(more))

    def test_other_addresses_come_as_they_like(self, server: Server) -> None:
        server.of_addresses.limits.set(ClientEntity("127.0.0.1"), None)
        server.of_addresses.limits.set(ClientEntity("127.0.0.9"), 1)
        clients = [server.client() for _ in range(12)]
        server.until(lambda: len(server.processor) == len(clients))

    def test_whoever_is_held_up_when_the_broker_stops_goes_with_it(self, server: Server) -> None:
        clients = [server.client() for _ in range(11)]
        server.until(lambda: len(server.processor) == 10)
        server.settle()
        server.acceptor.close()
        server.until(clients[-1].is_closed)
