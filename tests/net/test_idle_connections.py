"""Connections grow old."""

from __future__ import annotations

import pytest

from logquake.node.net.limits import ConnectionLimits
from logquake.wire.api import ApiKey
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from tests.doubles.clock import ManualClock
from tests.net.server import Server, ServerFactory

MINUTE_MS = 60_000
SWEEP_MS = 5_000


@pytest.fixture
def server(clock: ManualClock, new_server: ServerFactory) -> Server:
    return new_server(ConnectionLimits(max_idle_ms=10 * MINUTE_MS), clock)


def pass_time(server: Server, clock: ManualClock, minutes: float) -> None:
    """In steps, since every sweep must come up."""
    for _ in range(int(minutes * MINUTE_MS / SWEEP_MS) + 1):
        clock.advance_ms(SWEEP_MS)
        server.loop.run_pass(max_wait_ms=0)


def test_an_idle_connection_is_closed_and_an_active_one_is_not(
    server: Server, clock: ManualClock
) -> None:
    server.handler.answer = lambda _: MetadataResponse()
    idle, active = server.client(), server.client()
    server.until(lambda: len(server.processor) == 2)
    pass_time(server, clock, 6)
    active.send(MetadataRequest(topics=[]), 9, 0)
    active.receive_response(ApiKey.METADATA, 9)
    pass_time(server, clock, 6)
    assert idle.is_closed()
    assert not active.is_closed()


def test_a_connection_whose_request_waits_is_not_idle(server: Server, clock: ManualClock) -> None:
    client = server.client()
    client.send(MetadataRequest(topics=[]), 9, 0)
    server.until(lambda: bool(server.handler.requests))
    pass_time(server, clock, 30)
    assert not client.is_closed()
    server.handler.requests[0].reply(MetadataResponse())
    server.settle()
    pass_time(server, clock, 11)
    server.until(lambda: len(server.processor) == 0)


def test_no_bound_means_no_end(clock: ManualClock, new_server: ServerFactory) -> None:
    server = new_server(ConnectionLimits(max_idle_ms=-1), clock)
    client = server.client()
    server.until(lambda: len(server.processor) == 1)
    pass_time(server, clock, 60)
    assert not client.is_closed()
