"""Fakes of a broker's seams: a network of scripted answers, a journal in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from logquake.node.requests.request import Request
from logquake.wire.header import RequestHeader
from logquake.wire.listeners import PLAINTEXT
from logquake.wire.schema import Message
from tests.doubles.journal import MemoryJournal
from tests.doubles.network import ScriptedNetwork


@dataclass
class Asked:
    """A request made for a handler, and what the handler did about it."""

    request: Request
    replies: list[Message | None]
    closed: list[str]

    @property
    def reply(self) -> Message | None:
        (only,) = self.replies
        return only


@pytest.fixture
def network() -> ScriptedNetwork:
    return ScriptedNetwork()


@pytest.fixture
def journal() -> MemoryJournal:
    return MemoryJournal()


@pytest.fixture
def ask() -> Callable[[Message, int], Asked]:
    def make(body: Message, version: int) -> Asked:
        replies: list[Message | None] = []
        closed: list[str] = []
        key = body.__schema__.key or 0
        header = RequestHeader(key, version, 1, "test")
        return Asked(
            Request(header, body, 0, "127.0.0.1", PLAINTEXT, replies.append, closed.append),
            replies,
            closed,
        )

    return make
