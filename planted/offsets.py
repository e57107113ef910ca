"""Bugs of what a group has committed: how it is kept, and what the next coordinator reads of it."""

from __future__ import annotations

from typing import Any

from logquake.node.coordinators import loading
from logquake.node.coordinators.groups import group_partition, offset_removal
from logquake.node.coordinators.groups.group_partition import GroupPartition
from logquake.node.coordinators.groups.offsets.committed import LoggedOffset
from logquake.node.coordinators.groups.offsets.group_offsets import GroupOffsets, PendingCommit
from logquake.node.coordinators.loading import LogLoads
from logquake.node.coordinators.partitions import CoordinatorPartitions
from logquake.node.coordinators.term import Appended, Term
from logquake.node.replication.partition.partition import Partition
from logquake.planted.bug import Replace
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition

# Keeping


def answer_commits_too_soon(replace: Replace) -> None:
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

    replace(Term, "append", append_alone)


def show_commits_too_soon(replace: Replace) -> None:
    """Who asks is told an offset that may yet be lost."""
    begin = GroupOffsets.begin

    def begin_and_hold(offsets: GroupOffsets, commit: PendingCommit) -> None:
        begin(offsets, commit)
        for partition, value in commit.offsets.items():
            offsets._committed[partition] = LoggedOffset(0, value)

    replace(GroupOffsets, "begin", begin_and_hold)


def forget_commits_that_timed_out(replace: Replace) -> None:
    """What its client was told nothing of is in the log, and is not what the coordinator serves."""
    replace(group_partition, "_IN_DOUBT", frozenset())


def expire_what_is_in_use(replace: Replace) -> None:
    """Offsets go at the next look, whether or not the group has members."""

    def all_of_them(offsets: GroupOffsets, *_: object) -> list[TopicPartition]:
        return [each for each in offsets if not offsets.is_pending(each)]

    replace(offset_removal, "expired", all_of_them)


# Loading


def load_no_offsets(replace: Replace) -> None:
    """The next coordinator knows nothing of what was committed."""
    replace(GroupPartition, "_replay_offset", lambda *_: None)


def load_the_first_offset(replace: Replace) -> None:
    """Of each partition the next coordinator knows the oldest commit that is in the log."""
    replay_offset = GroupPartition._replay_offset

    def replay(self: GroupPartition, group_id: str, partition: TopicPartition, record: Any) -> None:
        group = self.get(group_id)
        if group is None or group.offsets.get(partition) is None:
            replay_offset(self, group_id, partition, record)

    replace(GroupPartition, "_replay_offset", replay)


def skip_tombstones(replace: Replace) -> None:
    """What was deleted is back after a failover."""
    replace(GroupOffsets, "drop", lambda _self, _partition, _producer_id: None)


def load_one_chunk(replace: Replace) -> None:
    """The end of the log is not read."""
    go_on = LogLoads._go_on

    def go_on_once(loads: LogLoads[GroupPartition], load: Any) -> None:
        if load.progress.next_offset > load.began_at:
            loads._finish(load)
        else:
            go_on(loads, load)

    replace(LogLoads, "_go_on", go_on_once)


def load_up_to_the_mark(replace: Replace) -> None:
    """What the one before committed lies above it: a new leader learns its mark from followers."""

    def is_at_end(load: Any) -> bool:
        return bool(load.progress.next_offset >= load.term.partition.replica.high_watermark)

    replace(loading._Load, "is_at_end", property(is_at_end))


def load_what_may_be_lost(replace: Replace) -> None:
    """Who leads again tells of commits in its log that no follower has, as Kafka does."""
    replace(loading._Load, "is_committed", property(lambda _load: True))


def answer_amid_a_load(replace: Replace) -> None:
    """Who asks while the log is read is told what is known by then."""

    def find_at(
        partitions: CoordinatorPartitions[GroupPartition], index: int
    ) -> Term[GroupPartition] | ErrorCode:
        found = partitions._serving.get(index) or partitions._loading.get(index)
        return found if found is not None and found.is_current else ErrorCode.NOT_COORDINATOR

    replace(CoordinatorPartitions, "find_at", find_at)


def outlive_the_term(replace: Replace) -> None:
    """Who leads again goes on from what it knew when it led before."""
    note = CoordinatorPartitions.note

    def keep(partitions: CoordinatorPartitions[GroupPartition], partition: Partition) -> None:
        term = partitions._serving.get(partition.index)
        if term is None or term.partition is not partition:
            note(partitions, partition)
        elif partition.leader is not None:
            term.leader = partition.leader

    replace(CoordinatorPartitions, "note", keep)
