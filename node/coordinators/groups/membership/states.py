"""What a group is at a moment: each state holds what only it has (Kafka's GroupState).

Empty                nobody is a member; there may be offsets, and who was just given an id
PreparingRebalance   waits until all members have joined the next generation
CompletingRebalance  they have; it waits for the leader's assignment, and for it to be stored
Stable               each has, or may fetch, what it was assigned
Dead                 it is not here any more: deleted, or another broker coordinates it
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class InitialDelay:
    """An empty group got a member and waits for others, who joined or not (InitialDelayedJoin).

    ``delay_ms`` of it end at the deadline; ``remaining_ms`` are left to wait again then.
    """

    deadline_ms: int
    delay_ms: int
    remaining_ms: int


@dataclass(frozen=True, slots=True)
class Rejoining:
    """All members are waited for until the deadline (DelayedJoin)."""

    deadline_ms: int


@dataclass(slots=True)
class Syncing:
    """Which members of the generation have not asked for their assignment yet (DelayedSync).

    Those who are missing at the deadline are members no longer. A static member that comes back
    under a new id is missing by its old one, as in Kafka: then the group rebalances.
    """

    deadline_ms: int
    missing: dict[str, None]


@dataclass(frozen=True, slots=True)
class Empty:
    name: ClassVar[str] = "Empty"


@dataclass(slots=True)
class PreparingRebalance:
    name: ClassVar[str] = "PreparingRebalance"
    wait: InitialDelay | Rejoining


@dataclass(frozen=True, slots=True)
class CompletingRebalance:
    name: ClassVar[str] = "CompletingRebalance"
    syncing: Syncing


@dataclass(frozen=True, slots=True)
class Stable:
    """``syncing`` is None in a group that was read from the log."""

    name: ClassVar[str] = "Stable"
    syncing: Syncing | None


@dataclass(frozen=True, slots=True)
class Dead:
    name: ClassVar[str] = "Dead"


GroupState = Empty | PreparingRebalance | CompletingRebalance | Stable | Dead
