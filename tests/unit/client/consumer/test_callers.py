"""One caller at a time: who counts as the one that is in a call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from logquake.client.consumer.callers import Tasks, Threads
from logquake.client.errors import ConcurrentUseError


async def call(callers: Tasks, listener: Callable[[], Awaitable[object]]) -> None:
    with callers.one_at_a_time():
        await callers.listen(listener)


def tasks() -> Tasks:
    return Tasks(asyncio.current_task)


async def turn() -> None:
    await asyncio.sleep(0)


def test_a_listener_calls_in_a_task_of_its_own() -> None:
    """As `asyncio.wait_for` has it up to Python 3.11."""
    callers = tasks()

    async def listener() -> None:
        await asyncio.create_task(call(callers, turn))
        await call(callers, lambda: asyncio.create_task(call(callers, turn)))

    asyncio.run(call(callers, listener))


def test_another_task_is_refused_until_the_call_is_over() -> None:
    callers, is_over = tasks(), asyncio.Event()

    async def program() -> None:
        first = asyncio.create_task(call(callers, is_over.wait))
        await turn()
        with pytest.raises(ConcurrentUseError):
            await call(callers, turn)
        is_over.set()
        await first
        await call(callers, turn)

    asyncio.run(program())


def test_a_listener_is_refused_while_a_task_of_its_own_calls() -> None:
    callers = tasks()

    async def listener() -> None:
        own = asyncio.create_task(call(callers, turn))
        await turn()
        with pytest.raises(ConcurrentUseError):
            await call(callers, turn)
        await own

    asyncio.run(call(callers, listener))


def test_a_task_that_outlives_the_call_it_was_begun_in_is_another_one() -> None:
    callers, goes_on = tasks(), asyncio.Event()

    async def later() -> None:
        await goes_on.wait()
        await call(callers, turn)

    async def program() -> None:
        begun: list[asyncio.Task[None]] = []

        async def listener() -> None:
            begun.append(asyncio.create_task(later()))

        async def next_call() -> None:
            goes_on.set()
            await turn()
            await turn()

        await call(callers, listener)
        await call(callers, next_call)
        with pytest.raises(ConcurrentUseError):
            await begun[0]

    asyncio.run(program())


def test_a_task_that_outlives_its_listener_is_another_one_though_the_call_goes_on() -> None:
    callers, is_heard = tasks(), asyncio.Event()

    async def later() -> None:
        await is_heard.wait()
        await call(callers, turn)

    async def program() -> None:
        begun: list[asyncio.Task[None]] = []

        async def listener() -> None:
            begun.append(asyncio.create_task(later()))

        with callers.one_at_a_time():
            await callers.listen(listener)
            is_heard.set()
            with pytest.raises(ConcurrentUseError):
                await begun[0]
            await call(callers, turn)

    asyncio.run(program())


def test_calls_of_two_consumers_within_each_other() -> None:
    one, other = tasks(), tasks()

    async def program() -> None:
        await call(one, lambda: call(other, lambda: call(one, turn)))

    asyncio.run(program())


def test_a_thread_calls_again_and_another_one_does_not() -> None:
    who = ["one"]
    callers = Threads(lambda: who[0])
    with callers.one_at_a_time():
        with callers.one_at_a_time():
            pass
        who[0] = "another"
        with pytest.raises(ConcurrentUseError), callers.one_at_a_time():
            pass
    with callers.one_at_a_time():
        pass
