"""A client on asyncio's loop: calls are awaited, nothing runs beside it."""

from __future__ import annotations

import asyncio
import logging
import selectors
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from contextvars import ContextVar
from functools import partial
from random import Random

import pytest

from logquake.client.aio import Producer
from logquake.client.aio.futures import Future
from logquake.client.clock import Clock
from logquake.client.driving.aio import AioDriver
from logquake.client.driving.aside import Aside
from logquake.client.driving.driven import LastingCore
from logquake.client.driving.sasl import each_login
from logquake.client.driving.sockets import SelectorSockets
from logquake.client.driving.steps import Call, Steps, Wait
from logquake.client.errors import AuthenticationFailedError, ClosedError, ConnectionLostError
from logquake.client.network.links import Links
from logquake.client.pending import Promise
from logquake.client.telling import Telling
from logquake.wire.api import ApiKey
from logquake.wire.messages.metadata import MetadataResponse
from logquake.wire.sasl.logins import TokenLogin
from tests.net.asking import (
    CLOCK,
    NETWORK,
    PATIENCE_MS,
    Asking,
    JumpingClock,
    in_time,
    run_until,
    versions,
)
from tests.net.server import Server
from tests.net.test_client_thread import (
    AGES_MS,
    Counting,
    HastyClock,
    SlowIssuer,
    Soon,
    ask_a_cancelled_future,
)
from tests.waiting import PATIENCE_S


@asynccontextmanager
async def driven(
    core: LastingCore,
    links: Links | None = None,
    tell: Callable[[], object] = lambda: None,
    clock: Clock = CLOCK,
) -> AsyncIterator[AioDriver]:
    links = links or Links(NETWORK, Random(1))
    driver = AioDriver(core, links, clock, _sockets, name="ours", tell=tell)
    try:
        yield driver
    finally:
        driver.close()


def _sockets(selector: selectors.BaseSelector, aside: Aside) -> SelectorSockets:
    return SelectorSockets(CLOCK, selector=selector, aside=aside)


async def serve_until(server: Server, is_done: Callable[[], object]) -> None:
    deadline_ms = in_time()
    while not is_done():
        assert CLOCK.now_ms() < deadline_ms
        server.loop.run_pass(max_wait_ms=0)
        await asyncio.sleep(0)


def test_what_comes_due_after_a_pass_is_done_in_the_next() -> None:
    core = Soon()

    async def program() -> None:
        async with driven(core, clock=HastyClock()):
            deadline_ms = in_time()
            while not core.is_done:
                assert CLOCK.now_ms() < deadline_ms
                await asyncio.sleep(0)

    asyncio.run(program())


def test_where_no_loop_runs_it_is_told_where_a_client_is_made() -> None:
    with pytest.raises(RuntimeError, match="no loop runs here: a client of logquake"):
        Producer(bootstrap_servers="127.0.0.1:1")


def test_a_call_of_another_thread_is_refused_in_debug_mode_and_the_client_goes_on() -> None:
    core = Counting()

    async def main() -> None:
        async with driven(core) as driver:
            await asyncio.sleep(0)
            with pytest.raises(RuntimeError, match="Non-thread-safe"):
                await asyncio.to_thread(driver.wake)
            driver.call(partial(core.give, 1))
            deadline_ms = in_time()
            assert await driver.wait(lambda: core.taken == [1], deadline_ms)

    asyncio.run(main(), debug=True)


def test_a_call_waits_for_what_the_core_does() -> None:
    core = Counting()

    def give_and_wait() -> Steps[list[int]]:
        core.give(1, 0)
        assert (yield Wait(lambda: core.taken == [1], in_time()))
        return core.taken

    async def main() -> None:
        async with driven(core) as driver:
            assert await driver.run(give_and_wait()) == [1]

    asyncio.run(main())


def test_many_calls_wait_side_by_side() -> None:
    core = Counting()

    def give(number: int) -> Steps[None]:
        core.give(number, 0)
        assert (yield Wait(lambda: number in core.taken, in_time()))

    async def main() -> None:
        async with driven(core) as driver:
            await asyncio.gather(*(driver.run(give(number)) for number in range(50)))

    asyncio.run(main())
    assert sorted(core.taken) == [*range(50)]


def test_what_comes_too_late_is_told() -> None:
    def wait_in_vain(until_ms: int) -> Steps[bool]:
        is_done: bool = yield Wait(lambda: False, until_ms)
        return is_done

    async def main() -> None:
        async with driven(Counting()) as driver:
            assert await driver.run(wait_in_vain(0)) is False
            assert await driver.run(wait_in_vain(CLOCK.now_ms() + 5)) is False

    asyncio.run(main())


