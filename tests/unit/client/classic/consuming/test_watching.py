"""What happened is acted on until that has succeeded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from logquake.client.classic.consuming.watching import Watching
from logquake.client.classic.errors import RebalanceFailedError, ZooKeeperTimeoutError
from logquake.zk.operations import EventType, WatchEvent
from tests.waiting import wait_for


@contextmanager
def watching(act: Callable[[str], None]) -> Iterator[Watching]:
    watching = Watching("watcher", lambda: act("change"), lambda: act("session"))
    watching.worker.start()
    try:
        yield watching
    finally:
        watching.worker.stop()
        watching.worker.join()


@pytest.mark.parametrize("what", ["change", "session"])
def test_what_fails_is_tried_again(what: str) -> None:
    """A member that gave up would own nothing, or not be of its group any more, and nobody knew."""
    failures = [RebalanceFailedError("others own it"), ZooKeeperTimeoutError("no answer")]
    done: list[str] = []

    def act(told: str) -> None:
        if failures:
            raise failures.pop()
        done.append(told)

    with watching(act) as watched:
        if what == "change":
            watched.watched(WatchEvent(EventType.CHANGED, "/brokers/topics/t"))
        else:
            watched.new_session()
        wait_for("success", lambda: done, lambda found: found == [what])
