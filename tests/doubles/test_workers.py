"""What all Workers do, a broker's own threads and those that stand for them alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

import pytest

from logquake.node.net.loop import EventLoop
from logquake.seams.workers import Workers
from tests.doubles.scheduler import ManualScheduler
from tests.doubles.workers import HeldWorkers, ScheduledWorkers

MAX_PASSES = 2_000


@dataclass
class Staff:
    """Workers, and how to wait until something came of their work."""

    workers: Workers
    wait_for: Callable[[list[Future[str]]], None]


def _scheduled() -> Iterator[Staff]:
    scheduler = ManualScheduler()
    yield Staff(ScheduledWorkers(scheduler), lambda _: scheduler.advance(10))


def _held() -> Iterator[Staff]:
    workers = HeldWorkers()
    yield Staff(workers, lambda _: workers.finish())


def _real() -> Iterator[Staff]:
    loop = EventLoop()

    def wait_for(done: list[Future[str]]) -> None:
        for _ in range(MAX_PASSES):
            if done:
                return
            loop.run_pass(max_wait_ms=5)
        pytest.fail("no worker was done")

    yield Staff(loop, wait_for)
    loop.close()


@pytest.fixture(params=[_scheduled, _held, _real], ids=lambda make: make.__name__[1:])
def staff(request: pytest.FixtureRequest) -> Iterator[Staff]:
    yield from request.param()


def test_a_result_comes_later_with_its_future(staff: Staff) -> None:
    done: list[Future[str]] = []
    staff.workers.run_in_worker(lambda: "result", done.append)
    assert done == []
    staff.wait_for(done)
    assert [future.result() for future in done] == ["result"]


def test_what_work_raises_is_raised_where_its_result_is_asked_for(staff: Staff) -> None:
    def fail() -> str:
        raise OSError("no space left")

    done: list[Future[str]] = []
    staff.workers.run_in_worker(fail, done.append)
    staff.wait_for(done)
    with pytest.raises(OSError, match="no space left"):
        done[0].result()


def test_scheduled_workers_work_later_and_answer_later() -> None:
    scheduler = ManualScheduler()
    order: list[str] = []
    workers = ScheduledWorkers(scheduler, delay_ms=5)
    workers.run_in_worker(lambda: order.append("work"), lambda _: order.append("done"))
    scheduler.advance(5)
    assert order == ["work"]
    scheduler.advance(5)
    assert order == ["work", "done"]


def test_held_work_is_done_in_order_when_it_is_let_go() -> None:
    workers = HeldWorkers()
    order: list[int] = []
    for number in range(3):
        workers.run_in_worker(partial(order.append, number), lambda _: None)
    workers.finish_next()
    assert (order, len(workers)) == ([0], 2)
    workers.finish()
    assert (order, len(workers)) == ([0, 1, 2], 0)