def test_the_programs_own_may_be_a_coroutine_and_its_error_is_the_calls() -> None:
    async def seven() -> int:
        await asyncio.sleep(0)
        return 7

    async def fail() -> None:
        raise KeyError("mine")

    def call_them() -> Steps[str]:
        assert (yield Call(seven)) == 7
        assert (yield Call(lambda: 8)) == 8
        try:
            yield Call(fail)
        except KeyError:
            return "heard"
        return "not heard"

    async def main() -> None:
        async with driven(Counting()) as driver:
            assert await driver.run(call_them()) == "heard"

    asyncio.run(main())


def test_a_call_that_is_cancelled_hears_of_it() -> None:
    ended: list[str] = []

    def wait_for_ever() -> Steps[None]:
        try:
            yield Wait(lambda: False, in_time())
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def main() -> None:
        async with driven(Counting()) as driver:
            call = asyncio.create_task(driver.run(wait_for_ever()))
            await asyncio.sleep(0)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

    asyncio.run(main())
    assert ended == ["cancelled"]


def test_whoever_waits_for_what_a_cancelled_call_has_done_is_woken() -> None:
    given_back: list[bool] = []

    def hold() -> Steps[None]:
        try:
            yield Wait(lambda: False, AGES_MS)
        finally:
            given_back.append(True)

    async def main() -> None:
        async with driven(Counting()) as driver:
            holds = asyncio.ensure_future(driver.run(hold()))
            waits = asyncio.ensure_future(driver.wait(lambda: bool(given_back), AGES_MS))
            await asyncio.sleep(0)
            holds.cancel()
            assert await asyncio.wait_for(waits, PATIENCE_S)

    asyncio.run(main())


def test_the_core_is_polled_when_it_is_due() -> None:
    core = Counting()

    async def main() -> None:
        async with driven(core) as driver:
            core.given.append(1)
            core.due_ms = CLOCK.now_ms() + 1
            driver.wake()
            assert await driver.wait(lambda: core.taken == [1], in_time())

    asyncio.run(main())


def test_whoever_waits_is_told_that_it_was_closed() -> None:
    async def main() -> None:
        async with driven(Counting()) as driver:
            waits = asyncio.create_task(driver.wait(lambda: False, in_time()))
            never = Future(Promise[int](Telling()), driver)
            awaits = asyncio.create_task(_await(never))
            await asyncio.sleep(0)
            driver.close()
            for told in (waits, awaits):
                with pytest.raises(ClosedError, match="ours is closed"):
                    await told
            with pytest.raises(ClosedError):
                await never
            assert await driver.wait(lambda: True, in_time())

    asyncio.run(main())


async def _await(future: Future[int]) -> int:
    return await future


