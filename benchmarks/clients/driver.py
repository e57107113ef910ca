"""Runs coroutines that wait for sockets and for time, all on one epoll."""

from __future__ import annotations

import heapq
import select
import time
from collections import deque
from collections.abc import Coroutine, Generator, Iterable
from dataclasses import dataclass
from itertools import count
from types import coroutine
from typing import Any, Generic, TypeVar

from benchmarks.errors import BenchmarkError

T = TypeVar("T")

TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Readable:
    """Waits until the socket of that descriptor has something to read."""

    descriptor: int


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


Wait = Readable | Pause
Client = Coroutine[Wait, None, T]


@coroutine
def until(wait: Wait) -> Generator[Wait, None, None]:
    yield wait


@dataclass(eq=False, slots=True)
class _Task(Generic[T]):
    client: Client[T]
    outcome: T | None = None


def run(clients: Iterable[Client[T]], timeout_s: float = TIMEOUT_S) -> list[T]:
    """What each of them returns, in their order. Raises what the first of them raises that does,
    and BenchmarkError when one has not ended after that time.
    """
    tasks = [_Task(client) for client in clients]
    try:
        _Driver(tasks).run(time.monotonic() + timeout_s)
    finally:
        for task in tasks:
            task.client.close()
    return [task.outcome for task in tasks]  # type: ignore[misc]  # all of them have ended


class _Driver:
    def __init__(self, tasks: Iterable[_Task[Any]]) -> None:
        self._ready = deque(tasks)
        self._left = len(self._ready)
        self._reading: dict[int, _Task[Any]] = {}
        self._pausing: list[tuple[float, int, _Task[Any]]] = []
        self._order = count()

    def run(self, deadline: float) -> None:
        with select.epoll() as epoll:
            while self._left:
                while self._ready:
                    self._step(self._ready.popleft(), epoll)
                if self._left:
                    self._wait(epoll, deadline)

    def _step(self, task: _Task[Any], epoll: select.epoll) -> None:
        try:
            wait = task.client.send(None)
        except StopIteration as end:
            task.outcome = end.value
            self._left -= 1
            return
        if isinstance(wait, Pause):
            due = time.monotonic() + wait.seconds
            heapq.heappush(self._pausing, (due, next(self._order), task))
            return
        self._reading[wait.descriptor] = task
        _arm(epoll, wait.descriptor)

    def _wait(self, epoll: select.epoll, deadline: float) -> None:
        now = time.monotonic()
        if now > deadline:
            raise BenchmarkError(f"{self._left} clients still wait for their brokers")
        until_s = min(self._pausing[0][0], deadline) if self._pausing else deadline
        for descriptor, _ in epoll.poll(max(0.0, until_s - now)):
            self._ready.append(self._reading.pop(descriptor))
        now = time.monotonic()
        while self._pausing and self._pausing[0][0] <= now:
            self._ready.append(heapq.heappop(self._pausing)[2])


def _arm(epoll: select.epoll, descriptor: int) -> None:
    """For one event: a connection that nobody waits for wakes nobody."""
    events = select.EPOLLIN | select.EPOLLONESHOT
    try:
        epoll.modify(descriptor, events)
    except FileNotFoundError:
        epoll.register(descriptor, events)
