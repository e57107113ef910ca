"""What ZooKeeper's writes must be to each other: of a partition's state, of the controller's epoch.

The simulation judges every write by the same rules as it is made.
"""

from __future__ import annotations

from collections.abc import Iterator

from logquake.chaos.evidence.decisions import EpochWrite, StateWrite
from logquake.wire.sentinels import NO_LEADER


def problems_of_state(write: StateWrite) -> Iterator[str]:
    """Leader in ISR, ISR within replicas; a write names the version that it replaces; a leader
    change bumps the epoch. Who may lead is StateWrite.is_unclean's to say.
    """
    before, after = write.before, write.after
    if after.leader != NO_LEADER and after.leader not in after.isr:
        yield "the leader is not in the ISR"
    if not after.isr or not set(after.isr) <= set(write.replicas):
        yield "the ISR is empty or not within the replicas"
    if before is None:
        return
    if write.expected_version + 1 != write.version:
        yield "the write did not name the version that it replaced"
    if after.leader_epoch < before.leader_epoch:
        yield "the leader epoch fell"
    if after.leader != before.leader and after.leader_epoch == before.leader_epoch:
        yield "the leader changed within an epoch"


def problems_of_epoch(write: EpochWrite, owners: dict[int, int]) -> Iterator[str]:
    """Controller epochs strictly increase, one owner each; ``owners`` are the sessions so far."""
    if write.after <= write.before:
        yield "the controller epoch did not increase"
    owner = owners.setdefault(write.after, write.session_id)
    if owner != write.session_id:
        yield f"a controller epoch has two owners, {owner} too"


def is_of_earlier_controller(write: StateWrite) -> bool:
    """Whether a write was applied that carries an older controller epoch than the present one."""
    return write.after.controller_epoch < write.controller_epoch
