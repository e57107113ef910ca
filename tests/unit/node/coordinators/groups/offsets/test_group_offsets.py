"""What is committed, what is on its way, and what transactions hold."""

from __future__ import annotations

from logquake.node.coordinators.groups.offsets.committed import LoggedOffset, OffsetAndMetadata
from logquake.node.coordinators.groups.offsets.group_offsets import GroupOffsets, PendingCommit
from logquake.wire.sentinels import NO_PRODUCER_ID
from logquake.wire.topic_partition import TopicPartition

ONE = TopicPartition("orders", 0)
TWO = TopicPartition("orders", 1)
PRODUCER = 7


def commit(offset: int, *partitions: TopicPartition, producer_id: int = -1) -> PendingCommit:
    values = dict.fromkeys(partitions or (ONE,), OffsetAndMetadata(offset))
    return PendingCommit(values, producer_id)


def begun(offsets: GroupOffsets, *commits: PendingCommit) -> GroupOffsets:
    for each in commits:
        offsets.begin(each)
    return offsets


def holds(offsets: GroupOffsets, partition: TopicPartition = ONE) -> int | None:
    value = offsets.get(partition)
    return None if value is None else value.offset


def test_a_commit_holds_once_it_is_replicated() -> None:
    first = commit(5)
    offsets = begun(GroupOffsets(), first)
    assert (holds(offsets), offsets.is_unstable(ONE), offsets.is_empty) == (None, True, False)
    offsets.end(first, 0)
    assert (holds(offsets), offsets.is_unstable(ONE)) == (5, False)


def test_a_commit_that_is_not_in_the_log_leaves_nothing() -> None:
    first = commit(5)
    offsets = begun(GroupOffsets(), first)
    offsets.end(first, None)
    assert offsets.is_empty


def test_of_two_commits_the_later_in_the_log_holds_whoever_is_answered_first() -> None:
    first, second = commit(5), commit(3)
    offsets = begun(GroupOffsets(), first, second)
    offsets.end(second, 1)
    assert offsets.is_unstable(ONE)
    offsets.end(first, 0)
    assert holds(offsets) == 3


def test_alike_commits_are_told_apart() -> None:
    first, second = commit(5), commit(5)
    offsets = begun(GroupOffsets(), first, second)
    offsets.end(first, 0)
    assert offsets.is_unstable(ONE)
    offsets.end(second, None)
    assert (holds(offsets), offsets.is_unstable(ONE)) == (5, False)


def test_transactional_offsets_hold_with_their_marker() -> None:
    mine, other = commit(5, producer_id=PRODUCER), commit(9, producer_id=8)
    offsets = begun(GroupOffsets(), mine, other)
    offsets.end(mine, 0)
    offsets.end(other, 1)
    assert (holds(offsets), offsets.is_unstable(ONE)) == (None, True)
    offsets.complete(8, committed=False)
    offsets.complete(PRODUCER, committed=True)
    assert (holds(offsets), offsets.is_unstable(ONE)) == (5, False)


def test_a_transaction_does_not_go_behind_a_later_commit() -> None:
    mine, later = commit(5, producer_id=PRODUCER), commit(9)
    offsets = begun(GroupOffsets(), mine, later)
    offsets.end(mine, 0)
    offsets.end(later, 1)
    offsets.complete(PRODUCER, committed=True)
    assert holds(offsets) == 9


def test_what_is_deleted_needs_a_tombstone_also_of_commits_on_their_way() -> None:
    first, second = commit(5), commit(6, TWO)
    offsets = begun(GroupOffsets(), first, second)
    offsets.end(first, 0)
    assert offsets.remove([ONE, TWO, TopicPartition("orders", 2)]) == [ONE, TWO]
    offsets.end(second, 1)
    assert offsets.is_empty


def test_a_commit_after_a_deletion_holds() -> None:
    before, after = commit(5), commit(6)
    offsets = begun(GroupOffsets(), before)
    assert offsets.remove_all() == [ONE]
    offsets.begin(after)
    offsets.end(before, 0)
    assert holds(offsets) is None
    offsets.end(after, 2)
    assert holds(offsets) == 6


def test_deleting_leaves_open_transactions_to_their_markers() -> None:
    appended, going = commit(5, producer_id=PRODUCER), commit(6, TWO, producer_id=PRODUCER)
    offsets = begun(GroupOffsets(), appended, going)
    offsets.end(appended, 0)
    assert offsets.remove([ONE, TWO]) == []
    offsets.end(going, 1)
    offsets.complete(PRODUCER, committed=True)
    assert (holds(offsets), holds(offsets, TWO)) == (5, 6)


def test_a_commit_in_doubt_is_no_reason_to_wait() -> None:
    first = commit(5)
    offsets = begun(GroupOffsets(), first)
    first.in_doubt = True
    assert not offsets.is_unstable(ONE)
    assert offsets.is_pending(ONE)
    offsets.end(first, 0)
    assert holds(offsets) == 5


def test_tombstones_of_a_log() -> None:
    offsets = GroupOffsets()
    value = OffsetAndMetadata(5)
    offsets.put(ONE, LoggedOffset(0, value), NO_PRODUCER_ID)
    offsets.put(TWO, LoggedOffset(1, value), PRODUCER)
    offsets.drop(ONE, NO_PRODUCER_ID)
    offsets.drop(TWO, PRODUCER)
    offsets.drop(TWO, 8)
    offsets.complete(PRODUCER, committed=True)
    assert offsets.is_empty
