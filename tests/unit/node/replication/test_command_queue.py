"""The controller's commands are carried out one after the other, bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from logquake.node.replication.command_queue import CommandQueue, Step


class Later:
    """What is to go on later, when the test says so."""

    def __init__(self) -> None:
        self._waiting: list[Callable[[], None]] = []

    def step(self, go_on: Callable[[], None]) -> None:
        self._waiting.append(go_on)

    def go_on(self) -> None:
        self._waiting.pop(0)()


@pytest.fixture
def later() -> Later:
    return Later()


def command(name: str, pieces: int, later: Later, done: list[str]) -> Iterator[Step]:
    for number in range(pieces):
        if number:
            yield later.step
        done.append(f"{name}{number}")


def test_a_small_command_is_done_at_once(later: Later) -> None:
    done: list[str] = []
    CommandQueue().add(command("a", 1, later, done))
    assert done == ["a0"]


def test_commands_do_not_mix(later: Later) -> None:
    done: list[str] = []
    queue = CommandQueue()
    queue.add(command("a", 3, later, done))
    queue.add(command("b", 2, later, done))
    queue.add(command("c", 1, later, done))
    assert done == ["a0"]
    later.go_on()
    later.go_on()
    assert done == ["a0", "a1", "a2", "b0"]
    later.go_on()
    assert done[-2:] == ["b1", "c0"]


def test_nothing_goes_on_after_the_end(later: Later) -> None:
    done: list[str] = []
    queue = CommandQueue()
    queue.add(command("a", 2, later, done))
    queue.add(command("b", 1, later, done))
    queue.close()
    later.go_on()
    assert done == ["a0"]
