"""Commands for many partitions: nothing is held up by them, and their costs do not multiply."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Mapping
from typing import Any

import pytest

from logquake.node.replication.background.checkpoints import Checkpoints
from logquake.node.replication.background.high_watermarks import HighWatermarks
from logquake.node.replication.background.sliced_round import SlicedRound
from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.partition.roles import Leader
from logquake.storage.partition_metadata import read_topic_id
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from logquake.wire.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicState,
)
from tests.doubles.network import ScriptedNetwork
from tests.doubles.scheduler import ManualScheduler
from tests.doubles.workers import HeldWorkers
from tests.unit.node.replication.one_broker import BROKER_ID, TOPIC_ID, OneBroker

MANY = 120  # more than are taken at a time
CHECKPOINTS = ("recovery-point", "log-start", "cleaner-offset", "replication-offset")


def lead_all(broker: OneBroker, *, epoch: int = 0) -> list[LeaderAndIsrResponse]:
    """The answers: there is one in the end."""
    states = [
        LeaderAndIsrPartitionState(
            partition_index=index,
            leader=BROKER_ID,
            leader_epoch=epoch,
            partition_epoch=epoch,
            isr=[1],
            replicas=[1],
            is_new=epoch == 0,
        )
        for index in range(MANY)
    ]
    topic = LeaderAndIsrTopicState(topic_name="orders", topic_id=TOPIC_ID, partition_states=states)
    answers: list[LeaderAndIsrResponse] = []
    broker.replicas.state_changes.apply_leader_and_isr(
        LeaderAndIsrRequest(controller_epoch=1, topic_states=[topic]),
        lambda _topic: broker.config,
        answers.append,
    )
    return answers


def answer_fetch(
    network: ScriptedNetwork,
    records: Mapping[int, memoryview | None],
    *,
    diverging: EpochEndOffset | None = None,
) -> None:
    """What the leader answers to the last Fetch, by partition."""
    partitions = [
        PartitionData(
            partition_index=index,
            diverging_epoch=diverging or EpochEndOffset(),
            aborted_transactions=None,
            records=data,
        )
        for index, data in records.items()
    ]
    topic = FetchableTopicResponse(topic_id=TOPIC_ID, partitions=partitions)
    network.sent[-1].done(FetchResponse(session_id=5, responses=[topic]))


@pytest.fixture
def filled(broker: OneBroker, scheduler: ManualScheduler) -> OneBroker:
    lead_all(broker)
    scheduler.advance(100)
    return broker


def test_leadership_of_many_is_taken_on_bit_by_bit(
    broker: OneBroker, scheduler: ManualScheduler
) -> None:
    answers = lead_all(broker)
    assert not answers
    assert 0 < len(broker.replicas.partitions()) < MANY
    scheduler.advance(1)
    (answer,) = answers
    assert len(answer.topics[0].partition_errors) == MANY
    assert all(isinstance(each.role, Leader) for each in broker.replicas.partitions())
    assert len(broker.replicas.partitions()) == MANY


def test_many_new_logs_sync_nothing_on_the_loop(
    broker: OneBroker, scheduler: ManualScheduler
) -> None:
    broker.disk.faults.keep_history = True
    lead_all(broker)
    assert not [line for line in broker.disk.faults.history if line.startswith("sync")]
    scheduler.advance(100)  # a worker has written their topic ids
    logs = [each.replica.log for each in broker.replicas.partitions()]
    assert {read_topic_id(broker.disk, log.directory) for log in logs} == {TOPIC_ID}


def test_leadership_in_a_new_epoch_syncs_nothing(
    filled: OneBroker, scheduler: ManualScheduler
) -> None:
    filled.disk.faults.keep_history = True
    answers = lead_all(filled, epoch=1)
    scheduler.advance(1)
    assert len(answers) == 1
    assert not [line for line in filled.disk.faults.history if line.startswith("sync")]


def test_a_command_waits_for_the_one_before(broker: OneBroker, scheduler: ManualScheduler) -> None:
    lead_all(broker)
    answers = broker.delete(range(MANY))
    scheduler.advance(100)
    assert broker.replicas.partitions() == []
    assert {each.error_code for each in answers[0].partition_errors} == {ErrorCode.NONE}


def test_many_deletions_write_each_checkpoint_once(
    filled: OneBroker, scheduler: ManualScheduler
) -> None:
    filled.disk.faults.keep_history = True
    answers = filled.delete(range(MANY - 1))
    scheduler.advance(100)
    assert len(answers) == 1
    replaced = [line for line in filled.disk.faults.history if "checkpoint" in line]
    for name in CHECKPOINTS:
        assert sum("rename" in line and name in line for line in replaced) <= 1


def test_logs_deleted_one_by_one_share_their_checkpoints(
    filled: OneBroker, scheduler: ManualScheduler
) -> None:
    filled.log_dirs.online["/data"].offsets.write_recovery_points()
    filled.disk.faults.keep_history = True
    for index in range(50):
        filled.delete([index])
        scheduler.advance(10)
    written = [line for line in filled.disk.faults.history if "checkpoint" in line]
    assert not written
    scheduler.advance(600)
    written = [line for line in filled.disk.faults.history if line.startswith("rename")]
    assert sum("recovery-point" in line for line in written) == 1
    content = filled.disk.read("/data/recovery-point-offset-checkpoint").decode()
    assert [line.split()[1] for line in content.splitlines()[2:]] == [
        str(index) for index in range(50, MANY)
    ]


def test_deletions_checkpoint_follows_what_is_under_way_and_does_not_ask_again_and_again(
    filled: OneBroker, scheduler: ManualScheduler
) -> None:
    marks = HighWatermarks(filled.log_dirs, HostedPartitions(filled.metadata))
    workers = HeldWorkers()
    written = Checkpoints(filled.log_dirs, marks, scheduler, workers, deletion_delay_ms=0)
    written.write_recovery_points()
    written.write_soon()
    passes = 0
    while passes < 50 and (action := scheduler.take_due()) is not None:
        action()
        passes += 1
    assert (passes < 10, len(workers)) == (True, 1)
    workers.finish()
    scheduler.advance(1)
    assert len(workers) == 2  # the recovery points have not changed


def test_many_truncations_write_each_checkpoint_once(
    broker: OneBroker, network: ScriptedNetwork, scheduler: ManualScheduler, batch: Any
) -> None:
    for index in range(MANY):
        broker.tell(index, leader=2, epoch=0)
    for some in ([0], range(1, MANY)):  # one is fetched alone, before the others are followed
        records = (batch(b"a", leader_epoch=0) for _ in some)
        answer_fetch(network, dict(zip(some, records, strict=True)))
    for partition in broker.replicas.partitions():
        partition.replica.log.sync()
    broker.log_dirs.online["/data"].offsets.write_recovery_points()
    broker.disk.faults.keep_history = True
    to_the_start = EpochEndOffset(epoch=0, end_offset=0)
    sent = len(network.sent)
    answer_fetch(network, dict.fromkeys(range(MANY)), diverging=to_the_start)
    ends = [each.replica.end for each in broker.replicas.partitions()]
    assert 0 < sum(ends) < MANY  # they are cut bit by bit, and the leader is not asked before
    assert len(network.sent) == sent
    scheduler.advance(1)
    assert {each.replica.end for each in broker.replicas.partitions()} == {0}
    assert len(network.sent) == sent + 1
    replaced = [line for line in broker.disk.faults.history if line.startswith("rename /data/")]
    assert sum("recovery-point" in line for line in replaced) == 1


def test_a_deletion_is_answered_when_it_outlasts_a_loss_of_power(
    filled: OneBroker, scheduler: ManualScheduler
) -> None:
    answers = filled.delete([3])
    assert filled.replicas.partition("orders", 3) is None
    assert not answers
    scheduler.advance(100)
    assert len(answers) == 1


def test_what_looks_at_all_partitions_by_time_leaves_the_loop_in_between(
    scheduler: ManualScheduler,
) -> None:
    seen: list[int] = []
    sliced: SlicedRound[int] = SlicedRound(scheduler, seen.append, 10)
    sliced.start(range(25))
    assert seen == list(range(10))
    sliced.start(range(100, 125))  # the first one goes on
    scheduler.advance(1)
    assert seen == list(range(25))
    sliced.start(range(3))
    assert seen[25:] == [0, 1, 2]


def test_a_deleted_replica_leaves_no_cycle(
    broker: OneBroker, scheduler: ManualScheduler, network: ScriptedNetwork, batch: Any
) -> None:
    """Once the heap is frozen nobody would look for it (node/process/heap.py)."""
    broker.lead(0, isr=(1,))
    broker.tell(1, leader=2, epoch=0)
    answer_fetch(network, {1: batch(b"a", leader_epoch=0)})
    scheduler.advance(100)
    gone = [weakref.ref(partition) for partition in broker.replicas.partitions()]
    logs = [weakref.ref(partition.replica.log) for partition in broker.replicas.partitions()]
    gc.collect()
    gc.disable()
    try:
        broker.delete((0, 1))
        broker.replicas.end_of_pass()
        scheduler.advance(120_000)
        network.sent.clear()
        assert [partition() for partition in gone] == [None, None]
        assert [log() for log in logs] == [None, None]
    finally:
        gc.enable()
