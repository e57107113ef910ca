"""A client's thread: callers on others hand work over, wait for what comes of it, and close it."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import count
from random import Random
from typing import cast

import pytest

from logquake.client.clock import Clock, SystemClock
from logquake.client.driving.driven import Driven, LastingCore
from logquake.client.driving.sasl import each_login
from logquake.client.driving.sockets import SelectorSockets
from logquake.client.driving.steps import Call, Steps, Wait
from logquake.client.driving.thread import ThreadDriver
from logquake.client.driving.waker import Waker
from logquake.client.errors import ClientError, ClosedError, ConnectionLostError
from logquake.client.network.effects import Resolve
from logquake.client.network.link import Answer
from logquake.client.network.links import Links
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
from tests.waiting import PATIENCE_S, wait_for

SOON_MS = 20  # time for a thread to fall asleep
AGES_MS = 2**62


class Counting:
    """A core that wants nothing of the network, and takes what it is given when it is polled."""

    def __init__(self) -> None:
        self.given: list[int] = []
        self.taken: list[int] = []
        self.due_ms: int | None = None
        self.polled_by: set[str] = set()
        self.abandoned: list[ClientError] = []

    def give(self, number: int, _now_ms: int) -> None:
        self.given.append(number)

    def poll(self, now_ms: int) -> None:
        self.polled_by.add(threading.current_thread().name)
        if self.due_ms is None or self.due_ms <= now_ms:
            self.taken += self.given
            self.given.clear()
            self.due_ms = None

    def next_due_ms(self, _now_ms: int) -> int | None:
        return self.due_ms

    def abandon(self, why: ClientError) -> None:
        self.abandoned.append(why)


class HastyClock(SystemClock):
    """A millisecond passes between two readings."""

    def __init__(self) -> None:
        self._readings = count()

    def now_ms(self) -> int:
        return super().now_ms() + next(self._readings)


class Soon:
    """A core with something to do a millisecond after its first poll. It names no time for what is
    due already: that it did in the poll.
    """

    def __init__(self) -> None:
        self.is_done = False
        self._due_ms: int | None = None

    def poll(self, now_ms: int) -> None:
        self._due_ms = self._due_ms or now_ms + 1
        self.is_done |= self._due_ms <= now_ms

    def next_due_ms(self, polled_ms: int) -> int | None:
        assert self._due_ms is not None
        return self._due_ms if polled_ms < self._due_ms else None

    def abandon(self, _why: ClientError) -> None: ...


@contextmanager
def driven(
    core: LastingCore, tell: Callable[[], object] = lambda: None, clock: Clock = CLOCK
) -> Iterator[ThreadDriver]:
    links = Links(NETWORK, Random(1))
    new_sockets = partial(_sockets, SelectorSockets)
    with closing(ThreadDriver(core, links, clock, new_sockets, name="ours", tell=tell)) as driver:
        yield driver


def _sockets(kind: type[SelectorSockets], waker: Waker) -> SelectorSockets:
    return kind(CLOCK, waker=waker)


def test_what_comes_due_after_a_poll_is_done_in_the_next() -> None:
    core = Soon()
    with driven(core, clock=HastyClock()) as driver:
        assert driver.wait(lambda: core.is_done, in_time())


def test_what_is_handed_over_is_taken_by_the_thread_while_callers_wait() -> None:
    core = Counting()
    with driven(core) as driver:
        driver.call(partial(core.give, 1))
        assert driver.wait(lambda: core.taken == [1], in_time())
        driver.call(partial(core.give, 2))
        assert driver.wait(lambda: core.taken == [1, 2], in_time())
    assert core.polled_by == {"ours"}


def test_whoever_is_interrupted_while_it_wakes_the_thread_keeps_nobody_from_waking_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    core = Counting()
    with driven(core) as driver:
        driver.wait(lambda: False, CLOCK.now_ms() + SOON_MS)  # asleep by now
        with monkeypatch.context() as patched:
            patched.setattr(Waker, "wake", _interrupted)
            with pytest.raises(InterruptedError):
                driver.wake()
        driver.call(partial(core.give, 1))
        assert driver.wait(lambda: core.taken == [1], in_time())


def _interrupted(_waker: Waker) -> None:
    raise InterruptedError


def test_whoever_is_interrupted_just_before_it_sleeps_has_the_lock_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    has_it: list[bool] = []

    def wait_for_ever() -> Steps[None]:
        try:
            yield Wait(lambda: False, CLOCK.now_ms() + AGES_MS)
        finally:
            has_it.append(_is_held(driver))

    with driven(Counting()) as driver:
        with monkeypatch.context() as patched:
            patched.setattr(threading.Condition, "wait", _interrupted_without_the_lock)
            with pytest.raises(KeyboardInterrupt):
                driver.run(wait_for_ever())
        assert (has_it, _is_held(driver)) == ([True], False)


def _interrupted_without_the_lock(condition: threading.Condition, _timeout_s: float) -> None:
    with suppress(RuntimeError):
        while True:
            condition.release()
    raise KeyboardInterrupt


def _is_held(driver: ThreadDriver) -> bool:
    """By the thread that asks."""
    try:
        driver.lock.release()
    except RuntimeError:
        return False
    driver.lock.acquire()
    return True


def test_many_threads_hand_over_at_once() -> None:
    core = Counting()

    def give(driver: ThreadDriver) -> None:
        for number in range(200):
            driver.call(partial(core.give, number))

    with driven(core) as driver:
        callers = [threading.Thread(target=give, args=(driver,)) for _ in range(4)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        assert driver.wait(lambda: len(core.taken) == 800, in_time())
    assert sorted(core.taken) == sorted([*range(200)] * 4)


def test_a_command_answers_or_raises_to_its_caller() -> None:
    def fail(_: int) -> None:
        raise KeyError("mine")

    with driven(Counting()) as driver:
        assert driver.call(lambda now_ms: now_ms) <= CLOCK.now_ms()
        with pytest.raises(KeyError, match="mine"):
            driver.call(fail)
        assert driver.call(lambda _: "goes on") == "goes on"


def test_the_core_is_polled_when_it_is_due() -> None:
    core = Counting()

    def later(now_ms: int) -> None:
        core.given.append(1)
        core.due_ms = now_ms + 1

    with driven(core) as driver:
        driver.call(later)
        assert driver.wait(lambda: core.taken == [1], in_time())


def test_a_wait_ends_at_its_deadline() -> None:
    with driven(Counting()) as driver:
        assert not driver.wait(lambda: False, CLOCK.now_ms())


def test_times_may_be_ages_away() -> None:
    core = Counting()
    looks: list[bool] = []

    def due_in_ages(_: int) -> None:
        core.due_ms = 2**63 - 1  # as a connection that is never idle for too long

    with driven(core) as driver:
        driver.call(due_in_ages)

        def is_seen_often() -> bool:
            driver.wake()
            looks.append(True)
            return len(looks) >= 3

        assert driver.wait(is_seen_often, 2**63 - 1)


def test_whoever_waits_is_told_that_it_was_closed() -> None:
    waits = threading.Event()
    told: list[str] = []

    def is_done() -> bool:
        waits.set()
        return False

    def wait(driver: ThreadDriver) -> None:
        try:
            driver.wait(is_done, in_time())
        except ClosedError as error:
            told.append(str(error))

    with driven(Counting()) as driver:
        waiter = threading.Thread(target=wait, args=(driver,))
        waiter.start()
        assert waits.wait(PATIENCE_S)
    waiter.join()
    assert told == ["ours is closed"]


def test_what_is_closed_takes_nothing_more() -> None:
    with driven(Counting()) as driver:
        pass
    driver.wake()
    driver.close()
    with pytest.raises(ClosedError):
        driver.call(lambda now_ms: now_ms)
    with pytest.raises(ClosedError):
        driver.wait(lambda: False, in_time())
    assert driver.wait(lambda: True, in_time())
    assert "ours" not in [thread.name for thread in threading.enumerate()]


def test_callbacks_run_on_the_thread_without_the_lock() -> None:
    others = threading.Thread(target=lambda: found.driver.call(lambda now_ms: now_ms))

    class Found:
        driver: ThreadDriver

    found, ready = Found(), threading.Event()
    told: list[str] = []

    def tell() -> None:
        if not told and ready.wait(PATIENCE_S):
            told.append(threading.current_thread().name)
            others.start()
            others.join()  # it would never come back if the lock were held

    with driven(Counting(), tell) as found.driver:
        ready.set()
        assert found.driver.wait(lambda: told == ["ours"], in_time())


def test_a_callback_may_close_the_client_but_not_wait_for_it() -> None:
    class Found:
        driver: ThreadDriver

    found, ready = Found(), threading.Event()
    refused: list[str] = []

    def tell() -> None:
        if not refused and ready.wait(PATIENCE_S):
            try:
                found.driver.wait(lambda: False, in_time())
            except RuntimeError as error:
                refused.append(str(error))
            found.driver.close()

    with driven(Counting(), tell) as found.driver:
        ready.set()
        wait_for(
            "the end of it", lambda: "ours" not in [each.name for each in threading.enumerate()]
        )
    assert refused == ["the client's own thread cannot wait for what it has to do itself"]


def test_a_core_that_fails_ends_its_client(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(Counting):
        def poll(self, now_ms: int) -> None:
            if self.given:
                raise LookupError("a bug")
            super().poll(now_ms)

    core = Failing()
    with caplog.at_level(logging.ERROR), driven(core) as driver:
        driver.call(partial(core.give, 1))
        with pytest.raises(ClosedError, match=r"ours has failed: LookupError\('a bug'\)"):
            driver.wait(lambda: False, in_time())
    assert "LookupError: a bug" in caplog.text
    assert [str(why) for why in core.abandoned] == ["ours has failed: LookupError('a bug')"]


def test_what_is_left_over_is_told_though_a_callback_ends_the_thread() -> None:
    core, telling, told = Counting(), Telling(), []
    with driven(core, telling.tell) as driver:
        with driver.lock:
            telling.add(sys.exit)
            telling.add(sys.exit)
            telling.add(lambda: told.append(1))
            driver.wake()
        with pytest.raises(ClosedError, match="SystemExit"):
            driver.wait(lambda: False, in_time())
    assert told == [1]


def test_a_callback_that_asks_a_cancelled_future_fails_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    core, telling = Counting(), Telling()
    with driven(core, telling.tell) as driver:
        with driver.lock:
            telling.add(ask_a_cancelled_future)
            core.give(1, 0)
            driver.wake()
        assert driver.wait(lambda: core.taken == [1], in_time())
        assert driver.call(lambda _: "goes on") == "goes on"
    assert "a callback of the program's fails" in caplog.text


def ask_a_cancelled_future() -> None:
    raise asyncio.CancelledError


def test_however_many_callbacks_end_the_thread_all_of_them_are_told() -> None:
    telling, told, most = Telling(), [], sys.getrecursionlimit()

    def end() -> None:
        told.append(1)
        sys.exit()

    with driven(Counting(), telling.tell) as driver, driver.lock:
        for _ in range(most):
            telling.add(end)
        driver.wake()
    assert len(told) == most


def test_whoever_waits_for_what_a_failed_call_has_done_is_woken() -> None:
    given_back: list[bool] = []
    told: list[bool] = []
    waits = threading.Event()

    def is_given_back() -> bool:
        waits.set()
        return bool(given_back)

    def hold() -> Steps[None]:
        try:
            yield Wait(lambda: False, CLOCK.now_ms() + SOON_MS)
            raise LookupError("it does not come")
        finally:
            given_back.append(True)

    with driven(Counting()) as driver:
        waiter = threading.Thread(
            target=lambda: told.append(driver.wait(is_given_back, AGES_MS)), daemon=True
        )
        waiter.start()
        assert waits.wait(PATIENCE_S)
        with pytest.raises(LookupError):
            driver.run(hold())
        waiter.join(PATIENCE_S)
        assert told == [True]


class InterruptedLock:
    """Its owner is interrupted once, at that point of giving it up or taking it."""

    def __init__(self, lock: threading.RLock, at: str) -> None:
        self._lock = lock
        self._at = at
        self._owner = threading.current_thread()
        self.depth = 0  # of whoever is interrupted

    def acquire(self) -> None:
        self._pass("before it is taken")
        self.__enter__()
        self._pass("taken")

    def release(self) -> None:
        self._pass("before it is given up")
        self.__exit__()
        self._pass("given up")

    def __enter__(self) -> None:
        self._lock.acquire()
        self.depth += self._is_owners()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
        self.depth -= self._is_owners()

    def _is_owners(self) -> bool:
        return threading.current_thread() is self._owner

    def _pass(self, point: str) -> None:
        if point == self._at and self._is_owners():
            self._at = ""
            raise KeyboardInterrupt


@pytest.mark.parametrize("at", ["before it is taken", "taken", "before it is given up", "given up"])
def test_a_call_that_is_interrupted_while_its_lock_changes_hands_has_it(at: str) -> None:
    with driven(Counting()) as driver:
        lock = InterruptedLock(driver.lock, at)
        driver.lock = cast("threading.RLock", lock)
        depths: list[int] = []

        def call_something() -> Steps[None]:
            try:
                yield Call(lambda: None)
            finally:
                depths.append(lock.depth)

        with pytest.raises(KeyboardInterrupt):
            driver.run(call_something())
        assert depths == [1]
        assert lock.depth == 0


def test_the_first_to_close_it_is_told_so() -> None:
    core = Counting()
    with driven(core) as driver:
        assert driver.close()
        assert not driver.close()
    assert [str(why) for why in core.abandoned] == ["ours is closed"]


# With connections


@contextmanager
def asking(
    core: Asking,
    kind: type[SelectorSockets] = SelectorSockets,
    *,
    tell: Callable[[], object] = lambda: None,
    clock: Clock = CLOCK,
) -> Iterator[ThreadDriver]:
    new_sockets = partial(_sockets, kind)
    driver = ThreadDriver(core, core.links, clock, new_sockets, name="ours", tell=tell)
    with closing(driver):
        yield driver


def test_a_request_and_its_answer(server: Server) -> None:
    server.handler.answer = lambda request: (
        versions() if request.header.api_key == ApiKey.API_VERSIONS else MetadataResponse()
    )
    core = Asking("localhost", server.acceptor.port)
    with asking(core):
        run_until(server, lambda: core.answers)
    assert isinstance(core.answers[0], MetadataResponse)


def test_an_answer_that_came_during_a_long_callback_is_no_late_one(server: Server) -> None:
    server.handler.answer = lambda request: (
        versions() if request.header.api_key == ApiKey.API_VERSIONS else MetadataResponse()
    )
    core, clock = Asking("localhost", server.acceptor.port), JumpingClock()
    has_begun, may_end = threading.Event(), threading.Event()

    def call_back() -> None:
        if core.is_asked and not has_begun.is_set():
            has_begun.set()
            assert may_end.wait(PATIENCE_S)

    with asking(core, tell=call_back, clock=clock) as driver:
        run_until(server, has_begun.is_set)
        run_until(server, lambda: len(server.handler.requests) == 2)
        server.settle()
        clock.jump(PATIENCE_MS)
        driver.wake()
        may_end.set()
        run_until(server, lambda: core.answers)
    assert isinstance(core.answers[0], MetadataResponse)


class Mistaken(list[Answer]):
    """A core's own mistake, once it is answered."""

    def append(self, _answer: Answer) -> None:
        raise ValueError("a bug")


