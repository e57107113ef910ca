"""Time-outs of many waiting requests on one timer."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from logquake.node.replication.purgatories.deadline_queue import DeadlineQueue
from tests.doubles.scheduler import ManualScheduler


@dataclass(eq=False)
class Item:
    deadline_ms: int
    is_done: bool = False


@pytest.fixture
def expired() -> list[Item]:
    return []


@pytest.fixture
def queue(scheduler: ManualScheduler, expired: list[Item]) -> DeadlineQueue[Item]:
    def expire(item: Item) -> None:
        item.is_done = True
        expired.append(item)

    return DeadlineQueue(scheduler, expire)


def add(queue: DeadlineQueue[Item], scheduler: ManualScheduler, timeout_ms: int) -> Item:
    item = Item(scheduler.now_ms() + timeout_ms)
    queue.add(item, timeout_ms)
    return item


def test_each_expires_at_its_time(
    queue: DeadlineQueue[Item], scheduler: ManualScheduler, expired: list[Item]
) -> None:
    late, early = add(queue, scheduler, 500), add(queue, scheduler, 100)
    scheduler.advance(99)
    assert expired == []
    scheduler.advance(1)
    assert expired == [early]
    scheduler.advance(400)
    assert expired == [early, late]


def test_what_is_done_does_not_expire(
    queue: DeadlineQueue[Item], scheduler: ManualScheduler, expired: list[Item]
) -> None:
    done, waiting = add(queue, scheduler, 100), add(queue, scheduler, 100)
    done.is_done = True
    scheduler.advance(100)
    assert expired == [waiting]


def test_an_item_added_by_an_expiry_gets_its_own_time(scheduler: ManualScheduler) -> None:
    times: list[int] = []

    def expire(item: Item) -> None:
        item.is_done = True
        times.append(scheduler.now_ms())
        if len(times) < 3:
            add(deadlines, scheduler, 50)

    deadlines: DeadlineQueue[Item] = DeadlineQueue(scheduler, expire)
    add(deadlines, scheduler, 100)
    scheduler.advance(1_000)
    assert times == [100, 150, 200]


def test_done_items_do_not_pile_up(queue: DeadlineQueue[Item], scheduler: ManualScheduler) -> None:
    for _ in range(100):
        add(queue, scheduler, 30_000).is_done = True
    (waiting,) = queue._queues.values()
    assert len(waiting) == 1
