"""A program's call, carried out by the caller while a thread drives the core."""

from __future__ import annotations

import threading

import pytest

from logquake.client.driving.steps import Call, Steps, Wait
from logquake.client.errors import ClosedError
from tests.net.asking import in_time
from tests.net.test_client_thread import Counting, driven


def test_a_call_has_the_core_to_itself_except_while_it_waits() -> None:
    core = Counting()

    def give_and_wait() -> Steps[list[int]]:
        core.give(1, 0)
        assert (yield Wait(lambda: core.taken == [1], in_time()))
        return core.taken

    with driven(core) as driver:
        assert driver.run(give_and_wait()) == [1]


def test_what_comes_too_late_is_told() -> None:
    def wait_in_vain() -> Steps[bool]:
        is_done: bool = yield Wait(lambda: False, 0)
        return is_done

    with driven(Counting()) as driver:
        assert driver.run(wait_in_vain()) is False


def test_the_programs_own_is_called_without_the_lock_and_its_error_is_the_calls() -> None:
    def fail(driver_free: list[bool]) -> None:
        def take_and_give_back() -> None:
            with driver.lock:
                driver_free.append(True)

        other = threading.Thread(target=take_and_give_back)
        other.start()
        other.join()
        raise KeyError("mine")

    def call_it(driver_free: list[bool]) -> Steps[str]:
        assert (yield Call(lambda: 7)) == 7
        try:
            yield Call(lambda: fail(driver_free))
        except KeyError:
            return "heard"
        return "not heard"

    driver_free: list[bool] = []
    with driven(Counting()) as driver:
        assert driver.run(call_it(driver_free)) == "heard"
    assert driver_free == [True]


def test_a_call_of_a_client_that_is_closed_is_refused() -> None:
    with driven(Counting()) as driver:
        driver.close()

        def nothing() -> Steps[None]:
            yield Wait(lambda: True, 0)

        with pytest.raises(ClosedError):
            driver.run(nothing())
