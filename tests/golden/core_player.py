"""Scripts for a core of a client: connections are made at once, what is due happens when it is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from logquake.client.network.effects import Close, Effect, Write
from logquake.client.network.links import Links
from tests.doubles.willing_links import carry_out
from tests.golden.player import Chronicle, Player
from tests.unit.client.cluster_in_memory import FakeClock

MANY = 1000


class CorePlayer(Player):
    _links: Links

    def __init__(self) -> None:
        self._chronicle = Chronicle()
        self._clock = FakeClock(0)

    def outcome(self) -> list[str]:
        self._go_on()
        return self._chronicle.take_log()

    def do_wait(self, ms: str) -> None:
        """Whatever is due on the way happens when it is due."""
        until_ms = self._clock.now + int(ms)
        for _ in range(MANY):
            due_ms = self._next_due_ms()
            if due_ms is None or due_ms > until_ms:
                break
            self._clock.now = max(self._clock.now, due_ms)
            self._go_on()
        else:
            self._log("it never rests")
        self._clock.now = until_ms

    @abstractmethod
    def _next_due_ms(self) -> int | None:
        """When something happens by itself."""

    def _go_on(self) -> None:
        for _ in range(MANY):
            if not self._pass():
                return
        self._log("it never rests")

    @abstractmethod
    def _pass(self) -> bool:
        """The core is polled, and what it wants is done; whether it may want more at once."""

    def _perform(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            carry_out(effect, self._links, self._clock.now, self._write, self._closes)

    @abstractmethod
    def _write(self, effect: Write) -> None:
        """A broker is asked."""

    def _closes(self, _effect: Close) -> None:
        self._log("closes a connection")

    def _log(self, line: str) -> None:
        self._chronicle.log(line)
