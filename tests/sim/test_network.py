"""The simulated network keeps the promises of a Channel, and breaks what TCP would break."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from logquake.seams.network import Disconnected, Endpoint
from logquake.wire.header import RequestHeader
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from logquake.wire.schema import Message
from tests.sim.clock import Clock
from tests.sim.connection import PATIENCE_US, HostNetwork, SimChannel
from tests.sim.delays import Delays
from tests.sim.host import Host, HostScheduler
from tests.sim.network import Fabric, Reply
from tests.sim.payloads import AsObjects


class EchoServer:
    """Keeps requests until it is told to answer; the answer's cluster id names the request."""

    def __init__(self, clock: Clock) -> None:
        self.host = Host("server", clock)
        self.listening = True
        self.next_may_follow = False
        self.open: list[Reply] = []

    def serve(self, header: RequestHeader, body: Message, client: str, reply: Reply) -> bool:
        del header, body, client
        self.open.append(reply)
        return self.next_may_follow

    def answer(self, name: str) -> None:
        self.open.pop(0)(MetadataResponse(cluster_id=name))


class Net:
    def __init__(self) -> None:
        self.clock = Clock()
        self.fabric = Fabric(self.clock, Delays(Random(7)), AsObjects())
        self.server = EchoServer(self.clock)
        self.fabric.servers[("server", 1)] = self.server
        self.client = Host("client", self.clock)
        network = HostNetwork(self.fabric, self.client)
        channel = network.channel(Endpoint(1, "server", 1), "test")
        assert isinstance(channel, SimChannel)
        self.channel = channel
        self.heard: list[Any] = []

    def ask(self) -> None:
        self.channel.send(MetadataRequest(), 12, self.hear)

    def hear(self, answer: Message | Disconnected) -> None:
        self.heard.append(answer.cluster_id if isinstance(answer, MetadataResponse) else answer)

    def run(self, *, until_us: int = PATIENCE_US // 2) -> None:
        """Let things happen for that long."""
        end_us = self.clock.now_us + until_us
        self.clock.at(end_us, "end", lambda: None)
        while self.clock.now_us < end_us:
            event = self.clock.next_event()
            if event is not None and event.action is not None:
                event.action()


@pytest.fixture
def net() -> Net:
    return Net()


def test_a_request_waits_until_the_one_before_it_is_answered(net: Net) -> None:
    net.ask()
    net.ask()
    net.run()
    assert len(net.server.open) == 1
    net.server.answer("first")
    assert len(net.server.open) == 1
    net.server.answer("second")
    net.run()
    assert net.heard == ["first", "second"]


def test_a_request_follows_at_once_where_the_one_before_it_lets_it(net: Net) -> None:
    net.server.next_may_follow = True
    net.ask()
    net.ask()
    net.run()
    assert len(net.server.open) == 2
    net.server.answer("first")
    net.server.answer("second")
    net.run()
    assert net.heard == ["first", "second"]


def test_requests_without_an_answer_in_time_are_disconnected(net: Net) -> None:
    net.ask()
    net.run(until_us=2 * PATIENCE_US)
    assert net.heard == [Disconnected("no answer")]
    net.server.answer("too late")
    net.run()
    assert len(net.heard) == 1


def test_a_dead_server_resets_and_a_restarted_one_is_reached_again(net: Net) -> None:
    net.ask()
    net.run()
    net.server.host.die()
    net.run()
    assert net.heard == [Disconnected("reset by the peer")]
    net.server.open.clear()
    net.server.host.revive()
    net.ask()
    net.run()
    net.server.answer("again")
    net.run()
    assert net.heard[1:] == ["again"]


def test_a_server_that_does_not_listen_resets(net: Net) -> None:
    net.server.listening = False
    net.ask()
    net.run()
    assert net.heard == [Disconnected("reset by the peer")]


def test_what_a_cut_link_held_arrives_in_order_when_it_heals(net: Net) -> None:
    net.fabric.cut("client", "server")
    net.ask()
    net.run()
    net.fabric.heal("client", "server")
    net.ask()
    net.run(until_us=PATIENCE_US // 4)
    net.server.answer("first")
    net.server.answer("second")
    net.run(until_us=PATIENCE_US // 4)
    assert net.heard == ["first", "second"]


def test_a_cut_that_outlasts_patience_loses_what_it_held(net: Net) -> None:
    net.fabric.cut("client", "server")
    net.ask()
    net.run(until_us=2 * PATIENCE_US)
    net.fabric.heal("client", "server")
    net.run()
    assert net.server.open == []
    assert net.heard == [Disconnected("no answer")]


def test_closing_answers_what_is_in_flight_later(net: Net) -> None:
    net.ask()
    net.channel.close()
    assert net.heard == []
    net.run()
    assert net.heard == [Disconnected("closed on this side")]


def test_a_paused_process_handles_in_order_what_came_meanwhile(net: Net) -> None:
    scheduler = HostScheduler(net.client)
    order: list[str] = []
    note: Callable[[str], Callable[[], None]] = lambda what: lambda: order.append(what)  # noqa: E731
    net.client.pause()
    scheduler.call_later(2, note("second"))
    scheduler.call_later(1, note("first"))
    scheduler.call_later(3, note("cancelled")).cancel()
    net.run()
    assert order == []
    net.client.resume()
    net.run()
    assert order == ["first", "second"]


def test_a_timer_that_came_up_in_a_pause_can_still_be_cancelled(net: Net) -> None:
    """As on the loop, which finds it due together with what cancels it."""
    scheduler = HostScheduler(net.client)
    rang: list[str] = []

    def cancel_late() -> None:
        late.cancel()

    net.client.pause()
    scheduler.call_later(1, cancel_late)
    late = scheduler.call_later(2, lambda: rang.append("late"))
    net.run()
    net.client.resume()
    net.run()
    assert rang == []


def test_timers_end_with_the_life_that_set_them(net: Net) -> None:
    rang: list[str] = []
    HostScheduler(net.client).call_later(1, lambda: rang.append("of the first life"))
    net.client.die()
    net.client.revive()
    HostScheduler(net.client).call_later(1, lambda: rang.append("of the second"))
    net.run()
    assert rang == ["of the second"]
