"""Nothing that the supervisor starts outlives it, even when it is killed with SIGKILL.

On Linux the kernel does it: each child asks for SIGKILL at its parent's death. Elsewhere a warden,
a process that holds the other end of a pipe, sees the pipe close and kills what it was told of.

Caveat: Linux sends the signal when the parent's *thread* ends; start children on the main thread.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Callable

PR_SET_PDEATHSIG = 1
KERNEL_KILLS_ORPHANS = sys.platform == "linux"

_libc = ctypes.CDLL(None, use_errno=True) if KERNEL_KILLS_ORPHANS else None


def die_with(parent_pid: int) -> None:
    """Called in a child: be killed when the parent dies. Does nothing where the warden watches."""
    if _libc is None:
        return
    _libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent_pid:  # it died before the kernel was asked
        os._exit(1)


class Warden:
    """A child process that kills the watched processes once its creator is gone.

    ``fork`` runs a function in a new process that inherits no descriptor but those given.
    """

    def __init__(self, fork: Callable[[Callable[[], None], tuple[int, ...]], int]) -> None:
        reading, self._writing = os.pipe()
        self.pid = fork(lambda: _watch_over(reading), (reading,))
        os.close(reading)

    def watch(self, pid: int) -> None:
        os.write(self._writing, b"+%d\n" % pid)

    def forget(self, pid: int) -> None:
        """To be called before the process is reaped: its id may be given to another afterwards."""
        os.write(self._writing, b"-%d\n" % pid)

    def dismiss(self) -> None:
        """Kill what is still watched, and end the warden. The caller reaps it."""
        os.close(self._writing)


def _watch_over(reading: int) -> None:
    watched: set[int] = set()
    with os.fdopen(reading, "rb") as orders:
        for order in orders:
            pid = int(order[1:])
            watched.add(pid) if order.startswith(b"+") else watched.discard(pid)
    for pid in sorted(watched):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
