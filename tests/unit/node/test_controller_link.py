"""The way to the controller follows /controller."""

from __future__ import annotations

from logquake.node.controller_link import ControllerLink
from logquake.seams.network import Disconnected, Endpoint
from logquake.wire.messages.broker_to_controller import AllocateProducerIdsRequest
from tests.doubles.network import ScriptedNetwork

ONE, TWO = Endpoint(1, "127.0.0.1", 9001), Endpoint(2, "127.0.0.1", 9002)


class Asking:
    """A link to whoever is in office, and the answers that came over it."""

    def __init__(self, network: ScriptedNetwork) -> None:
        self.in_office: Endpoint | None = ONE
        self.answers: list[object] = []
        self.link = ControllerLink(network, "3", lambda: self.in_office)

    def ask(self) -> None:
        channel = self.link.channel()
        assert channel is not None
        channel.send(AllocateProducerIdsRequest(), 0, self.answers.append)


def test_a_request_to_a_controller_that_was_replaced_ends_when_controller_changes(
    network: ScriptedNetwork,
) -> None:
    asking = Asking(network)
    asking.ask()
    asking.in_office = TWO
    asking.link.follow()
    assert [type(each) for each in asking.answers] == [Disconnected]
    asking.ask()
    assert [each.endpoint for each in network.sent] == [ONE, TWO]


def test_nothing_is_dropped_while_the_controller_stays(network: ScriptedNetwork) -> None:
    asking = Asking(network)
    asking.ask()
    asking.link.follow()
    asking.ask()
    assert asking.answers == []


def test_the_connection_goes_when_nobody_is_in_office(network: ScriptedNetwork) -> None:
    asking = Asking(network)
    asking.ask()
    asking.in_office = None
    asking.link.follow()
    assert [type(each) for each in asking.answers] == [Disconnected]
    assert asking.link.channel() is None
