"""Fakes of a broker's seams: a network of scripted answers, a journal in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from logquake.node.requests.request import Request
from logquake.seams.journal import Event
from logquake.seams.network import Channel, Disconnected, Endpoint
from logquake.wire.header import RequestHeader
from logquake.wire.schema import Message

Done = Callable[[Message | Disconnected], None]


@dataclass(slots=True)
class Sent:
    endpoint: Endpoint
    client_id: str
    request: Message
    version: int
    done: Done


@dataclass
class ScriptedNetwork:
    """Keeps what is sent; the test answers it, and says what becomes of tethers."""

    sent: list[Sent] = field(default_factory=list)
    tethers: list[ScriptedTether] = field(default_factory=list)

    def channel(self, endpoint: Endpoint, client_id: str) -> Channel:
        return _ScriptedChannel(self, endpoint, client_id)

    def tether(
        self,
        endpoint: Endpoint,
        held: Callable[[], None],
        ended: Callable[[Disconnected], None],
    ) -> ScriptedTether:
        self.tethers.append(ScriptedTether(endpoint, held, ended))
        return self.tethers[-1]


@dataclass
class ScriptedTether:
    endpoint: Endpoint
    held: Callable[[], None]
    ended: Callable[[Disconnected], None]
    closed: bool = False

    def close(self) -> None:
        self.closed = True


@dataclass
class _ScriptedChannel:
    network: ScriptedNetwork
    endpoint: Endpoint
    client_id: str
    _unanswered: list[Done] = field(default_factory=list)

    def send(self, request: Message, version: int, done: Done) -> None:
        sent = Sent(self.endpoint, self.client_id, request, version, self._once(done))
        self._unanswered.append(sent.done)
        self.network.sent.append(sent)

    def close(self) -> None:
        for done in list(self._unanswered):
            done(Disconnected("closed"))

    def _once(self, done: Done) -> Done:
        def answer(response: Message | Disconnected) -> None:
            if answer in self._unanswered:
                self._unanswered.remove(answer)
                done(response)

        return answer


class MemoryJournal:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def record(self, event: Event) -> int:
        self.events.append(event)
        return len(self.events)


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
            Request(header, body, 0, "127.0.0.1", "PLAINTEXT", replies.append, closed.append),
            replies,
            closed,
        )

    return make
