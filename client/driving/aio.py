"""Drives a core on asyncio's loop: no thread, and no lock, since nothing runs in parallel.

The loop watches one descriptor, an epoll that contains all sockets; the loop's executor looks names
up and obtains tokens.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import selectors
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from logquake.client.clock import Clock
from logquake.client.driving.aside import Aside
from logquake.client.driving.driven import LastingCore
from logquake.client.driving.ending import abandon, why_closed
from logquake.client.driving.forks import tell_when_forked, why_inherited
from logquake.client.driving.lookout import Lookout
from logquake.client.driving.sockets import Sockets
from logquake.client.driving.steps import Call, Steps, Wait, is_worth_a_look
from logquake.client.errors import ConnectionLostError
from logquake.client.network.links import Links

T = TypeVar("T")

_LOG = logging.getLogger(__name__)


def _running_loop() -> asyncio.AbstractEventLoop:
    """Raises RuntimeError, with a message that says what to do."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise RuntimeError(
            "no loop runs here: a client of logquake.client.aio is made in a coroutine, on the loop"
            " that it belongs to"
        ) from None


class AioDriver:
    """Runs from its creation until close(), on the loop that is running then.

    ``tell`` is called after each pass, and runs users' callbacks, in the context in which the
    driver was created, and not in that of the call that woke it.
    """

    def __init__(
        self,
        core: LastingCore,
        links: Links,
        clock: Clock,
        new_sockets: Callable[[selectors.BaseSelector, Aside], Sockets],
        *,
        name: str,
        tell: Callable[[], object] = lambda: None,
    ) -> None:
        self._loop = _running_loop()
        self._context = contextvars.copy_context()
        self._core = core
        self._links = links
        self._clock = clock
        self._name = name
        self._tell = tell
        self._selector = selectors.EpollSelector()
        self._sockets = new_sockets(self._selector, self._do_aside)
        self._lookout = Lookout(self._sockets, clock)
        self._aside: set[asyncio.Future[Any]] = set()
        self._waiting: dict[asyncio.Future[None], Wait] = {}
        self._promised: dict[asyncio.Future[None], None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due_ms = 0
        self._polled_ms = 0
        self._is_woken = False
        self._has_ended = False
        self._is_closed = False  # by somebody
        self._is_inherited = False
        self._failure: Exception | None = None
        self._loop.add_reader(self._selector.fileno(), self._on_events)
        tell_when_forked(self)
        self.wake()

    def inherit(self) -> None:
        """In a forked process: all but close() raises ClosedError from now on. The loop's own epoll
        is shared with the parent, so nothing is removed from it.
        """
        self._is_inherited = self._is_closed = self._has_ended = True

    def call(self, command: Callable[[int], T]) -> T:
        """Run the command with the current time, and return its result.

        Raises ClosedError, and what the command raises.
        """
        self.check_open()
        answer = command(self._clock.now_ms())
        self.wake()
        return answer

    def wake(self) -> None:
        """Look at the core again, after a change to it."""
        if not self._is_woken and not self._has_ended:
            # This may raise: if the loop has ended or, in debug mode, belongs to another thread.
            # A later call on the loop then still wakes it.
            self._loop.call_soon(self._pass, context=self._context)
            self._is_woken = True

    async def wait(self, is_done: Callable[[], bool], deadline_ms: int) -> bool:
        """Wait, and return whether it was done in time. Other tasks get a turn on the loop in any
        case. Raises ClosedError.
        """
        while not is_done():
            self.check_open()
            if deadline_ms <= self._clock.now_ms():
                await asyncio.sleep(0)
                return is_done()
            woken = self._loop.create_future()
            self._waiting[woken] = Wait(is_done, deadline_ms)
            self.wake()
            try:
                await woken
            finally:
                del self._waiting[woken]
        return True

    def promise(self) -> asyncio.Future[None]:
        """A future for a callback to fulfil; if the client ends first, it raises ClosedError."""
        self.check_open()
        promised: asyncio.Future[None] = self._loop.create_future()
        self._promised[promised] = None
        promised.add_done_callback(self._promised.pop)
        return promised

    async def run(self, steps: Steps[T]) -> T:
        """Carry out a call of the program, and return its result.

        Raises ClosedError, and what the call raises.
        """
        self.check_open()
        try:
            return await self._to_the_end(steps)
        finally:
            self.wake()  # others may be waiting for what it changed, even if it failed

    async def _to_the_end(self, steps: Steps[T]) -> T:
        take: Callable[[], Wait | Call] = partial(next, steps)
        while True:
            try:
                step = take()
            except StopIteration as end:
                returned: T = end.value
                return returned
            take = await self._carry_out(step, steps)

    async def _carry_out(self, step: Wait | Call, steps: Steps[T]) -> Callable[[], Wait | Call]:
        """How the call continues after the step. What a step calls may be a coroutine function."""
        self.wake()
        try:
            if isinstance(step, Wait):
                return partial(steps.send, await self.wait(step.is_done, step.deadline_ms))
            returned = step.function()
            if inspect.isawaitable(returned):
                returned = await returned
            return partial(steps.send, returned)
        except BaseException as error:  # noqa: BLE001 - raised within the call
            return partial(steps.throw, error)

    def close(self) -> bool:
        """Close all connections, and wake all waiters. Returns whether this is the first close."""
        is_first, self._is_closed = not self._is_closed, True
        if not self._has_ended:
            self._end()
        return is_first

    @property
    def is_closed(self) -> bool:
        """Closed or failed: calls raise ClosedError."""
        return self._has_ended

    def check_open(self) -> None:
        """Raises ClosedError."""
        if self._is_inherited:
            raise why_inherited(self._name)
        if self.is_closed:
            raise why_closed(self._name, self._failure)

    # On the loop

    def _pass(self) -> None:
        self._is_woken = False
        if self._has_ended:
            return
        try:
            self._lookout.catch_up(self._links)
            self._polled_ms = self._clock.now_ms()
            self._core.poll(self._polled_ms)
            acted = self._sockets.perform(self._links)
        except Exception as error:  # noqa: BLE001 - any error ends the client
            self._fail(error)
            return
        try:
            self._tell_users()
        except BaseException:
            self.wake()  # for remaining callbacks, if the loop goes on
            raise
        finally:
            self._wake_those_who_wait()
            if acted:  # so the core may have work to do
                self.wake()
            self._set_timer()

    def _on_events(self) -> None:
        if self._has_ended:
            return
        try:
            comes_to_something = self._lookout.look(self._links)
        except Exception as error:  # noqa: BLE001 - as in a pass
            self._fail(error)
        else:
            if comes_to_something:
                self._pass()

    def _tell_users(self) -> None:
        """Each callback gets a copy of the context, so that its changes do not reach the next."""
        self._context.copy().run(self._tell)

    def _wake_those_who_wait(self) -> None:
        """They check again themselves, since things may have changed when their turn comes."""
        now_ms = self._clock.now_ms()
        for woken, wait in self._waiting.items():
            if not woken.done() and (wait.deadline_ms <= now_ms or is_worth_a_look(wait.is_done)):
                woken.set_result(None)

    def _set_timer(self) -> None:
        if self._is_woken or self._has_ended:  # a callback may have closed the client
            return
        due = [wait.deadline_ms for wait in self._waiting.values()]
        core_due_ms = self._core.next_due_ms(self._polled_ms)
        if core_due_ms is not None:
            due.append(core_due_ms)
        if due:
            self._wake_by(min(due))

    def _wake_by(self, due_ms: int) -> None:
        """Keep an earlier timer: waking too early costs less than a new timer after each pass."""
        if self._timer is not None:
            if self._timer_due_ms <= due_ms:
                return
            self._timer.cancel()
        self._timer_due_ms = due_ms
        left_ms = max(0, due_ms - self._clock.now_ms())
        self._timer = self._loop.call_later(left_ms / 1000, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        self.wake()

    def _do_aside(
        self, function: Callable[[], T], told: Callable[[T | Exception], None], /
    ) -> None:
        def on_done(done: asyncio.Future[T]) -> None:
            self._aside.discard(done)
            if done.cancelled() or self._has_ended:
                return
            error = done.exception()
            told(error if isinstance(error, Exception) else done.result())
            self.wake()

        doing = self._loop.run_in_executor(None, function)
        self._aside.add(doing)
        doing.add_done_callback(on_done)

    def _fail(self, error: Exception) -> None:
        self._failure = error
        _LOG.exception("%s fails", self._name)
        self._end()

    def _end(self) -> None:
        """Wakes all waiters, whatever else fails."""
        self._has_ended = True
        self._loop.remove_reader(self._selector.fileno())
        if self._timer is not None:
            self._timer.cancel()
        for doing in list(self._aside):
            doing.cancel()
        try:
            abandon(self._core, why_closed(self._name, self._failure))
            why = ConnectionLostError("closed by this client")
            self._links.end_all(why, self._clock.now_ms())
            self._sockets.perform(self._links)
        finally:
            try:
                self._tell_all()
            finally:
                self._sockets.close()
                self._release()

    def _tell_all(self) -> None:
        """Run all callbacks, even if some of the program's would end the loop, by sys.exit() for
        instance: that is raised once the others have run.
        """
        ends: BaseException | None = None
        has_told = False
        while not has_told:
            try:
                self._tell_users()
                has_told = True
            except BaseException as error:  # noqa: BLE001 - raised below
                ends = error
        if ends is not None:
            raise ends

    def _release(self) -> None:
        """Wake all waiters."""
        for woken in [each for each in self._waiting if not each.done()]:
            woken.set_result(None)
        for promised in [each for each in self._promised if not each.done()]:
            promised.set_exception(why_closed(self._name, self._failure))
