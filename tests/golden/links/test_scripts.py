"""One direction of a link, byte by byte: what leaves, and when."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from logquake.cluster.links.effects import (
    Cut,
    Delay,
    DropAfter,
    Effect,
    HalfOpen,
    Rate,
    together,
)
from logquake.cluster.links.shaper import Ending, Shaper
from tests.golden.player import Chronicle, Player, check_script, scripts_beside

SEED = 7
MAX_HELD_BYTES = 1000


@pytest.mark.parametrize("script", scripts_beside(__file__), ids=lambda path: path.stem)
def test_script(script: Path) -> None:
    check_script(script, ShaperPlayer())


class ShaperPlayer(Player):
    """Its sink takes all that may leave, until ``full``; bytes are counted, not shown."""

    def __init__(self) -> None:
        self._chronicle = Chronicle()
        self._shaper = Shaper(Random(SEED), MAX_HELD_BYTES)
        self._effects: dict[int, Effect] = {}
        self._now_ms = 0.0
        self._room = 10**9
        self._is_over = False

    def outcome(self) -> list[str]:
        self._leave()
        return self._chronicle.take_log()

    # What happens

    def do_arrive(self, size: str) -> None:
        """Bytes, as far as there is room for them."""
        taken = min(int(size), self._shaper.room_bytes)
        if taken < int(size):
            self._chronicle.log(f"{int(size) - taken} wait outside")
        if taken:
            self._shaper.arrive(bytes(taken), self._now_ms)

    def do_close(self) -> None:
        self._shaper.arrive(Ending.CLOSED, self._now_ms)

    def do_reset(self) -> None:
        self._shaper.arrive(Ending.RESET, self._now_ms)

    def do_wait(self, ms: str) -> None:
        """Time passes; what becomes due on the way leaves when it is due."""
        until_ms = self._now_ms + float(ms)
        while (wait_ms := self._shaper.wait_ms(self._now_ms)) is not None and not self._is_over:
            if self._now_ms + wait_ms > until_ms or self._room == 0:
                break
            self._now_ms += max(wait_ms, 1)
            self._leave()
        self._now_ms = until_ms

    def do_full(self) -> None:
        """The sink takes nothing more."""
        self._room = 0

    def do_takes(self, size: str) -> None:
        self._room = int(size)

    # Faults

    def do_cut(self, fault: str) -> None:
        self._begin(fault, Cut())

    def do_delay(self, fault: str, ms: str, jitter: str = "0") -> None:
        self._begin(fault, Delay(float(ms), float(jitter)))

    def do_rate(self, fault: str, bytes_per_s: str) -> None:
        self._begin(fault, Rate(float(bytes_per_s)))

    def do_drop_after(self, fault: str, size: str) -> None:
        self._begin(fault, DropAfter(int(size)))

    def do_half_open(self, fault: str) -> None:
        self._begin(fault, HalfOpen())

    def do_heal(self, fault: str) -> None:
        del self._effects[int(fault)]
        self._change()

    def _begin(self, fault: str, effect: Effect) -> None:
        self._effects[int(fault)] = effect
        self._change()

    def _change(self) -> None:
        self._shaper.change(together(self._effects.items()), self._now_ms)

    def _leave(self) -> None:
        left = 0
        while not self._is_over and (head := self._shaper.head(self._now_ms)) is not None:
            if isinstance(head, Ending):
                self._say_left(left)
                left = 0
                self._chronicle.log(f"{self._now_ms:g} ms: {head.name.lower()}")
                self._is_over = head is Ending.RESET
                if not self._is_over:
                    self._shaper.leave(0)
                continue
            size = min(len(head), self._room)
            if size == 0:
                break
            self._shaper.leave(size)
            self._room -= size
            left += size
        self._say_left(left)

    def _say_left(self, size: int) -> None:
        if size:
            self._chronicle.log(f"{self._now_ms:g} ms: {size}")
