"""Committed offsets survive their coordinators, over many seeds, and planted bugs are found."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from logquake.node.coordinators import loading
from logquake.node.coordinators.groups import group_partition
from logquake.node.coordinators.groups.group_partition import GroupPartition
from logquake.node.coordinators.groups.offsets.committed import LoggedOffset
from logquake.node.coordinators.groups.offsets.group_offsets import GroupOffsets, PendingCommit
from logquake.node.coordinators.loading import LogLoads
from logquake.node.coordinators.partitions import CoordinatorPartitions
from logquake.node.coordinators.term import Appended, Term
from logquake.node.replication.partition.partition import Partition
from logquake.wire.errors import ErrorCode
from tests.sim.committing import CommittingSimulation
from tests.sim.simulation import SimulationFailure

SEEDS_A_TEST = 20
TESTS = 5


@pytest.mark.parametrize("first", range(0, SEEDS_A_TEST * TESTS, SEEDS_A_TEST))
def test_commits_survive_whatever_fails(first: int) -> None:
    counts: Counter[str] = Counter()
    acked_under_fault = 0
    for seed in range(first, first + SEEDS_A_TEST):
        summary = CommittingSimulation(seed).run()
        counts += summary.counts
        acked_under_fault += summary.acked_under_fault
    assert counts["fault"] >= 4 * SEEDS_A_TEST
    assert counts["coordinator-loaded"] >= SEEDS_A_TEST
    assert acked_under_fault >= 10 * SEEDS_A_TEST


def with_answers_before_replication(patch: pytest.MonkeyPatch) -> None:
    """A commit is answered as soon as the coordinator has it."""
    append = Term.append

    def append_alone(
        term: Term[GroupPartition],
        batch: bytearray,
        _acks: int,
        timeout_ms: int,
        done: Appended,
        **rest: Any,
    ) -> None:
        append(term, batch, 1, timeout_ms, done, **rest)

    patch.setattr(Term, "append", append_alone)


def with_commits_seen_before_replication(patch: pytest.MonkeyPatch) -> None:
    """Who asks is told an offset that may yet be lost."""
    begin = GroupOffsets.begin

    def begin_and_hold(offsets: GroupOffsets, commit: PendingCommit) -> None:
        begin(offsets, commit)
        for partition, value in commit.offsets.items():
            offsets._committed[partition] = LoggedOffset(0, value)

    patch.setattr(GroupOffsets, "begin", begin_and_hold)


def with_a_load_that_skips_tombstones(patch: pytest.MonkeyPatch) -> None:
    """What was deleted is back after a failover."""
    patch.setattr(GroupOffsets, "drop", lambda _self, _partition, _producer_id: None)


def with_a_load_of_one_chunk(patch: pytest.MonkeyPatch) -> None:
    """The end of the log is not read."""
    patch.setattr(LogLoads, "_go_on", _go_on_once)


def _go_on_once(loads: LogLoads[GroupPartition], load: Any) -> None:
    if load.progress.next_offset > load.began_at:
        loads._finish(load)
    else:
        GO_ON(loads, load)


def with_a_load_up_to_the_high_watermark(patch: pytest.MonkeyPatch) -> None:
    """What the one before committed lies above it: a new leader learns its mark from followers."""

    def is_at_end(load: Any) -> bool:
        return bool(load.progress.next_offset >= load.term.partition.replica.high_watermark)

    patch.setattr(loading._Load, "is_at_end", property(is_at_end))


def with_answers_amid_a_load(patch: pytest.MonkeyPatch) -> None:
    """Who asks while the log is read is told what is known by then."""

    def find_at(
        partitions: CoordinatorPartitions[GroupPartition], index: int
    ) -> Term[GroupPartition] | ErrorCode:
        found = partitions._serving.get(index) or partitions._loading.get(index)
        return found if found is not None and found.is_current else ErrorCode.NOT_COORDINATOR

    patch.setattr(CoordinatorPartitions, "find_at", find_at)


def with_a_state_that_outlives_its_term(patch: pytest.MonkeyPatch) -> None:
    """Who leads again goes on from what it knew when it led before."""
    note = CoordinatorPartitions.note

    def keep(partitions: CoordinatorPartitions[GroupPartition], partition: Partition) -> None:
        term = partitions._serving.get(partition.index)
        if term is None or term.partition is not partition:
            note(partitions, partition)
        elif partition.leader is not None:
            term.leader = partition.leader

    patch.setattr(CoordinatorPartitions, "note", keep)


def with_timed_out_commits_forgotten(patch: pytest.MonkeyPatch) -> None:
    """What its client was told nothing of is in the log, and is not what the coordinator serves."""
    patch.setattr(group_partition, "_IN_DOUBT", frozenset())


def with_a_load_that_may_be_lost(patch: pytest.MonkeyPatch) -> None:
    """Who leads again tells of commits in its log that no follower has, as Kafka does."""
    patch.setattr(loading._Load, "is_committed", property(lambda _load: True))


GO_ON = LogLoads._go_on
SEEDS = 400  # one run in 70 has a coordinator that leads again, and dies before it commits


def first_failure() -> str:
    for seed in range(SEEDS):
        try:
            CommittingSimulation(seed).run()
        except SimulationFailure as failure:
            return str(failure)
    return "nothing was found"


@pytest.mark.parametrize(
    ("plant", "found_by"),
    [
        (with_answers_before_replication, "committed_offsets"),
        (with_commits_seen_before_replication, "committed_offsets|replayed"),
        (with_a_load_that_skips_tombstones, "committed_offsets|replayed"),
        (with_a_load_of_one_chunk, "committed_offsets"),
        (with_a_load_up_to_the_high_watermark, "committed_offsets"),
        (with_answers_amid_a_load, "committed_offsets"),
        (with_a_state_that_outlives_its_term, "committed_offsets|replayed"),
        (with_timed_out_commits_forgotten, "committed_offsets|replayed"),
        (with_a_load_that_may_be_lost, "committed_offsets"),
    ],
)
def test_a_planted_bug_is_found(
    plant: Callable[[pytest.MonkeyPatch], None], found_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert re.search(f"^seed .*: ({found_by}) does not hold", first_failure())
