"""Keeping watch over one broker by a connection that carries nothing.

When the connection breaks, another attempt is made at once. If that one is refused, nobody listens
there any more: the broker's process is gone, and the system of its machine has just said so, long
before its ZooKeeper session ends. Attempts go on, with a growing pause, so that a broker that
only closed its listener for a while is noticed when it is back.

A refusal counts only after a sign that the broker listened under this registration: a connection
made, or a registration written again, which brokers do when they are up. Before that it may be
one that starts, and has registered but does not listen yet. Whatever is no refusal (a time-out,
no route) says nothing about the process, and neither does a connection that stays: a frozen
process keeps it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from logquake.seams.network import Disconnected, Endpoint, Network, Tether
from logquake.seams.scheduler import Scheduler, Timer


@dataclass(frozen=True, slots=True)
class VigilTiming:
    """Milliseconds: the first and the longest pause between attempts, and one attempt's time."""

    backoff_ms: int
    backoff_max_ms: int
    attempt_timeout_ms: int


class Sign(Enum):
    """What is known of a broker's listener, of this registration."""

    NONE = auto()
    LISTENED = auto()
    REFUSED = auto()  # and it had listened before


class Vigil:
    """Of what ``sign`` says is known already, only a change is told: on_refused() and on_accepted()
    are called in turn, never from within the constructor. on_lost() is called whenever a
    connection that was held has ended, before it is known whether the next one is refused.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        network: Network,
        scheduler: Scheduler,
        timing: VigilTiming,
        *,
        sign: Sign,
        on_refused: Callable[[], None],
        on_accepted: Callable[[], None],
        on_lost: Callable[[], None] = lambda: None,
    ) -> None:
        self._endpoint = endpoint
        self._network = network
        self._scheduler = scheduler
        self._timing = timing
        self._on_refused = on_refused
        self._on_accepted = on_accepted
        self._on_lost = on_lost
        self._sign = sign
        self._pause_ms = timing.backoff_ms
        self._held_since_ms: int | None = None
        self._timer: Timer | None = None
        self._tether: Tether | None = None
        self._attempt()

    @property
    def is_held(self) -> bool:
        return self._held_since_ms is not None

    def note_listening(self) -> None:
        """The registration was written again."""
        if self._sign is Sign.NONE:
            self._sign = Sign.LISTENED

    def close(self) -> None:
        self._cancel_timer()
        if self._tether is not None:
            self._tether.close()
            self._tether = None

    def _attempt(self) -> None:
        self._tether = self._network.tether(self._endpoint, self._on_held, self._on_ended)
        self._timer = self._scheduler.call_later(
            self._timing.attempt_timeout_ms, self._on_attempt_timeout
        )

    def _on_attempt_timeout(self) -> None:
        if self._tether is not None:
            self._tether.close()
        self._on_ended(Disconnected("no connection in time"))

    def _on_held(self) -> None:
        self._cancel_timer()
        self._held_since_ms = self._scheduler.now_ms()
        before, self._sign = self._sign, Sign.LISTENED
        if before is Sign.REFUSED:
            self._on_accepted()

    def _on_ended(self, why: Disconnected) -> None:
        self._tether = None
        self._cancel_timer()
        was_held = self.is_held
        self._timer = self._scheduler.call_later(self._next_pause_ms(), self._attempt)
        if was_held:
            self._on_lost()
        if why.refused and self._sign is Sign.LISTENED:
            self._sign = Sign.REFUSED
            self._on_refused()

    def _next_pause_ms(self) -> int:
        """None after a connection that lasted; one that is made only to end must not spin."""
        since_ms, self._held_since_ms = self._held_since_ms, None
        if since_ms is not None and self._scheduler.now_ms() - since_ms >= self._pause_ms:
            self._pause_ms = self._timing.backoff_ms
            return 0
        pause_ms = self._pause_ms
        self._pause_ms = min(2 * pause_ms, self._timing.backoff_max_ms)
        return pause_ms

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
