"""Connections grow old, and clients at fault are reported, within bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from logquake.node.net.faults import FaultReports
from logquake.node.net.limits import ConnectionLimits
from logquake.node.net.loop import EventLoop
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse

Server = ServerFactory = ListJournal = Any  # conftest's

MINUTE_MS = 60_000
SWEEP_MS = 5_000


@pytest.fixture
def server(clock: Any, new_server: ServerFactory) -> Server:
    return new_server(ConnectionLimits(max_idle_ms=10 * MINUTE_MS), clock)


def pass_time(server: Server, clock: Any, minutes: float) -> None:
    """In steps, since every sweep must come up."""
    for _ in range(int(minutes * MINUTE_MS / SWEEP_MS) + 1):
        clock.advance_ms(SWEEP_MS)
        server.loop.run_pass(max_wait_ms=0)


def test_an_idle_connection_is_closed_and_an_active_one_is_not(server: Server, clock: Any) -> None:
    server.handler.answer = lambda _: MetadataResponse()
    idle, active = server.client(), server.client()
    server.until(lambda: len(server.processor) == 2)
    pass_time(server, clock, 6)
    active.send(MetadataRequest(topics=[]), 9, 0)
    server.settle()
    pass_time(server, clock, 6)
    assert idle.is_closed()
    assert not active.is_closed()


def test_a_connection_whose_request_waits_is_not_idle(server: Server, clock: Any) -> None:
    client = server.client()
    client.send(MetadataRequest(topics=[]), 9, 0)
    server.until(lambda: bool(server.handler.requests))
    pass_time(server, clock, 30)
    assert not client.is_closed()
    server.handler.requests[0].reply(MetadataResponse())
    server.settle()
    pass_time(server, clock, 11)
    server.until(lambda: len(server.processor) == 0)


def test_no_bound_means_no_end(clock: Any, new_server: ServerFactory) -> None:
    server = new_server(ConnectionLimits(max_idle_ms=-1), clock)
    client = server.client()
    server.until(lambda: len(server.processor) == 1)
    pass_time(server, clock, 60)
    assert not client.is_closed()


@pytest.fixture
def reports(clock: Any) -> Iterator[tuple[FaultReports, list[str]]]:
    loop = EventLoop(monotonic_ns=clock.ns)
    whys: list[str] = []

    class Journal:
        def record(self, event: Any) -> int:
            whys.append(event.why)
            return len(whys)

    yield FaultReports(loop, Journal()), whys
    loop.close()


def test_faults_are_reported_in_a_burst_then_one_a_second_with_a_count(
    reports: tuple[FaultReports, list[str]], clock: Any
) -> None:
    faults, whys = reports
    for number in range(100):
        faults.report("client", f"fault {number}")
    assert whys == [f"fault {number}" for number in range(10)]
    clock.advance_ms(1_000)
    faults.report("client", "late")
    faults.report("client", "too soon")
    assert whys[10:] == ["late (90 more since the last report)"]


def test_quiet_times_do_not_save_up_more_than_a_burst(
    reports: tuple[FaultReports, list[str]], clock: Any
) -> None:
    faults, whys = reports
    clock.advance_ms(3_600_000)
    for number in range(100):
        faults.report("client", f"fault {number}")
    assert len(whys) == 10
