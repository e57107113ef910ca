"""The bounds on connections are the broker's, whichever listener they come by."""

from __future__ import annotations

import pytest

from logquake.node.net.limits import ConnectionLimits, ListenerLimits
from logquake.wire.api import ApiKey
from logquake.wire.listeners import ListenerName
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from tests.doubles.clock import ManualClock
from tests.net.server import CLIENTS, INTERNAL, Client, Server, ServerFactory


@pytest.fixture
def server(new_server: ServerFactory) -> Server:
    server = new_server(ConnectionLimits(max_connections=2, max_connections_per_ip=4))
    server.handler.answer = lambda _: MetadataResponse()
    return server


def is_served(server: Server, client: Client) -> bool:
    client.send(MetadataRequest(topics=[]), 9, 0)
    server.settle()
    return bool(client.has_bytes())


def test_listeners_share_what_there_may_be(server: Server) -> None:
    other = server.listen(ListenerName("OTHER"))
    first, second = server.client(), server.client(by=other)
    server.until(lambda: len(server.processor) == 2)
    waiting = server.client(), server.client(by=other)
    server.settle()
    assert len(server.processor) == 2
    first.socket.close()
    second.socket.close()
    server.until(lambda: all(is_served(server, each) for each in waiting))


def test_brokers_come_in_although_clients_are_all_that_there_may_be(server: Server) -> None:
    between_brokers = server.listen(INTERNAL)
    idle, active = server.client(), server.client()
    server.until(lambda: len(server.processor) == 2)
    active.send(MetadataRequest(topics=[]), 9, 0)
    active.receive_response(ApiKey.METADATA, 9)
    broker = server.client(by=between_brokers)
    server.until(lambda: is_served(server, broker))
    assert idle.is_closed()
    assert not active.is_closed()
    assert [event.why for event in server.journal.events] == [
        "max.connections, and INTERNAL goes first"
    ]


def test_brokers_close_no_connections_of_brokers(server: Server) -> None:
    between_brokers = server.listen(INTERNAL)
    brokers = [server.client(by=between_brokers) for _ in range(3)]
    server.until(lambda: len(server.processor) == 3)
    for each in brokers:
        each.send(MetadataRequest(topics=[]), 9, 0)
        each.receive_response(ApiKey.METADATA, 9)


def test_one_address_has_as_many_as_it_may_on_all_listeners(server: Server) -> None:
    between_brokers = server.listen(INTERNAL)
    taken = [server.client(by=between_brokers) for _ in range(4)]
    server.until(lambda: len(server.processor) == 4)
    one_too_many = server.client(by=between_brokers)
    server.until(one_too_many.is_closed)
    assert not any(each.is_closed() for each in taken)


class TestOfOneListener:
    def test_it_has_as_many_as_it_may(self, new_server: ServerFactory) -> None:
        limits = ConnectionLimits(of_listeners={CLIENTS: ListenerLimits(max_connections=1)})
        server = new_server(limits)
        server.handler.answer = lambda _: MetadataResponse()
        other = server.listen(ListenerName("OTHER"))
        first, waiting, elsewhere = server.client(), server.client(), server.client(by=other)
        server.until(lambda: is_served(server, elsewhere))
        assert len(server.processor) == 2
        first.socket.close()
        server.until(lambda: is_served(server, waiting))

    def test_who_comes_too_fast_is_served_later(
        self, new_server: ServerFactory, clock: ManualClock
    ) -> None:
        limits = ConnectionLimits(
            rate_windows=2, of_listeners={CLIENTS: ListenerLimits(max_creation_rate=2)}
        )
        server = new_server(limits, clock)
        other = server.listen(ListenerName("OTHER"))
        for _ in range(4):
            server.client()
        server.client(by=other)
        server.until(lambda: len(server.processor) == 3)
        server.settle()
        assert len(server.processor) == 3
        clock.advance_ms(500)
        server.until(lambda: len(server.processor) == 4)
        server.settle()
        assert len(server.processor) == 4
        clock.advance_ms(1_000)
        server.until(lambda: len(server.processor) == 5)


def test_some_addresses_may_have_more_or_fewer(new_server: ServerFactory) -> None:
    overrides = {"localhost": 1, "nobody.invalid": 0}
    limits = ConnectionLimits(max_connections_per_ip=9, max_connections_per_ip_overrides=overrides)
    server = new_server(limits)
    server.client()
    server.until(lambda: len(server.processor) == 1)
    one_too_many = server.client()
    server.until(one_too_many.is_closed)
