"""What a partition, a leader and a follower's progress list as invariants: states good and bad.

Each bad state is a literal one that no message may bring about; the change that meets it tells.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logquake.node.controller_link import ControllerRequests
from logquake.node.replication.partition.alter_partition import (
    AlterPartitionManager,
    IsrMember,
    IsrProposal,
)
from logquake.node.replication.partition.isr import (
    CommittedIsr,
    IsrState,
    PendingExpand,
    PendingShrink,
)
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.partition.progress import FollowerProgress
from logquake.node.replication.partition.roles import Follower, Leader
from logquake.node.replication.resting import FetchClock
from logquake.storage.invariants import InvariantError
from logquake.wire.sentinels import NO_LEADER_EPOCH
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.scheduler import ManualScheduler
from tests.unit.node.replication.one_broker import OneBroker

NOW_MS = 1_000
BASE = CommittedIsr((1, 2))


class Rested:
    """What rests of a follower's session; nobody looks at it again."""

    def __init__(self, replica_id: int) -> None:
        self.replica_id = replica_id
        self.clock = FetchClock(NOW_MS)

    def wake(self) -> None: ...


class TestFollowerProgress:
    @pytest.mark.parametrize("fetch_offset", [5, 3])
    def test_a_fetch_makes_it_known(self, fetch_offset: int) -> None:
        progress = FollowerProgress()
        progress.record_fetch(fetch_offset, 0, 5, NOW_MS, 70)
        progress.check_invariants()

    def test_a_start_without_a_fetch_is_caught(self) -> None:
        progress = FollowerProgress()
        progress.log_start = 3
        with pytest.raises(InvariantError, match=r"nothing known before a fetch: \(3, -1\)"):
            progress.trust_until_lagging(NOW_MS)

    def test_a_fetch_from_a_leader_without_an_end_is_caught(self) -> None:
        progress = FollowerProgress()
        progress.log_end = 5
        with pytest.raises(InvariantError, match="the leader's end is known: -1"):
            progress.check_invariants()

    def test_rest_behind_the_leader_is_caught(self) -> None:
        progress = FollowerProgress()
        progress.record_fetch(3, 0, 5, NOW_MS, 70)
        progress.resting = Rested(2)
        with pytest.raises(InvariantError, match="rests caught up: 3, 5"):
            progress.check_invariants()


class TestLeader:
    @pytest.mark.parametrize(
        "isr", [BASE, CommittedIsr((1,)), BASE.expand(3), BASE.shrink((2,)), CommittedIsr((4, 1))]
    )
    def test_an_isr_that_the_controller_may_know(self, isr: IsrState) -> None:
        leader = Leader(1)
        leader.assign((1, 2, 3), BASE)
        leader.isr = isr
        leader.check_invariants()

    @pytest.mark.parametrize(
        ("isr", "why"),
        [
            (CommittedIsr((2, 3)), "a leader is in sync: 1"),
            (CommittedIsr(()), "a leader is in sync: 1"),
            (BASE.shrink((1,)), "a leader is in sync: 1"),
            (CommittedIsr((1, 2, 2)), "each member once"),
            (BASE.expand(2), "each member once"),
            (PendingExpand(BASE, 3, (1, 3)), "committed within maximal"),
        ],
    )
    def test_one_that_it_may_not_is_caught(self, isr: IsrState, why: str) -> None:
        leader = Leader(1)
        leader.assign((1, 2, 3), BASE)
        leader.isr = isr
        with pytest.raises(InvariantError, match=why):
            leader.out_of_sync(10, NOW_MS, 1_000)

    def test_a_shrink_that_is_under_way_counts_all(self) -> None:
        leader = Leader(1)
        leader.assign((1, 2, 3), BASE)
        leader.isr = PendingShrink(BASE, (2,), (1,))
        leader.check_invariants()

    def test_a_leader_that_follows_itself_is_caught(self) -> None:
        leader = Leader(1)
        leader.assign((1, 2), BASE)
        leader.followers[1] = FollowerProgress()
        with pytest.raises(InvariantError, match="no leader follows itself: 1"):
            leader.may_join(2, 0)

    def test_so_is_a_broken_progress(self) -> None:
        leader = Leader(1)
        leader.assign((1, 2), BASE)
        leader.followers[2].broker_epoch = 70
        with pytest.raises(InvariantError, match="nothing known before a fetch"):
            leader.check_invariants()


