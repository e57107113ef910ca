from __future__ import annotations

import os
import signal

import pytest

from logquake.cluster.errors import ClusterError
from logquake.cluster.state import Phase
from logquake.cluster.supervisor.member import Member


class FakeChild:
    """A process that ends when it is told to, by the signals that end one."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.signals: list[int] = []
        self.return_code: int | None = None

    def poll(self) -> int | None:
        return self.return_code

    def wait(self) -> int:
        assert self.return_code is not None
        return self.return_code


class Machine:
    def __init__(self) -> None:
        self.children: list[FakeChild] = []

    def launch(self) -> FakeChild:
        self.children.append(FakeChild(100 + len(self.children)))
        return self.children[-1]

    def kill(self, pid: int, number: int) -> None:
        child = self.children[pid - 100]
        child.signals.append(number)
        if number == signal.SIGKILL:
            child.return_code = -number


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    monkeypatch.setattr(os, "kill", made.kill)
    return made


@pytest.fixture
def member(machine: Machine) -> Member:
    made = Member(
        "broker-1", host="127.0.0.1", port=9092, launch=machine.launch, changed=lambda: None
    )
    made.start()
    return made


def test_a_kill_is_an_asked_for_end(member: Member) -> None:
    member.kill()
    member.reap()
    state = member.state()
    assert (state.phase, state.pid) == (Phase.ENDED, None)
    assert str(state.ended) == "killed by SIGKILL"


def test_an_end_that_nobody_asked_for_is_told_apart(machine: Machine, member: Member) -> None:
    machine.children[0].return_code = 1
    member.reap()
    assert str(member.state().ended) == "exited with status 1, unasked"


def test_how_the_last_run_ended_outlives_a_restart(machine: Machine, member: Member) -> None:
    member.kill()
    member.reap()
    member.start()
    state = member.state()
    assert (state.phase, state.pid) == (Phase.RUNNING, 101)
    assert state.ended is not None
    machine.children[1].return_code = 0
    member.reap()
    assert str(member.state().ended) == "exited with status 0, unasked"


def test_a_paused_process_is_continued_to_see_that_it_should_stop(
    machine: Machine, member: Member
) -> None:
    member.pause()
    member.stop()
    assert machine.children[0].signals == [signal.SIGSTOP, signal.SIGTERM, signal.SIGCONT]
    assert member.state().phase is Phase.STOPPING


def test_those_who_wait_for_the_end_are_called_once(member: Member) -> None:
    calls: list[str] = []
    member.when_ended(lambda: calls.append("ended"))
    member.reap()
    assert calls == []
    member.kill()
    member.reap()
    member.reap()
    assert calls == ["ended"]


def test_what_the_phase_does_not_allow_is_refused(member: Member) -> None:
    with pytest.raises(ClusterError, match="broker-1 is running already"):
        member.start()
    with pytest.raises(ClusterError, match="broker-1 is running, not paused"):
        member.resume()
    member.kill()
    with pytest.raises(ClusterError, match=r"does not run \(killed by SIGKILL\): start it"):
        member.pause()


def test_ending_at_once_reaps(machine: Machine, member: Member) -> None:
    member.pause()
    member.kill_and_wait()
    member.kill_and_wait()
    assert machine.children[0].signals == [signal.SIGSTOP, signal.SIGKILL]
    assert not member.alive
