"""Drives a core on a thread of its own, for callers on others (as Kafka's Sender is a thread).

All access to the core requires the lock, for callers and for the thread. The thread holds it while
the core decides and while it processes events; not while it waits, or while bytes are moved.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar, cast

from logquake.client.clock import Clock
from logquake.client.driving.driven import LastingCore, Shared
from logquake.client.driving.ending import abandon, why_closed
from logquake.client.driving.forks import ParentsLock, tell_when_forked, why_inherited
from logquake.client.driving.lookout import Lookout
from logquake.client.driving.sockets import Sockets
from logquake.client.driving.steps import Call, Steps, Wait, is_worth_a_look, to_the_end
from logquake.client.driving.waker import Waker
from logquake.client.errors import ClosedError, ConnectionLostError
from logquake.client.network.links import Links

T = TypeVar("T")

_FOR_EVER_MS = 2**63

_LOG = logging.getLogger(__name__)


class ThreadDriver:
    """Runs from its creation until close().

    ``tell`` is called on the thread after each pass, without the lock. It runs users' callbacks,
    so a slow callback delays only the thread. If it raises, the thread ends, and calls it again
    for the remaining callbacks.
    """

    to_end_ms = 5000  # the thread itself takes less, but may have to wait for a processor

    def __init__(
        self,
        core: LastingCore,
        links: Links,
        clock: Clock,
        new_sockets: Callable[[Waker], Sockets],
        *,
        name: str,
        tell: Callable[[], object] = lambda: None,
    ) -> None:
        self.lock = threading.RLock()
        self._waiting: dict[threading.Condition, Callable[[], bool]] = {}
        self._core = core
        self._links = links
        self._shared = Shared(links, self.lock)
        self._clock = clock
        self._waker = Waker()
        self._sockets = new_sockets(self._waker)
        self._lookout = Lookout(self._sockets, clock)
        self._tell = tell
        self._polled_ms = 0
        self._is_woken = False
        self._is_asleep = False
        self._is_closing = False
        self._has_ended = False
        self._is_over = False
        self._when_over: Callable[[], object] | None = None
        self._is_inherited = False
        self._failure: BaseException | None = None
        # A daemon, so that a program that forgets to close its client can end.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()
        tell_when_forked(self)

    def inherit(self) -> None:
        """In a forked process: all but close() raises ClosedError from now on."""
        self._is_inherited = self._has_ended = True
        self.lock = cast("threading.RLock", ParentsLock(self._thread.name))

    # From any thread

    def call(self, command: Callable[[int], T]) -> T:
        """Run the command under the lock, with the current time, and return its result.

        Raises ClosedError, and what the command raises.
        """
        with self.lock:
            self.check_open()
            answer = command(self._clock.now_ms())
            self.wake()
            return answer

    def wake(self) -> None:
        """Make the thread look at the core again, after a change to it under the lock."""
        with self.lock:
            if self._is_woken:
                return  # as for most records of a producer
            if self._is_asleep:  # flags last: a signal handler may end this call anywhere
                self._waker.wake()
                self._is_asleep = False  # once is enough
            self._is_woken = True

    def wait(self, is_done: Callable[[], bool], deadline_ms: int) -> bool:
        """Wait, and return whether it was done in time.

        The thread, too, evaluates ``is_done`` under the lock, after each pass, and wakes the waiter
        once it is true. Raises ClosedError, and RuntimeError on the thread itself, which would wait
        for its own work.
        """
        with self.lock:
            return self._wait(is_done, deadline_ms)

    def _wait(self, is_done: Callable[[], bool], deadline_ms: int) -> bool:
        while not is_done():
            self.check_open()
            left_ms = deadline_ms - self._clock.now_ms()
            if left_ms <= 0:
                return False
            self._check_is_other_thread()
            self._sleep(is_done, left_ms)
        return True

    def wait_so_long(self, is_done: Callable[[], bool], timeout_s: float | None) -> bool:
        """Like wait(), but for at most ``timeout_s``, or for ever with None."""
        timeout_ms = None if timeout_s is None else int(timeout_s * 1000)
        return self.wait(is_done, self.deadline_ms(timeout_ms))

    def deadline_ms(self, timeout_ms: int | None) -> int:
        """The deadline for a timeout that begins now; None is for ever."""
        return _FOR_EVER_MS if timeout_ms is None else self._clock.now_ms() + timeout_ms

    def _sleep(self, is_done: Callable[[], bool], left_ms: int) -> None:
        """Sleep until it is done, the client ends, or the time is up."""
        woken = threading.Condition(self.lock)
        self._waiting[woken] = is_done
        try:
            woken.wait(min(left_ms / 1000, threading.TIMEOUT_MAX))
        except BaseException:
            _take_back(self.lock)  # a signal handler may raise while the lock is released
            raise
        finally:
            del self._waiting[woken]

    def run(self, steps: Steps[T]) -> T:
        """Carry out a call of the program, on the caller's thread, and return its result.

        Raises ClosedError, and what the call raises.
        """
        try:
            with self.lock:
                self.check_open()
                try:
                    return to_the_end(steps, self._carry_out)
                finally:
                    self.wake()  # others may be waiting for what it changed, even if it failed
        except RuntimeError:
            if self._is_inherited:  # since a Call: the lock was not held at the fork
                raise why_inherited(self._thread.name) from None
            raise

    def _carry_out(self, step: Wait | Call, steps: Steps[T]) -> Callable[[], Wait | Call]:
        """How the call continues after the step."""
        self.wake()
        try:
            if isinstance(step, Wait):
                return partial(steps.send, self._wait(step.is_done, step.deadline_ms))
            try:
                self.lock.release()
                return partial(steps.send, step.function())
            finally:
                _take_back(self.lock)
        except BaseException as error:  # noqa: BLE001 - raised within the call
            return partial(steps.throw, error)

    def close(self, deadline_ms: int = _FOR_EVER_MS) -> bool:
        """Close all connections and end the thread. In a callback it does not wait for that.

        It waits for the thread until the deadline, and for at least five seconds. If a function of
        the program blocks the thread for longer, the thread ends by itself when that returns.

        Returns whether this is the first close. In a forked process it does nothing, since the
        client is the parent's.
        """
        if self._is_inherited:
            return False
        with self.lock:
            is_first = not self._is_closing
            self._is_closing = True
            self.wake()
        if not self.is_own_thread():
            left_ms = max(deadline_ms - self._clock.now_ms(), self.to_end_ms)
            self._thread.join(min(left_ms / 1000, threading.TIMEOUT_MAX))
            if self._thread.is_alive():
                self._leave_thread()
        return is_first

    def when_over(self, function: Callable[[], object]) -> None:
        """Call it once the thread calls no more functions of the program: now, or, if close() has
        not waited for the thread, on the thread at its end. There its exceptions are logged.
        """
        with self.lock:
            if not self._is_over:
                self._when_over = function
                return
        function()

    def _leave_thread(self) -> None:
        _LOG.warning(
            "%s is closed, but a function that its thread calls goes on", self._thread.name
        )
        with self.lock:
            for woken in self._waiting:
                woken.notify()  # they find that it is closed

    @property
    def is_closed(self) -> bool:
        """Closed or failed: calls raise ClosedError."""
        return self._is_closing or self._has_ended

    def is_own_thread(self) -> bool:
        """Whether the caller runs on the client's thread, in a callback."""
        return threading.current_thread() is self._thread

    def _check_is_other_thread(self) -> None:
        if self.is_own_thread():
            raise RuntimeError("the client's own thread cannot wait for what it has to do itself")

    def check_open(self) -> None:
        """Raises ClosedError."""
        if self.is_closed:
            raise why_closed(self._thread.name, self._failure)

    # On the client's thread

    def _run(self) -> None:
        try:
            while self._pass():
                pass
        except BaseException as error:  # noqa: BLE001 - any error ends the client
            self._failure = error
            _LOG.exception("%s fails", self._thread.name)
        finally:
            try:
                self._end()
            finally:
                self._be_over()

    def _pass(self) -> bool:
        """Returns whether to continue."""
        self._lookout.catch_up(self._shared)
        with self.lock:
            if self._is_closing:
                return False
            self._is_woken = False
            self._polled_ms = self._clock.now_ms()
            self._core.poll(self._polled_ms)
        acted = self._sockets.perform(self._shared)
        self._tell()
        with self.lock:
            self._wake_those_who_wait()
            if acted or self._is_woken:  # so the core may have work to do
                return True
            due_ms = self._core.next_due_ms(self._polled_ms)
            self._is_asleep = True  # from here on the waker is needed
        self._lookout.wait(self._shared, due_ms)
        with self.lock:
            self._is_asleep = False
        return True

    def _wake_those_who_wait(self) -> None:
        for woken, is_done in self._waiting.items():
            if self._has_ended or is_worth_a_look(is_done):
                woken.notify()

    def _end(self) -> None:
        """Wakes all waiters, whatever else fails."""
        try:
            with self.lock:
                self._is_asleep = False
                self._has_ended = True  # nobody needs the waker any more
                abandon(self._core, why_closed(self._thread.name, self._failure))
                why = ConnectionLostError("closed by this client")
                self._links.end_all(why, self._clock.now_ms())
            self._sockets.perform(self._shared)
        finally:
            self._tell_all()
            with self.lock:
                self._wake_those_who_wait()
            self._sockets.close()
            self._waker.close()

    def _be_over(self) -> None:
        with self.lock:
            self._is_over = True
            function = self._when_over
        if function is None:
            return
        try:
            function()
        except Exception:  # noqa: BLE001 - the program's own: no caller is left to raise it to
            _LOG.exception("what is called at the end of %s fails", self._thread.name)

    def _tell_all(self) -> None:
        """Run all callbacks, even if one would end the thread, by sys.exit() for instance."""
        while True:
            try:
                self._tell()
                return
            except BaseException:  # noqa: BLE001 - the other callbacks run anyway
                _LOG.exception("a callback of the program's ends %s", self._thread.name)


def _take_back(lock: threading.RLock) -> None:
    """Acquire the lock, even if a signal handler raises meanwhile, as for Ctrl-C: that is raised
    once the lock is held, even if it came before the lock was released.
    """
    try:
        with suppress(RuntimeError):  # nearly always, it is not held
            lock.release()
        lock.acquire()
    except ClosedError:
        raise  # from a parent's lock, which cannot be acquired
    except BaseException:
        _take_back(lock)
        raise
