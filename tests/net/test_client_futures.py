"""What a part of a call comes to, waited for by callers on other threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from logquake.client.driving.thread import ThreadDriver
from logquake.client.errors import ClosedError, ConnectionLostError
from logquake.client.pending import Promise
from logquake.client.sync.futures import Future
from logquake.client.telling import Telling
from tests.net.test_client_thread import Counting, driven
from tests.waiting import PATIENCE_S, wait_for


@pytest.fixture
def telling() -> Telling:
    return Telling()


@pytest.fixture
def driver(telling: Telling) -> Iterator[ThreadDriver]:
    with driven(Counting(), telling.tell) as driver:
        yield driver


@pytest.fixture
def promise(telling: Telling) -> Promise[int]:
    return Promise(telling)


def test_its_result_is_waited_for(driver: ThreadDriver, promise: Promise[int]) -> None:
    future = Future(promise, driver)
    found: list[int] = []
    waiter = threading.Thread(target=lambda: found.append(future.result(PATIENCE_S)))
    waiter.start()
    assert not future.done()
    driver.call(lambda _: promise.settle(7))
    waiter.join()
    assert found == [7]
    assert future.done()
    assert future.exception() is None


def test_its_error_is_raised(driver: ThreadDriver, promise: Promise[int]) -> None:
    future = Future(promise, driver)
    error = ConnectionLostError("gone")
    driver.call(lambda _: promise.settle(error))
    assert future.exception() is error
    with pytest.raises(ConnectionLostError, match="gone"):
        future.result()


def test_who_waits_for_no_longer_is_told(driver: ThreadDriver, promise: Promise[int]) -> None:
    with pytest.raises(TimeoutError):
        Future(promise, driver).result(0)


def test_callbacks_come_on_the_clients_thread_and_late_ones_at_once(
    driver: ThreadDriver, promise: Promise[int]
) -> None:
    future = Future(promise, driver)
    told: list[str] = []
    future.add_done_callback(lambda _: told.append(threading.current_thread().name))
    driver.call(lambda _: promise.settle(7))
    wait_for("the callback", lambda: told == ["ours"])
    future.add_done_callback(lambda it: told.append(str(it.result())))
    assert told == ["ours", "7"]


def test_of_a_client_that_is_gone_nothing_is_waited_for(
    driver: ThreadDriver, promise: Promise[int]
) -> None:
    driver.close()
    with pytest.raises(ClosedError):
        Future(promise, driver).result()
