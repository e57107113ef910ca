"""Records as they are told: in runs."""

from __future__ import annotations

from confluent_kafka import Message

from logquake.chaos.workloads.reading import runs


def message(partition: int, offset: int, epoch: int = 0) -> Message:
    return Message(topic="orders", partition=partition, offset=offset, leader_epoch=epoch)


def told(*messages: Message) -> list[list[tuple[int | None, int | None]]]:
    return [[(each.partition(), each.offset()) for each in run] for run in runs(messages)]


def test_offsets_that_follow_each_other_are_one_run() -> None:
    assert told(message(0, 5), message(0, 6), message(0, 7)) == [[(0, 5), (0, 6), (0, 7)]]


def test_each_partition_has_its_own() -> None:
    taken = message(0, 5), message(1, 0), message(0, 6), message(1, 1)
    assert told(*taken) == [[(0, 5), (0, 6)], [(1, 0), (1, 1)]]


def test_a_gap_a_step_back_and_another_leader_begin_a_run() -> None:
    taken = message(0, 5), message(0, 7), message(0, 7), message(0, 8, epoch=1)
    assert told(*taken) == [[(0, 5)], [(0, 7)], [(0, 7)], [(0, 8)]]