def test_a_core_that_fails_ends_its_client(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(Counting):
        def poll(self, now_ms: int) -> None:
            raise LookupError(f"a bug at {now_ms}")

    async def main() -> None:
        async with driven(Failing()) as driver:
            with pytest.raises(ClosedError, match="ours has failed: LookupError"):
                await driver.wait(lambda: False, in_time())
            assert driver.close()
            assert not driver.close()

    with caplog.at_level(logging.ERROR):
        asyncio.run(main())
    assert "LookupError: a bug at" in caplog.text


def test_a_callback_may_close_the_client() -> None:
    async def main() -> None:
        telling = Telling()
        async with driven(Counting(), tell=telling.tell) as driver:
            telling.add(driver.close)
            with pytest.raises(ClosedError):
                await driver.wait(lambda: False, in_time())

    asyncio.run(main())


def test_a_callback_that_asks_a_cancelled_future_fails_alone() -> None:
    core, telling = Counting(), Telling()

    async def main() -> None:
        async with driven(core, tell=telling.tell) as driver:
            telling.add(ask_a_cancelled_future)
            core.give(1, 0)
            driver.wake()
            assert await driver.wait(lambda: core.taken == [1], AGES_MS)
            assert not driver.is_closed

    asyncio.run(main())


def test_whoever_waits_is_woken_and_all_are_told_though_a_callback_ends_the_loop() -> None:
    core, telling, told = Counting(), Telling(), []

    async def main() -> None:
        async with driven(core, tell=telling.tell) as driver:
            telling.add(sys.exit)
            telling.add(lambda: told.append(1))
            core.give(1, 0)
            assert await driver.wait(lambda: core.taken == [1], AGES_MS)
            assert await driver.wait(lambda: bool(told), AGES_MS)

    with closing(asyncio.new_event_loop()) as loop:
        program = loop.create_task(main())
        with pytest.raises(SystemExit):
            loop.run_until_complete(program)
        loop.run_until_complete(asyncio.wait_for(program, PATIENCE_S))


def test_all_are_told_at_the_end_though_callbacks_end_the_loop() -> None:
    telling, told = Telling(), []

    async def main() -> None:
        driver = AioDriver(
            Counting(), Links(NETWORK, Random(1)), CLOCK, _sockets, name="ours", tell=telling.tell
        )
        telling.add(sys.exit)
        telling.add(lambda: told.append(1))
        with pytest.raises(SystemExit):
            driver.close()

    asyncio.run(main())
    assert told == [1]


def test_a_request_and_its_answer(server: Server) -> None:
    server.handler.answer = lambda request: (
        versions() if request.header.api_key == ApiKey.API_VERSIONS else MetadataResponse()
    )
    core = Asking("localhost", server.acceptor.port)

    async def main() -> None:
        async with driven(core, core.links):
            await serve_until(server, lambda: core.answers)

    asyncio.run(main())
    assert isinstance(core.answers[0], MetadataResponse)


def test_an_answer_that_came_while_the_loop_was_blocked_is_no_late_one(server: Server) -> None:
    server.handler.answer = lambda request: (
        versions() if request.header.api_key == ApiKey.API_VERSIONS else MetadataResponse()
    )
    core, clock = Asking("localhost", server.acceptor.port), JumpingClock()

    async def main() -> None:
        async with driven(core, core.links, clock=clock) as driver:
            await serve_until(server, lambda: core.is_asked)
            run_until(server, lambda: len(server.handler.requests) == 2)
            server.settle()
            clock.jump(PATIENCE_MS)
            driver.wake()
            await serve_until(server, lambda: core.answers)

    asyncio.run(main())
    assert isinstance(core.answers[0], MetadataResponse)


def test_what_is_in_flight_is_told_that_it_was_closed(server: Server) -> None:
    server.handler.answer = lambda request: (
        versions() if request.header.api_key == ApiKey.API_VERSIONS else None
    )
    core = Asking("localhost", server.acceptor.port)

    async def main() -> None:
        async with driven(core, core.links):
            await serve_until(server, lambda: len(server.handler.requests) == 2)
            assert core.answers == []

    asyncio.run(main())
    (answered,) = core.answers
    assert isinstance(answered, ConnectionLostError)


def test_the_loop_goes_on_while_a_program_is_asked_for_a_token(server: Server) -> None:
    server.handler.answer = lambda _: versions()
    issuer = SlowIssuer()
    core = Asking("localhost", server.acceptor.port, each_login(TokenLogin(issuer), "test"))

    async def main() -> None:
        async with driven(core, core.links) as driver:
            await serve_until(server, issuer.asked.is_set)
            issuer.may_go_on.set()
            assert await driver.wait(lambda: core.failure() is not None, in_time())

    asyncio.run(main())
    assert isinstance(core.failure(), AuthenticationFailedError)


def test_a_host_without_an_address_is_told() -> None:
    core = Asking("no-such-host.invalid", 1)

    async def main() -> None:
        async with driven(core, core.links) as driver:
            assert await driver.wait(lambda: core.failure() is not None, in_time())

    asyncio.run(main())
    assert isinstance(core.failure(), ConnectionLostError)


def test_what_is_told_is_no_part_of_the_call_that_woke_the_driver() -> None:
    where, told = ContextVar("where", default="outside"), list[str]()

    async def main() -> None:
        async with driven(Counting(), tell=lambda: told.append(where.get())) as driver:
            assert await driver.wait(lambda: bool(told), in_time())
            where.set("in a call")
            driver.call(lambda _: told.clear())
            assert await driver.wait(lambda: bool(told), in_time())
            assert set(told) == {"outside"}

    asyncio.run(main())


def test_what_a_callback_sets_in_its_context_is_gone_in_the_next_pass() -> None:
    where, told = ContextVar("where", default="outside"), list[str]()

    def tell() -> None:
        told.append(where.get())
        where.set("in a callback")

    def has_told_since(count: int) -> bool:
        return len(told) > count

    async def main() -> None:
        async with driven(Counting(), tell=tell) as driver:
            while len(told) < 3:
                told_before = len(told)
                driver.wake()
                assert await driver.wait(partial(has_told_since, told_before), in_time())

    asyncio.run(main())
    assert set(told) == {"outside"}
