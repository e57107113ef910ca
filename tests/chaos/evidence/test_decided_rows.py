from __future__ import annotations

from logquake.chaos.evidence.decided_rows import rows_of_decisions
from logquake.chaos.evidence.decisions import EpochWrite, StateWrite
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.znodes.topics import PartitionState

ORDERS = TopicPartition("orders", 0)


def state(leader: int, epoch: int, *isr: int) -> PartitionState:
    return PartitionState(leader=leader, leader_epoch=epoch, isr=isr, controller_epoch=1)


def kinds(before: PartitionState | None, after: PartitionState) -> list[str]:
    write = StateWrite(7, ORDERS, before, after, 1, 0, 1)
    return [row.what for row in rows_of_decisions([write])]


def test_who_was_elected_and_who_was_not() -> None:
    assert kinds(state(1, 0, 1, 2), state(2, 1, 2)) == ["leader-elected", "isr-shrunk"]
    assert kinds(state(1, 0, 1), state(-1, 1, 1)) == ["leader-not-elected"]
    assert kinds(state(-1, 1, 1), state(2, 2, 2)) == ["unclean-leader-elected"]
    assert kinds(None, state(1, 0, 1)) == ["leader-elected"]


def test_an_isr_that_changed() -> None:
    assert kinds(state(1, 0, 1), state(1, 0, 1, 2)) == ["isr-expanded"]
    assert kinds(state(1, 0, 1, 2), state(1, 0, 1)) == ["isr-shrunk"]


def test_a_controller_that_took_office() -> None:
    [row] = rows_of_decisions([EpochWrite(8, 0x1, 1, 2, at_ms=5)])
    assert (row.what, row.epoch, row.at_us) == ("controller-elected", 2, 5_000)
