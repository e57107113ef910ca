"""Clients that are far away: their links are slow, and now and then so slow that answers come after
the time-outs of their requests.

What a broker has done then, nobody knows: a batch is written and sent again, a member has joined
and is told so on a connection that is over, a commit counts.
"""

from __future__ import annotations

from functools import partial
from random import Random

from tests.sim.group_simulation import GroupSimulation
from tests.sim.simulation import HEALED_US, TOPIC_CREATED_US

_USUAL_US = (0, 20_000, 60_000, 120_000)  # one way; a request and its answer have 700 ms
_SPELL_US = (250_000, 700_000)
_LASTS_US = (300_000, 2_000_000)
_MOST_SPELLS = 3


class SlowLinksSimulation(GroupSimulation):
    """Of producers and of a group's members, each at a distance of its own."""

    def __init__(self, seed: int, *, keep_all: bool = False) -> None:
        super().__init__(seed, keep_all=keep_all)
        rng = Random(f"slow links {seed}")
        self.spells = 0
        self._names = [
            *(each.name for each in self.members),
            *(each.name for each in self.producers),
        ]
        for name in self._names:
            self._move_away(name, rng)

    def _move_away(self, name: str, rng: Random) -> None:
        usual_us = rng.choice(_USUAL_US)
        self.fabric.slow_down(name, usual_us)
        for _ in range(rng.randint(0, _MOST_SPELLS)):
            begins_us = rng.randint(TOPIC_CREATED_US, HEALED_US)
            ends_us = min(HEALED_US - 1, begins_us + rng.randint(*_LASTS_US))
            by_us = rng.randint(*_SPELL_US)
            self.clock.at(begins_us, f"{name} is slow", partial(self._slow_down, name, by_us))
            self.clock.at(
                ends_us, f"{name} is slow no more", partial(self.fabric.slow_down, name, usual_us)
            )

    def _heal(self) -> None:
        super()._heal()
        for name in self._names:
            self.fabric.slow_down(name, 0)

    def _slow_down(self, name: str, by_us: int) -> None:
        self.spells += 1
        self.fabric.slow_down(name, by_us)