@pytest.fixture
def partition(broker: OneBroker, batch: Callable[..., memoryview]) -> Partition:
    """Led by broker 1 in epoch 4, with ten records that its follower has."""
    broker.lead(epoch=4)
    led = broker.partition()
    led.replica.log.stage_as_leader(batch(*[b"-"] * 10), 4, 0)
    led.replica.log.commit()
    assert led.leader is not None
    led.leader.followers[2].record_fetch(10, 0, 10, NOW_MS, 70)
    led.replica.advance_to(10)
    return led


class TestPartition:
    def test_a_life_keeps_them(self, partition: Partition, broker: OneBroker) -> None:
        partition.rest(Rested(2))
        broker.lead(epoch=5, isr=(1,))
        broker.assign(leader=2, epoch=6)
        broker.lead(epoch=7)
        partition.go_offline("a test")
        partition.check_invariants()

    def test_an_epoch_that_begins_beyond_the_log_is_caught(self, partition: Partition) -> None:
        assert partition.leader is not None
        partition.leader.epoch_start_offset = 11
        with pytest.raises(InvariantError, match="the epoch began within the log: 11, 10"):
            partition.wake_resting()

    def test_a_log_of_a_later_epoch_than_its_leaders_is_caught(self, partition: Partition) -> None:
        partition.leader_epoch = 3
        with pytest.raises(InvariantError, match="own epoch: 4, 3"):
            partition.wake_resting()

    def test_a_role_that_no_controller_gave_is_caught(self, partition: Partition) -> None:
        partition.role = Follower(2)
        partition.leader_epoch = NO_LEADER_EPOCH
        with pytest.raises(InvariantError, match="a role has an epoch"):
            partition.wake_resting()

    def test_a_followers_stage_is_caught(
        self, partition: Partition, batch: Callable[..., memoryview]
    ) -> None:
        partition.replica.log.stage_as_leader(batch(b"-"), 4, 0)
        partition.check_invariants()
        partition.role = Follower(2)
        with pytest.raises(InvariantError, match="only leaders stage"):
            partition.wake_resting()

    def test_rest_of_another_follower_is_caught(self, partition: Partition) -> None:
        assert partition.leader is not None
        other = Rested(3)
        partition.rest(other)
        partition.leader.followers[2].resting = other
        with pytest.raises(InvariantError, match="what rests, rests here: 2"):
            partition.check_invariants()

    def test_rest_that_the_partition_does_not_know_is_caught(self, partition: Partition) -> None:
        assert partition.leader is not None
        partition.leader.followers[2].resting = Rested(2)
        with pytest.raises(InvariantError, match="what rests, rests here: 2"):
            partition.check_invariants()

    def test_a_copy_in_the_logs_own_directory_is_caught(self, partition: Partition) -> None:
        partition.future = partition.replica.log
        with pytest.raises(InvariantError, match="a copy lies elsewhere"):
            partition.check_invariants()

    @pytest.mark.parametrize("mark", [-1, 11])
    def test_a_mark_outside_the_log_is_caught(self, partition: Partition, mark: int) -> None:
        partition.replica.high_watermark = mark
        with pytest.raises(InvariantError, match=f"high watermark <= end: 0, {mark}, 10"):
            partition.wake_resting()

    def test_by_the_log_itself_too(self, partition: Partition) -> None:
        partition.replica.high_watermark = 12
        with pytest.raises(InvariantError, match="high watermark <= end: 0, 12, 10"):
            partition.replica.advance_to(5)


class TestAlterPartitionManager:
    @pytest.fixture
    def manager(self, scheduler: ManualScheduler) -> AlterPartitionManager:
        requests = ControllerRequests(lambda: None, scheduler)
        return AlterPartitionManager(1, lambda: 50, requests, scheduler, retry_ms=50)

    def proposal(self, index: int) -> IsrProposal:
        return IsrProposal("orders", index, bytes(16), 4, 6, (IsrMember(1, -1),), lambda _: None)

    def test_what_waits_is_on_its_way(self, manager: AlterPartitionManager) -> None:
        manager.submit(self.proposal(0))
        manager.check_invariants()

    def test_a_proposal_that_nobody_sends_is_caught(self, manager: AlterPartitionManager) -> None:
        manager.submit(self.proposal(0))
        manager._busy = False
        with pytest.raises(InvariantError, match="what waits is on its way"):
            manager.check_invariants()

    def test_one_under_another_name_is_caught(self, manager: AlterPartitionManager) -> None:
        manager.submit(self.proposal(0))
        manager._pending[TopicPartition("orders", 1)] = self.proposal(2)
        with pytest.raises(InvariantError, match="its own name"):
            manager.submit(self.proposal(3))
