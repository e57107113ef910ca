"""A login's first frame is made beside the core, and may come late, or never."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import pytest

from logquake.client.errors import AuthenticationFailedError, MalformedResponseError
from logquake.client.network.effects import LogIn, Node, Write
from logquake.client.network.links import Links
from logquake.client.network.settings import NetworkSettings
from logquake.wire.header import encode_response
from logquake.wire.sasl.authenticator import LoggedIn
from tests.parts import joined
from tests.unit.client.cluster_in_memory import all_versions

BROKER = Node(1, "one", 9092)
WORD = b"\0\0\0\4word"


class Word:
    def start(self, _spoken: Mapping[int, tuple[int, int]]) -> bytes:
        return WORD

    def receive(self, _frame: bytes) -> bytes | LoggedIn:
        return LoggedIn(0)


class Awaiting:
    """Connected, and asked to log in."""

    def __init__(self) -> None:
        self.links = Links(NetworkSettings(), Random(1), new_login=Word)
        self.links.begin(BROKER, 0)
        link = self.links.states.link(BROKER.id)
        assert link is not None
        self.link_id = link.id
        self.links.resolved(link.id, ["10.0.0.1"], 0)
        self.links.connected(link.id, 0)
        self.links.take_effects()
        self.receive(joined(encode_response(1, all_versions(), 3)))
        (self.asked,) = self.links.take_effects()

    def receive(self, content: bytes) -> None:
        room = self.links.room(self.link_id)
        room[: len(content)] = content
        self.links.received(self.link_id, len(content), 0)

    @property
    def why_over(self) -> object:
        return self.links.states.failure(BROKER.id)


@pytest.fixture
def awaiting() -> Awaiting:
    return Awaiting()


def test_the_first_frame_is_asked_for_and_sent_when_it_comes(awaiting: Awaiting) -> None:
    assert isinstance(awaiting.asked, LogIn)
    awaiting.links.login_began(awaiting.link_id, awaiting.asked.first_frame(), 0)
    assert awaiting.links.take_effects() == [Write(awaiting.link_id, [WORD])]


def test_an_answer_before_that_ends_the_connection(awaiting: Awaiting) -> None:
    awaiting.receive(b"\0\0\0\2ok")
    assert not awaiting.links.count
    assert isinstance(awaiting.why_over, MalformedResponseError)


def test_what_comes_after_its_connection_is_of_no_interest(awaiting: Awaiting) -> None:
    awaiting.links.lost(awaiting.link_id, "reset by peer", 0)
    awaiting.links.take_effects()
    awaiting.links.login_began(awaiting.link_id, WORD, 0)
    assert awaiting.links.take_effects() == []


def test_whatever_the_programs_own_raises_ends_the_connection(awaiting: Awaiting) -> None:
    awaiting.links.login_began(awaiting.link_id, LookupError("no token"), 0)
    assert not awaiting.links.count
    assert isinstance(awaiting.why_over, AuthenticationFailedError)
    assert "no token" in str(awaiting.why_over)


def test_its_time_is_that_of_setting_up(awaiting: Awaiting) -> None:
    due_ms = awaiting.links.next_due_ms(0)
    assert due_ms is not None
    awaiting.links.poll(due_ms)
    assert not awaiting.links.count
