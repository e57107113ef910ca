"""Requests wait for the metadata, and for no longer than they said."""

from __future__ import annotations

from logquake.node.metadata.waiters import MetadataWaiters
from tests.doubles.scheduler import ManualScheduler


def test_a_condition_that_holds_is_answered_at_once(scheduler: ManualScheduler) -> None:
    done: list[str] = []
    MetadataWaiters(scheduler).wait(lambda: True, 1000, lambda: done.append("now"))
    assert done == ["now"]


def test_without_time_nothing_is_waited_for(scheduler: ManualScheduler) -> None:
    done: list[str] = []
    MetadataWaiters(scheduler).wait(lambda: False, 0, lambda: done.append("now"))
    assert done == ["now"]


def test_an_update_that_makes_it_true_answers_once(scheduler: ManualScheduler) -> None:
    ready: list[bool] = []
    done: list[str] = []
    waiters = MetadataWaiters(scheduler)
    waiters.wait(lambda: bool(ready), 1000, lambda: done.append("x"))
    waiters.on_metadata_update()
    assert done == []
    ready.append(True)
    waiters.on_metadata_update()
    waiters.on_metadata_update()
    scheduler.advance(2000)
    assert done == ["x"]


def test_time_runs_out(scheduler: ManualScheduler) -> None:
    done: list[int] = []
    waiters = MetadataWaiters(scheduler)
    waiters.wait(lambda: False, 1000, lambda: done.append(scheduler.now_ms()))
    scheduler.advance(999)
    assert done == []
    scheduler.advance(1)
    assert done == [1000]
