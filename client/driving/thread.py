"""Drives a core on a thread of its own, for callers on others (as Kafka's Sender is a thread).

Whoever touches the core holds the lock, callers as much as the thread. The thread holds it while
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
    """Runs from the start until close().

    ``tell`` is called on the thread after each pass, without the lock: what users want to hear of
    is told there, so that a callback of theirs holds up nobody but the thread. What it raises ends
    the thread, which calls it again then, for what is left to tell.
    """

    to_end_ms = 5000  # the thread itself takes less, though it has to wait for a processor

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
        # A program that forgets to close its client ends all the same.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()
        tell_when_forked(self)

    def inherit(self) -> None:
        """In a forked process, where all but close() raises ClosedError from now on."""
        self._is_inherited = self._has_ended = True
        self.lock = cast("threading.RLock", ParentsLock(self._thread.name))

    # From any thread

    def call(self, command: Callable[[int], T]) -> T:
        """What the command answers, which has the core to itself and is told the time.

        Raises ClosedError, and what the command raises.
        """
        with self.lock:
            self.check_open()
            answer = command(self._clock.now_ms())
            self.wake()
            return answer

    def wake(self) -> None:
        """Let the thread look at the core again: for whoever changed it under the lock."""
        with self.lock:
            if self._is_woken:
                return  # as for most records of a producer
            if self._is_asleep:  # noted last: a signal's handler may end this call anywhere
                self._waker.wake()
                self._is_asleep = False  # once is enough
            self._is_woken = True

    def wait(self, is_done: Callable[[], bool], deadline_ms: int) -> bool:
        """Until it is done, which is answered, or it is too late.

        It is asked under the lock, by the thread too, whenever that has gone round: whoever waits
        is woken once it is so. Raises ClosedError, and RuntimeError on the thread itself, which
        would wait for what it has to do.
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
        """As wait(), so many seconds at most, for ever with None."""
        timeout_ms = None if timeout_s is None else int(timeout_s * 1000)
        return self.wait(is_done, self.deadline_ms(timeout_ms))

    def deadline_ms(self, timeout_ms: int | None) -> int:
        """Of who gives it so long from now on, with None for ever."""
        return _FOR_EVER_MS if timeout_ms is None else self._clock.now_ms() + timeout_ms

    def _sleep(self, is_done: Callable[[], bool], left_ms: int) -> None:
        """Until it is done, or the client is over, or so long."""
        woken = threading.Condition(self.lock)
        self._waiting[woken] = is_done
        try:
            woken.wait(min(left_ms / 1000, threading.TIMEOUT_MAX))
        except BaseException:
            _take_back(self.lock)  # a signal's handler may come where it is given up already
            raise
        finally:
            del self._waiting[woken]

    def run(self, steps: Steps[T]) -> T:
        """Carry out a call of the program's, on its own thread; what the call returns.

        Raises ClosedError, and what the call raises.
        """
        try:
            with self.lock:
                self.check_open()
                try:
                    return to_the_end(steps, self._carry_out)
                finally:
                    self.wake()  # others may wait for what it changed, however it ended
        except RuntimeError:
            if self._is_inherited:  # since a Call: the lock was not held at the fork
                raise why_inherited(self._thread.name) from None
            raise

    def _carry_out(self, step: Wait | Call, steps: Steps[T]) -> Callable[[], Wait | Call]:
        """How the call goes on after it."""
        self.wake()
        try:
            if isinstance(step, Wait):
                return partial(steps.send, self._wait(step.is_done, step.deadline_ms))
            try:
                self.lock.release()
                return partial(steps.send, step.function())
            finally:
                _take_back(self.lock)
        except BaseException as error:  # noqa: BLE001 - the call ends by it, as it wants
            return partial(steps.throw, error)

    def close(self, deadline_ms: int = _FOR_EVER_MS) -> bool:
        """End all connections and the thread. In a callback it does not wait for that.

        The thread has until then, and five seconds at least: a function of the program's
        may keep it, and then it ends by itself when that returns.

        Whether nobody else has closed it before. In a forked process it does nothing, since the
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
        """Call it once the thread calls nothing of the program's any more: now, or at its end on
        the thread that close() has left. What it raises there is logged.
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
                woken.notify()  # they are told that it is closed

    @property
    def is_closed(self) -> bool:
        """Or failed: what is called raises ClosedError."""
        return self._is_closing or self._has_ended

    def is_own_thread(self) -> bool:
        """Whoever asks is called back by it."""
        return threading.current_thread() is self._thread

    def _check_is_other_thread(self) -> None:
        if self.is_own_thread():
            raise RuntimeError("the client's own thread cannot wait for what it has to do itself")

    def check_open(self) -> None:
        """Raises ClosedError."""
        if self.is_closed:
            raise why_closed(self._thread.name, self._failure)

    # On its own

    def _run(self) -> None:
        try:
            while self._pass():
                pass
        except BaseException as error:  # noqa: BLE001 - whatever it is, the client is over
            self._failure = error
            _LOG.exception("%s fails", self._thread.name)
        finally:
            try:
                self._end()
            finally:
                self._be_over()

    def _pass(self) -> bool:
        """Whether to go on."""
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
            if acted or self._is_woken:  # and something may have come of it
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
        """Whoever waits is told, whatever else fails."""
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
        except Exception:  # noqa: BLE001 - the program's own: nobody is left to raise it to
            _LOG.exception("what is called at the end of %s fails", self._thread.name)

    def _tell_all(self) -> None:
        """Though some of the program's own would end the thread, by sys.exit() say."""
        while True:
            try:
                self._tell()
                return
            except BaseException:  # noqa: BLE001 - the others are told all the same
                _LOG.exception("a callback of the program's ends %s", self._thread.name)


def _take_back(lock: threading.RLock) -> None:
    """Though a signal's handler raises meanwhile, as of Ctrl-C: that is raised once it is held. So
    is what came before it was given up.
    """
    try:
        with suppress(RuntimeError):  # as nearly always, it is not held
            lock.release()
        lock.acquire()
    except ClosedError:
        raise  # of the lock of a parent, which nobody gets
    except BaseException:
        _take_back(lock)
        raise