def test_a_mistake_of_who_is_answered_is_no_loss_of_the_connection(server: Server) -> None:
    server.handler.answer = lambda request: (
        versions() if request.header.api_key == ApiKey.API_VERSIONS else MetadataResponse()
    )
    core = Asking("localhost", server.acceptor.port)
    core.answers = Mistaken()
    with asking(core) as driver:
        run_until(server, lambda: driver.is_closed)
        with pytest.raises(ClosedError, match="a bug"):
            driver.check_open()


def test_what_is_in_flight_is_told_that_it_was_closed(server: Server) -> None:
    server.handler.answer = lambda request: (
        versions() if request.header.api_key == ApiKey.API_VERSIONS else None
    )
    core = Asking("localhost", server.acceptor.port)
    with asking(core):
        run_until(server, lambda: len(server.handler.requests) == 2)
        assert core.answers == []
    (answered,) = core.answers
    assert isinstance(answered, ConnectionLostError)
    assert str(answered) == "closed by this client"


def test_nobody_waits_while_a_name_is_looked_up() -> None:
    begun, may_go_on = threading.Event(), threading.Event()

    class SlowNames(SelectorSockets):
        def _resolve(self, links: Driven, wanted: Resolve) -> None:
            begun.set()
            assert may_go_on.wait(PATIENCE_S)
            links.lost(wanted.link, "no such name", CLOCK.now_ms())

    core = Asking("slow.example", 1)
    with asking(core, SlowNames) as driver:
        assert begun.wait(PATIENCE_S)
        assert driver.call(lambda _: "at once") == "at once"
        may_go_on.set()


class SlowIssuer:
    """Of no tokens in the end."""

    def __init__(self) -> None:
        self.asked, self.may_go_on = threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.asked.set()
        assert self.may_go_on.wait(PATIENCE_S)
        raise OSError("nobody issues tokens")


def test_nobody_waits_while_a_program_is_asked_for_a_token(server: Server) -> None:
    server.handler.answer = lambda _: versions()
    issuer = SlowIssuer()
    core = Asking("localhost", server.acceptor.port, each_login(TokenLogin(issuer), "test"))
    with asking(core) as driver:
        run_until(server, issuer.asked.is_set)
        assert driver.call(lambda _: "at once") == "at once"
        issuer.may_go_on.set()
        assert driver.wait(lambda: core.failure() is not None, in_time())
    assert "nobody issues tokens" in str(core.failure())
