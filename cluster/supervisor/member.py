"""One process of a cluster: which phase it is in, what may be done to it, how it ended."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from logquake.cluster.errors import ClusterError
from logquake.cluster.state import Ending, MemberState, Phase


class Child(Protocol):
    """A process that was started; subprocess and the zygote each have theirs."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None:
        """The return code, negative for a signal; None while it runs."""

    def wait(self) -> int:
        """The return code, once it ended."""


@runtime_checkable
class SaysReady(Protocol):
    """A child that tells when it is of use."""

    ready_fd: int

    def said_ready(self) -> bool: ...


class Member:
    """``launch`` starts the process; ``changed`` is called after every change of phase."""

    def __init__(
        self,
        name: str,
        *,
        host: str,
        port: int,
        launch: Callable[[], Child],
        changed: Callable[[], None],
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self._launch = launch
        self._changed = changed
        self._child: Child | None = None
        self._phase = Phase.ENDED
        self._since_ms = _wall_ms()
        self._ended: Ending | None = None
        self._end_was_asked = False
        self._when_ended: list[Callable[[], None]] = []

    @property
    def says_ready(self) -> SaysReady | None:
        """The process that was started last, if it tells when it is of use."""
        return self._child if isinstance(self._child, SaysReady) else None

    @property
    def alive(self) -> bool:
        return self._phase is not Phase.ENDED

    def state(self) -> MemberState:
        return MemberState(
            name=self.name,
            host=self.host,
            port=self.port,
            phase=self._phase,
            pid=self._child.pid if self._child and self.alive else None,
            since_ms=self._since_ms,
            ended=self._ended,
        )

    def start(self) -> None:
        """Start the process. Raises ClusterError while it runs."""
        if self.alive:
            raise ClusterError(f"{self.name} is {self._phase} already")
        self._child = self._launch()
        self._end_was_asked = False
        self._enter(Phase.RUNNING)

    def kill(self) -> None:
        """SIGKILL. Raises ClusterError unless it runs, as all below do."""
        self._signal(signal.SIGKILL)
        self._end_was_asked = True

    def stop(self) -> None:
        """SIGTERM, by which a broker moves its leaderships away first."""
        self._signal(signal.SIGTERM)
        self._end_was_asked = True
        if self._phase is Phase.PAUSED:  # a stopped process would not see it
            self._signal(signal.SIGCONT)
        self._enter(Phase.STOPPING)

    def stop_without_moving(self) -> None:
        """As stop(), but with a second signal behind: a broker then only closes what it has open.

        SIGINT, since a second SIGTERM would merge with the first.
        """
        self.stop()
        self._signal(signal.SIGINT)

    def pause(self) -> None:
        """SIGSTOP: sockets and sessions stay open, nobody answers."""
        self._signal(signal.SIGSTOP)
        self._enter(Phase.PAUSED)

    def resume(self) -> None:
        if self._phase is not Phase.PAUSED:
            raise ClusterError(f"{self.name} is {self._phase}, not paused")
        self._signal(signal.SIGCONT)
        self._enter(Phase.RUNNING)

    def hold(self) -> None:
        """Stop the process for a moment, which is no phase: nobody but who starves it knows."""
        if self._child is not None and self.alive:
            os.kill(self._child.pid, signal.SIGSTOP)  # not reaped, so the id is still its own

    def let_run(self) -> None:
        """After hold(), unless it was paused meanwhile."""
        if self._child is not None and self.alive and self._phase is not Phase.PAUSED:
            os.kill(self._child.pid, signal.SIGCONT)

    def when_ended(self, action: Callable[[], None]) -> None:
        """Call action once the process has ended and is reaped."""
        self._when_ended.append(action)

    def kill_and_wait(self) -> None:
        """End the process at once, whatever its phase; return when it is gone."""
        if self._child and self.alive:
            os.kill(self._child.pid, signal.SIGKILL)  # not reaped, so the id is still its own
            self._end_was_asked = True
            self._child.wait()
            self.reap()

    def reap(self) -> None:
        """Notice the process's end, if it ended."""
        if self._child is None or not self.alive:
            return
        return_code = self._child.poll()
        if return_code is None:
            return
        self._ended = Ending.of(return_code, at_ms=_wall_ms(), asked=self._end_was_asked)
        self._enter(Phase.ENDED)
        actions, self._when_ended = self._when_ended, []
        for action in actions:
            action()

    def _signal(self, number: signal.Signals) -> None:
        self.reap()
        if self._child is None or not self.alive:
            how = f" ({self._ended})" if self._ended else ""
            raise ClusterError(f"{self.name} does not run{how}: start it first")
        os.kill(self._child.pid, number)

    def _enter(self, phase: Phase) -> None:
        self._phase = phase
        self._since_ms = _wall_ms()
        self._changed()


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000
