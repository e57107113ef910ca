"""What a producer promises to programs: good histories, and bad ones of which each is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from logquake.client.errors import DeliveryError, RequestTimedOutError
from logquake.client.producer.delivery import Outcome, RecordMetadata
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.model import ZooKeeperModel
from tests.sim.programs.copier import copy_of
from tests.sim.programs.copying import exactly_once
from tests.sim.programs.promises import (
    one_batch_a_sequence,
    renewed_for_a_reason,
    sent_in_time,
    told_in_order,
    told_in_time,
    told_truly,
    written_once,
)
from tests.sim.programs.records import Handed, Left, Sequence31, Told
from tests.sim.replicas import Batch
from tests.sim.step import Step
from tests.sim.world import Committed, World

PLACE = TopicPartition("orders", 0)
PATIENCE_MS = 100
CRC = 77


@pytest.fixture
def world() -> World:
    """Two records are committed, at 5 and 6, which one batch holds."""
    world = World([], ZooKeeperModel(), 1)
    batch = Batch(5, 7, 0, CRC, 1, 0, 0, False, 0)
    world.committed[PLACE] = Committed(batches=[batch], prefixes={0: 0, 7: 0}, end=7)
    world.records.contents[CRC] = [b"one", b"two"]
    return world


def hand(world: World, *values: bytes) -> list[Handed]:
    return [world.records.hand("p", PLACE, value, 0, PATIENCE_MS) for value in values]


def told(handed: Handed, outcome: Outcome | int, at_ms: int = 10) -> Told:
    if isinstance(outcome, int):
        outcome = RecordMetadata(*PLACE, outcome, 0, -1, 3)
    return Told(handed, outcome, at_ms)


def left(*values: bytes, epoch: int = 0, first: int = 0, at_ms: int = 10) -> Left:
    return Left("p", 1, Sequence31(PLACE, 1, epoch, first), values, at_ms)


def problems(
    promise: Callable[[World, Step], Iterator[str]], world: World, **happened: list[object]
) -> int:
    return len(list(promise(world, Step(**happened))))  # type: ignore[arg-type]


def failed(*, may_be_written: bool) -> DeliveryError:
    return DeliveryError(RequestTimedOutError("late"), may_be_written=may_be_written)


def test_told_in_order(world: World) -> None:
    one, two = hand(world, b"one", b"two")
    assert problems(told_in_order, world, told=[told(one, 5), told(two, 6)]) == 0
    three, four = hand(world, b"three", b"four")
    assert problems(told_in_order, world, told=[told(four, 8), told(three, 7)]) == 2
    assert problems(told_in_order, world, told=[told(one, 5)]) == 1  # once more


def test_told_in_time(world: World) -> None:
    (one,) = hand(world, b"one")
    assert problems(told_in_time, world, told=[told(one, 5, PATIENCE_MS)]) == 0
    assert problems(told_in_time, world, told=[told(one, 5, 2 * PATIENCE_MS)]) == 1


def test_told_truly(world: World) -> None:
    one, two = hand(world, b"one", b"two")
    assert problems(told_truly, world, told=[told(one, 5), told(two, 6), told(two, -1)]) == 0
    assert problems(told_truly, world, told=[told(two, 5), told(one, 9)]) == 2


def test_sent_in_time(world: World) -> None:
    hand(world, b"one")
    assert problems(sent_in_time, world, left=[left(b"one", at_ms=PATIENCE_MS)]) == 0
    assert problems(sent_in_time, world, left=[left(b"one", at_ms=PATIENCE_MS + 1)]) == 1


def test_one_batch_a_sequence(world: World) -> None:
    first, again = left(b"one"), left(b"one", at_ms=20)
    assert problems(one_batch_a_sequence, world, left=[first, again]) == 0
    assert problems(one_batch_a_sequence, world, left=[left(b"two")]) == 1
    assert problems(one_batch_a_sequence, world, left=[left(b"two", first=1)]) == 0


def test_renewed_for_a_reason(world: World) -> None:
    hand(world, b"one")
    assert problems(renewed_for_a_reason, world, left=[left(b"one"), left(b"one")]) == 0
    assert problems(renewed_for_a_reason, world, left=[left(b"one", epoch=1)]) == 1
    world.records.doubted.add(("p", PLACE))
    assert problems(renewed_for_a_reason, world, left=[left(b"one", epoch=1)]) == 0


def test_written_once(world: World) -> None:
    one, two = hand(world, b"one", b"two")
    world.records.told += [told(one, 5), told(two, failed(may_be_written=True))]
    assert list(written_once(world)) == []
    (lost,) = hand(world, b"lost")
    world.records.told.append(told(lost, 9))
    world.records.told.append(told(one, failed(may_be_written=False)))
    assert len(list(written_once(world))) == 2


def test_a_record_that_is_there_twice_was_sent_in_two_epochs(world: World) -> None:
    one, two = hand(world, b"one", b"two")
    world.records.told += [told(one, 5), told(two, 6)]
    again = Batch(7, 9, 0, CRC, 1, 1, 0, False, 0)
    world.committed[PLACE].batches.append(again)
    for value in (b"one", b"two"):
        world.records.epochs[value] = {(1, 0)}
    assert len(list(written_once(world))) == 3  # and in another order
    for value in (b"one", b"two"):
        world.records.epochs[value] = {(1, 0), (1, 1)}
    assert list(written_once(world)) == []


def test_a_batch_of_a_coordinator_is_none_of_a_programs(world: World) -> None:
    one, two = hand(world, b"one", b"two")
    world.records.told += [told(one, 5), told(two, 6)]
    for value in (b"one", b"two"):
        world.records.epochs[value] = {(1, 0)}
    world.committed[TopicPartition("__consumer_offsets", 0)] = world.committed[PLACE]
    assert list(written_once(world)) == []


class ReaderOf:
    """Who read these batches of copies."""

    partition = TopicPartition("copies", 0)

    def __init__(self, *values: int) -> None:
        self.values = values


def test_copies_are_there_once_and_in_order(world: World) -> None:
    world.records.contents[1] = [copy_of(b"one"), copy_of(b"two")]
    world.records.contents[2] = [copy_of(b"two")]
    world.records.contents[3] = [copy_of(b"one")]
    for values in ([], [1], [3, 2]):
        assert list(exactly_once(world, [ReaderOf(*values)])) == []
    for values in ([2], [2, 3], [3, 3], [1, 2]):
        assert len(list(exactly_once(world, [ReaderOf(*values)]))) == 1
