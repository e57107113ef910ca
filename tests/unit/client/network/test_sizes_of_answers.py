"""What an answer may weigh follows from what was asked."""

from __future__ import annotations

from random import Random

import pytest

from logquake.client.errors import MalformedResponseError
from logquake.client.network.effects import Node
from logquake.client.network.link import Answer, ClientRequest, Link
from logquake.client.network.links import Links
from logquake.client.network.settings import NetworkSettings
from logquake.wire.header import encode_response
from logquake.wire.messages.fetch import FetchRequest, FetchResponse
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from tests.parts import joined
from tests.unit.client.cluster_in_memory import all_versions

BOUND = 1 << 20
BROKER = Node(1, "one", 9092)


class Asked:
    """One broker, and what came of the requests to it."""

    def __init__(self) -> None:
        self.told: list[Answer] = []
        self.links = Links(NetworkSettings(max_response_bytes=BOUND), Random(1))
        self.links.begin(BROKER, 0)
        link = self.links.states.link(BROKER.id)
        assert link is not None
        self.link: Link = link
        self.links.resolved(link.id, ["10.0.0.1"], 0)
        self.links.connected(link.id, 0)

    def greet(self) -> None:
        self.receive(joined(encode_response(1, all_versions(), 3)))
        self.links.take_effects()

    def metadata(self) -> None:
        self._send(ClientRequest(MetadataRequest(), 9, MetadataResponse, self.told.append))

    def fetch(self) -> None:
        done = self.told.append
        self._send(
            ClientRequest(FetchRequest(), 12, FetchResponse, done, max_response_bytes=4 * BOUND)
        )

    def _send(self, request: ClientRequest) -> None:
        self.links.send(self.link, request, 0)
        self.links.written(self.link.id)

    def receive(self, content: bytes) -> None:
        room = self.links.room(self.link.id)
        room[: len(content)] = content
        self.links.received(self.link.id, len(content), 0)

    def announce(self, size: int) -> None:
        self.receive(size.to_bytes(4))

    @property
    def is_over(self) -> bool:
        return not self.links.count


def test_an_answer_without_records_is_no_larger_than_it_may_be() -> None:
    asked = Asked()
    asked.greet()
    asked.metadata()
    asked.announce(BOUND + 1)
    (told,) = asked.told
    assert isinstance(told, MalformedResponseError)
    assert asked.is_over


def test_records_may_be_as_large_as_they_were_asked_for() -> None:
    asked = Asked()
    asked.greet()
    asked.fetch()
    asked.metadata()
    asked.announce(4 * BOUND)
    assert asked.told == []
    assert not asked.is_over


def test_what_is_answered_first_was_asked_first() -> None:
    asked = Asked()
    asked.greet()
    asked.metadata()
    asked.fetch()
    asked.announce(4 * BOUND)
    assert isinstance(asked.told[0], MalformedResponseError)
    assert asked.is_over


@pytest.mark.parametrize("is_greeted", [False, True])
def test_whoever_was_asked_nothing_has_little_to_say(*, is_greeted: bool) -> None:
    asked = Asked()
    if is_greeted:
        asked.greet()
    asked.announce(BOUND)
    assert asked.is_over
