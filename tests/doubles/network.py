"""Other brokers, whose answers the test gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from logquake.seams.network import Channel, Disconnected, Endpoint
from logquake.wire.schema import Message

Done = Callable[[Message | Disconnected], None]


class InFlight:
    """A connection's requests without an answer: each is answered once, at the latest when lost.

    What add() returns stands for the request; it answers it, or does nothing if that is over.
    """

    def __init__(self) -> None:
        self._unanswered: list[Done] = []

    def __contains__(self, answer: Done) -> bool:
        return answer in self._unanswered

    def add(self, done: Done) -> Done:
        def answer(response: Message | Disconnected) -> None:
            if answer in self._unanswered:
                self._unanswered.remove(answer)
                done(response)

        self._unanswered.append(answer)
        return answer

    def lose(self, reason: str) -> None:
        """The connection ends."""
        for answer in list(self._unanswered):
            answer(Disconnected(reason))

    def forget(self) -> None:
        """Whoever asked is gone: nobody hears an answer."""
        self._unanswered.clear()


@dataclass(slots=True)
class Sent:
    """A request, of the class that the test expects; ``done`` answers it."""

    endpoint: Endpoint
    client_id: str
    request: Any
    version: int
    done: Done


@dataclass
class ScriptedTether:
    """The test says what becomes of it."""

    endpoint: Endpoint
    held: Callable[[], None]
    ended: Callable[[Disconnected], None]
    closed: bool = False

    def close(self) -> None:
        self.closed = True


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


class _ScriptedChannel:
    def __init__(self, network: ScriptedNetwork, endpoint: Endpoint, client_id: str) -> None:
        self._network = network
        self._endpoint = endpoint
        self._client_id = client_id
        self._in_flight = InFlight()

    def send(self, request: Message, version: int, done: Done) -> None:
        answer = self._in_flight.add(done)
        self._network.sent.append(Sent(self._endpoint, self._client_id, request, version, answer))

    def close(self) -> None:
        self._in_flight.lose("closed")
