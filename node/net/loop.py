"""The one loop of a broker: readiness, timers, posts from other threads, worker threads.

A pass is: wait; serve what is readable or writable; run what is due and what was posted; run the
end-of-pass actions (commit staged writes); run what was left for before the wait (flush outputs).
Everything but post() and what is given to run_in_worker() belongs to the loop's thread.

It is no general event loop: one descriptor has one callback, an exception from a callback ends
run(), and nothing is awaited.
"""

from __future__ import annotations

import os
import select
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from logquake.node.net.pass_watch import PassWatch
from logquake.node.net.timers import LoopTimer, TimerQueue

T = TypeVar("T")

EPOLLIN = select.EPOLLIN
EPOLLOUT = select.EPOLLOUT
EPOLLGONE = select.EPOLLHUP | select.EPOLLERR

NO_PASS = 0  # passes are counted from 1 on

_MAX_EVENTS_PER_PASS = 256  # the rest comes up in the next pass: epoll rotates its ready list


class EventLoop:
    """epoll for one thread. Satisfies logquake.seams.scheduler.Scheduler.

    ``passes`` is told what each pass does, and may be replaced by one that tells of the long ones.
    """

    def __init__(
        self, *, worker_threads: int = 2, monotonic_ns: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._monotonic_ns = monotonic_ns
        self._epoll = select.epoll()
        self._callbacks: dict[int, Callable[[int], None]] = {}
        self._unwatched: set[int] = set()
        self._timers = TimerQueue()
        self._soon: list[Callable[[], None]] = []
        self._posted: deque[Callable[[], None]] = deque()
        self._at_end_of_pass: list[Callable[[], None]] = []
        self._before_wait: list[Callable[[], None]] = []
        self._workers = ThreadPoolExecutor(worker_threads, thread_name_prefix="worker")
        self._running = False
        self.pass_number = NO_PASS  # of the pass that runs, or of the last one
        self.passes = PassWatch(0, lambda _busy: None)
        self._wake_fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self.watch(self._wake_fd, EPOLLIN, self._on_wake)

    # Time

    def now_ms(self) -> int:
        return self._monotonic_ns() // 1_000_000

    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def call_later(self, delay_ms: float, action: Callable[[], None]) -> LoopTimer:
        """Call action on the loop, never earlier than delay_ms from now."""
        return self._timers.add(self._precise_ms() + delay_ms, action)

    def call_soon(self, action: Callable[[], None]) -> None:
        """Call action in the next pass, which then does not wait; after an event, in this one."""
        self._soon.append(action)

    def call_before_wait(self, action: Callable[[], None]) -> None:
        """Call action once, after the end-of-pass actions: where outputs are flushed."""
        self._before_wait.append(action)

    # Other threads

    def post(self, action: Callable[[], None]) -> None:
        """Call action on the loop, soon. Callable from any thread; order is kept."""
        self._posted.append(action)
        os.eventfd_write(self._wake_fd, 1)

    def run_in_worker(self, work: Callable[[], T], done: Callable[[Future[T]], None]) -> None:
        """Run work in a worker thread, then done on the loop with the finished future.

        Its result is what work returned, or raises what work raised.
        """
        future = self._workers.submit(work)
        future.add_done_callback(lambda finished: self.post(partial(done, finished)))

    # Readiness

    def watch(self, fd: int, events: int, callback: Callable[[int], None]) -> None:
        """Call callback(events) in every pass in which fd is ready; HUP and ERR come unasked."""
        self._callbacks[fd] = callback
        self._epoll.register(fd, events)

    def rewatch(self, fd: int, events: int) -> None:
        """Change the events that a watched descriptor is watched for."""
        self._epoll.modify(fd, events)

    def unwatch(self, fd: int) -> None:
        """Stop watching; call it before the descriptor is closed."""
        del self._callbacks[fd]
        self._unwatched.add(fd)
        self._epoll.unregister(fd)

    # Passes

    def at_end_of_pass(self, action: Callable[[], None]) -> None:
        """Add an action to the end of every pass, after those that were added before."""
        self._at_end_of_pass.append(action)

    def run(self) -> None:
        """Run passes until stop()."""
        self._running = True
        while self._running:
            self.run_pass()

    def stop(self) -> None:
        """Let run() return after this pass. From another thread, post it."""
        self._running = False

    def run_pass(self, max_wait_ms: float | None = None) -> None:
        """One pass; waits for something to do, up to max_wait_ms when given."""
        callbacks, unwatched = self._callbacks, self._unwatched
        unwatched.clear()
        ready = self._epoll.poll(self._wait_s(max_wait_ms), _MAX_EVENTS_PER_PASS)
        self.pass_number += 1
        self.passes.begin()
        step_done = self.passes.step_done
        for fd, events in ready:
            # An event of a descriptor closed in this pass must not reach its number's next owner.
            if fd not in unwatched:
                callback = callbacks[fd]
                callback(events)
                step_done(callback)
        if self._soon:
            self._run_soon()
        self._timers.run_due(self._precise_ms(), step_done)
        for action in self._at_end_of_pass:
            action()
            step_done(action)
        if self._before_wait:
            self._run_before_wait()
        self.passes.end()

    def close(self) -> None:
        """Wait for the worker threads and give up the descriptors."""
        self._workers.shutdown(wait=True, cancel_futures=True)
        self._epoll.close()
        os.close(self._wake_fd)

    def _precise_ms(self) -> float:
        return self._monotonic_ns() / 1_000_000

    def _wait_s(self, max_wait_ms: float | None) -> float | None:
        if self._soon:
            return 0.0
        due_ms = self._timers.next_due_ms()
        if due_ms is None:
            return None if max_wait_ms is None else max_wait_ms / 1_000
        wait_ms = due_ms - self._precise_ms()
        if max_wait_ms is not None and max_wait_ms < wait_ms:
            wait_ms = max_wait_ms
        return wait_ms / 1_000 if wait_ms > 0 else 0.0

    def _on_wake(self, _events: int) -> None:
        os.eventfd_read(self._wake_fd)
        for _ in range(len(self._posted)):
            action = self._posted.popleft()
            action()
            self.passes.step_done(action)

    def _run_before_wait(self) -> None:
        actions = self._before_wait
        for action in actions:  # grows while it runs: a flush can cause another
            action()
            self.passes.step_done(action)
        actions.clear()

    def _run_soon(self) -> None:
        actions, self._soon = self._soon, []
        for action in actions:
            action()
            self.passes.step_done(action)
