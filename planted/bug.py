"""What is said of a planted bug: for people, for who hunts it, and for who plants it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import Any

Replace = Callable[[Any, str, Any], None]
"""Puts a value in the place of an attribute: ``setattr``, or what takes it back after a test."""

Plant = Callable[[Replace], None]


class Room(StrEnum):
    REPLICATION = "replication"
    STORAGE = "storage"
    COORDINATORS = "coordinators"
    CONTROLLER = "controller"
    CLIENTS = "clients"


class World(StrEnum):
    """The simulations of tests/sim."""

    CLUSTER = "cluster"
    COMMITS = "commits"
    GROUPS = "groups"
    TRANSACTIONS = "transactions"
    PROGRAMS = "programs"
    COPIES = "copies"


@dataclass(frozen=True, slots=True)
class Simulated:
    """Which simulation shows the bug, and its statements of which one does not hold then.

    ``first_seed`` is the first that is tried: of a rare failure one that is known to show it.
    """

    world: World
    breaks: tuple[str, ...]
    first_seed: int = 0


@dataclass(frozen=True, slots=True)
class Hunt:
    """How a cluster of real processes shows the bug.

    ``scenario`` is a file of chaos/hunts, played for ``budget_s`` at most, judgement included, on a
    machine that has nothing else to do. One of the invariants that it ``breaks`` has to be found
    broken, and what is said of it has to match ``cause``, a regular expression.
    """

    scenario: str
    budget_s: int
    breaks: tuple[str, ...]
    cause: str


@dataclass(frozen=True, slots=True)
class PlantedBug:
    """``reference`` names it at Apache's, with the KIP that ended it; "none known" where nobody
    wrote down such a one. ``wrong`` is what the broker does. ``plant`` names the function,
    ``module.function`` of this room.
    """

    name: str
    room: Room
    reference: str
    wrong: str
    plant: str
    hunt: Hunt | None = None
    simulated: Simulated | None = None

    def load(self) -> Plant:
        """The modules of brokers are imported for it."""
        module, _, function = self.plant.rpartition(".")
        plant: Plant = getattr(import_module(f"logquake.planted.{module}"), function)
        return plant
