"""What may end a call of the program's before its time."""

from __future__ import annotations

import pytest

from logquake.client.consumer.callers import Threads
from logquake.client.consumer.calls import Calls
from logquake.client.consumer.failures import Failures
from logquake.client.driving.steps import Call, Steps, Wait
from logquake.client.errors import WakeupError
from tests.unit.client.cluster_in_memory import FakeClock


@pytest.fixture
def calls() -> Calls:
    return Calls(FakeClock(), Failures(), Threads(lambda: "the only one"))


def waiting(answered: list[object], told: list[str]) -> Steps[str]:
    try:
        yield Wait(lambda: bool(answered), 5)
        yield Call(lambda: told.append("called"))
    except WakeupError:
        told.append("woken")
        raise
    return "the answer"


def test_a_call_that_waits_goes_on_when_it_is_answered(calls: Calls) -> None:
    answered: list[object] = []
    told: list[str] = []
    steps = calls.wakeable(waiting(answered, told))
    wait = next(steps)
    assert isinstance(wait, Wait)
    assert not wait.is_done()
    answered.append("now")
    assert wait.is_done()
    call = steps.send(True)
    assert isinstance(call, Call)
    call.function()
    with pytest.raises(StopIteration) as end:
        steps.send(None)
    assert (told, end.value.value) == (["called"], "the answer")


def test_a_wakeup_ends_a_call_that_waits_and_no_other(calls: Calls) -> None:
    told: list[str] = []
    steps = calls.wakeable(waiting([], told))
    wait = next(steps)
    assert isinstance(wait, Wait)
    calls.wakeup()
    assert wait.is_done()
    with pytest.raises(WakeupError):
        steps.send(True)
    assert told == ["woken"]
    assert not calls.is_disturbed


def test_nothing_wakes_the_last_call(calls: Calls) -> None:
    calls.wakeup()
    calls.end()
    steps = calls.wakeable(waiting([], []))
    wait = next(steps)
    calls.wakeup()
    assert isinstance(wait, Wait)
    assert not wait.is_done()


def test_a_wakeup_that_comes_with_the_answer_is_for_the_next_call(calls: Calls) -> None:
    steps = calls.wakeable(waiting(["now"], []))
    next(steps)
    calls.wakeup()
    assert isinstance(steps.send(True), Call)
    assert calls.is_disturbed
