"""Signals as events of the loop, and, before it runs, as an exception."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from types import FrameType

from logquake.node.net.loop import EPOLLIN, EventLoop

STOPPING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class StopRequested(Exception):  # noqa: N818 - no error: somebody asked
    """A stopping signal came while the cluster was still starting."""


class SignalWatch:
    """Catches the signals from its creation on; until ``deliver`` a stopping one raises."""

    def __init__(self) -> None:
        self._reading, self._writing = socket.socketpair()
        self._reading.setblocking(False)
        self._writing.setblocking(False)
        signal.set_wakeup_fd(self._writing.fileno(), warn_on_full_buffer=False)
        self._raises = True
        for number in STOPPING_SIGNALS:
            signal.signal(number, self._on_stop)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)

    def deliver(
        self, loop: EventLoop, *, on_stop: Callable[[], None], on_child: Callable[[], None]
    ) -> None:
        """From now on call these on the loop. Children that ended earlier are reported at once."""
        self._raises = False
        loop.watch(self._reading.fileno(), EPOLLIN, lambda _: self._drain(on_stop, on_child))

    def _drain(self, on_stop: Callable[[], None], on_child: Callable[[], None]) -> None:
        for number in self._reading.recv(4096):
            (on_child if number == signal.SIGCHLD else on_stop)()

    def _on_stop(self, _number: int, _frame: FrameType | None) -> None:
        if self._raises:
            raise StopRequested
