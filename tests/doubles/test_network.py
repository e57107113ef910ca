"""What every Channel and Tether does, TCP's and those that the test plays alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from logquake.node.net.limits import ConnectionLimits
from logquake.node.net.links.channel import TcpNetwork
from logquake.node.net.links.link import LinkSettings
from logquake.seams.network import Disconnected, Endpoint, Network
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from logquake.wire.schema import Message
from tests.doubles.network import InFlight, ScriptedNetwork
from tests.net.server import Server


@dataclass
class Peer:
    """A broker at the other end of a network, and what the test has it do."""

    network: Network
    endpoint: Endpoint
    answer: Callable[[int, Message], None]  # the request of this number
    accept: Callable[[], None]  # whoever connects
    end: Callable[[], None]
    settle: Callable[[], None]


def _scripted() -> Iterator[Peer]:
    network = ScriptedNetwork()

    def accept() -> None:
        network.tethers[-1].held()

    def end() -> None:
        for tether in network.tethers:
            tether.ended(Disconnected("gone"))
        for sent in network.sent:
            sent.done(Disconnected("gone"))

    yield Peer(
        network,
        Endpoint(1, "one", 9092),
        lambda number, answer: network.sent[number].done(answer),
        accept,
        end,
        lambda: None,
    )


def _tcp() -> Iterator[Peer]:
    server = Server(ConnectionLimits())

    def settle() -> None:
        for _ in range(3):  # a connection is made, found, and read
            server.settle()

    yield Peer(
        TcpNetwork(server.loop, LinkSettings()),
        Endpoint(1, "127.0.0.1", server.acceptor.port),
        lambda number, answer: server.handler.requests[number].reply(answer),
        lambda: None,
        server.processor.close,
        settle,
    )
    server.close()


@pytest.fixture(params=[_scripted, _tcp], ids=lambda make: make.__name__[1:])
def peer(request: pytest.FixtureRequest) -> Iterator[Peer]:
    yield from request.param()


@pytest.fixture
def answers() -> list[Message | Disconnected]:
    return []


def ask(peer: Peer, answers: list[Message | Disconnected], count: int) -> Callable[[], None]:
    """Requests that reach the peer; how to close their channel."""
    channel = peer.network.channel(peer.endpoint, "broker-2")
    for _ in range(count):
        channel.send(MetadataRequest(topics=[]), 12, answers.append)
    peer.settle()
    assert answers == []
    return channel.close


def test_an_answer_comes_once(peer: Peer, answers: list[Message | Disconnected]) -> None:
    close = ask(peer, answers, 1)
    peer.answer(0, MetadataResponse())
    peer.settle()
    peer.end()
    close()
    peer.settle()
    assert answers == [MetadataResponse()]


def test_requests_in_flight_are_answered_when_their_channel_closes(
    peer: Peer, answers: list[Message | Disconnected]
) -> None:
    close = ask(peer, answers, 1)
    close()
    peer.settle()
    (answer,) = answers
    assert isinstance(answer, Disconnected)


def test_requests_in_flight_are_answered_when_the_peer_ends(
    peer: Peer, answers: list[Message | Disconnected]
) -> None:
    ask(peer, answers, 2)
    peer.end()
    peer.settle()
    assert [type(answer) for answer in answers] == [Disconnected] * 2


def test_a_tether_is_held_until_the_peer_ends(peer: Peer) -> None:
    told: list[str] = []
    peer.network.tether(peer.endpoint, lambda: told.append("held"), lambda _: told.append("ended"))
    assert told == []  # never from within
    peer.accept()
    peer.settle()
    assert told == ["held"]
    peer.end()
    peer.settle()
    assert told == ["held", "ended"]


def test_requests_are_told_apart_although_they_are_alike() -> None:
    answers: list[Message | Disconnected] = []
    in_flight = InFlight()
    first, second = in_flight.add(answers.append), in_flight.add(answers.append)
    first(MetadataResponse())
    assert first not in in_flight
    assert second in in_flight


def test_nobody_hears_what_was_forgotten() -> None:
    answers: list[Message | Disconnected] = []
    in_flight = InFlight()
    answer = in_flight.add(answers.append)
    in_flight.forget()
    answer(MetadataResponse())
    in_flight.lose("reset")
    assert answers == []
