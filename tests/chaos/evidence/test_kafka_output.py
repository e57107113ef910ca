from __future__ import annotations

from logquake.chaos.evidence.kafka_output import journal_of

LEADER = (
    "[2026-11-23 04:17:13,122] INFO [Broker id=2] Leader orders-1 with topic id "
    "Some(UNnvxG9nT7eO0kS-v06q5g) starts at leader epoch 1 from offset 50 with partition epoch 4, "
    "high watermark 50, ISR [3,2], adding replicas [] and removing replicas [] . Previous leader "
    "Some(1) and previous leader epoch was 0. (state.change.logger)\n"
)
FOLLOWER = (
    "[2026-11-23 04:17:13,584] INFO [Broker id=2] Follower orders-0 starts at leader epoch 1 from "
    "offset 50 with partition epoch 1 and high watermark 50. Current leader is 3. Previous leader "
    "Some(3) and previous leader epoch was 1. (state.change.logger)\n"
)
NOT_CUT = (
    "[2026-11-23 04:16:58,602] INFO [UnifiedLog partition=orders-1, dir=/d] Truncating to 0 has no "
    "effect as the largest offset in the log is -1 (kafka.log.UnifiedLog)\n"
)
CUT = (
    "[2026-11-23 04:16:59,602] INFO [UnifiedLog partition=orders-1, dir=/d] Truncating to offset "
    "812 (kafka.log.UnifiedLog)\n"
)
REPAIRED = (
    "[2026-11-23 04:17:01,602] WARN [LogLoader partition=orders-1, dir=/d] Corruption found in "
    "segment 0, truncating to offset 100 (kafka.log.LogLoader)\n"
)
SHRINKS = (
    "[2026-11-23 04:46:32,657] INFO [Partition orders-0 broker=1] Shrinking ISR from 1,2,3 to 1,2. "
    "Leader: (highWatermark: 563, endOffset: 710). Out of sync replicas: (brokerId: 3, endOffset: "
    "563, lastCaughtUpTimeMs: 1795409186260). (kafka.cluster.Partition)\n"
)
SHRUNK = (
    "[2026-11-23 04:46:33,657] INFO [Partition orders-0 broker=1] ISR updated to 2,1  and version "
    "updated to 2 (kafka.cluster.Partition)\n"
)
EXPANDED = (
    "[2026-11-23 04:46:34,657] INFO [Partition orders-0 broker=1] ISR updated to 2,3,1  and "
    "version updated to 3 (kafka.cluster.Partition)\n"
)
RESIGNED = "[2026-11-23 04:17:02,602] INFO [Controller id=2] Resigned (kafka.controller.K)\n"
FRAME = "\tat kafka.Kafka.main(Kafka.scala)\n"


def test_a_broker_that_takes_an_office_says_so_with_its_epoch() -> None:
    leader, follower = journal_of(2, (LEADER, FOLLOWER))
    assert (leader.what, leader.subject, leader.epoch) == ("role-changed", "orders-1", 1)
    assert (leader.process, leader.after) == ("broker-2", "leader")
    assert leader.at_us == 1_795_407_433_122_000
    assert (follower.subject, follower.after, follower.sequence) == ("orders-0", "follower", 2)


def test_a_log_that_was_cut_says_where_and_one_that_was_not_is_no_row() -> None:
    [cut] = journal_of(1, (NOT_CUT, CUT, FRAME))
    assert (cut.what, cut.subject, cut.after) == ("log-truncated", "orders-1", 812)


def test_a_damaged_log_and_an_office_that_was_given_up_are_told() -> None:
    repaired, resigned = journal_of(2, (REPAIRED, RESIGNED))
    assert (repaired.what, repaired.subject, repaired.after) == ("log-repaired", "/d/orders-1", 100)
    assert (resigned.what, resigned.process) == ("controller-resigned", "broker-2")


def test_an_isr_that_a_leader_asked_for_is_told_when_it_has_it() -> None:
    asked, has = journal_of(1, (SHRINKS, SHRUNK, EXPANDED))
    assert (asked.what, asked.subject) == ("isr-proposed", "orders-0")
    assert (asked.before, asked.after) == ([1, 2, 3], [1, 2])
    assert (has.what, has.after, has.at_us - asked.at_us) == ("isr-shrunk", [1, 2], 1_000_000)
