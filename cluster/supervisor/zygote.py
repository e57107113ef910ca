"""Brokers by fork: the modules are loaded once, here, and every broker begins with them.

Starting three brokers so takes 5 ms and 4 MB each, against 0.5 s and 26 MB as programs of their
own. The heap is frozen first: a garbage collection in a child would touch, and so copy, all of it.

Caveat: fork() copies one thread. The supervisor must have no other, or a lock that another thread
holds stays locked in the child for ever.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from logquake.cluster.processes.lifeline import die_with

if TYPE_CHECKING:
    from multiprocess.context import ForkProcess

_FORKING = "multiprocess.context"  # 25 ms to import, which the JVM's start hides
# In the child: the only descriptors that it keeps, beside the standard ones.
_READY_FD = 3
INHERITED_FD = 4  # where one was handed down
_RESET_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)


SayReady = Callable[[], None]


class ForkedChild:
    """A forked process, as Member knows processes.

    ``ready_fd`` becomes readable when the child has said that it is ready, or has ended. It is
    there until said_ready() or let_go().
    """

    def __init__(self, process: ForkProcess, ready_fd: int) -> None:
        self._process = process
        self.ready_fd = ready_fd

    @property
    def pid(self) -> int:
        return int(self._process.pid)

    def poll(self) -> int | None:
        code: int | None = self._process.exitcode
        return code

    def said_ready(self) -> bool:
        """Whether it said so, once ready_fd is readable."""
        said = os.read(self.ready_fd, 1)
        self.let_go()
        return said != b""

    def let_go(self) -> None:
        """Nobody wants to hear whether it is ready."""
        os.close(self.ready_fd)

    def wait(self) -> int:
        # Not join(): it waits for a pipe that the child closed when it let go of what it inherited.
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        return int(self._process.exitcode)


def preload(module: str) -> None:
    """Import what every broker needs, and freeze the heap.

    Imports leave next to no garbage; looking for it, during or after them, costs 50 ms and more.
    """
    gc.disable()
    importlib.import_module(_FORKING)
    importlib.import_module(module)
    gc.freeze()
    gc.enable()


def fork(
    run: Callable[[SayReady], int], log: Path, *, inherited_fd: int | None = None
) -> ForkedChild:
    """Run a function in a new process that logs to ``log``; what it returns is the exit status.

    ``inherited_fd`` is INHERITED_FD there.
    """
    ready_fd, say_ready_fd = os.pipe()
    if threading.active_count() != 1:
        raise RuntimeError(f"fork with {threading.enumerate()}")
    process = (
        importlib.import_module(_FORKING)
        .ForkContext()
        .Process(target=_in_child, args=(os.getpid(), log, run, say_ready_fd, inherited_fd))
    )
    # A signal between fork and _in_child would reach the supervisor's handler in the child, and
    # through its wake-up descriptor the supervisor itself.
    signal.pthread_sigmask(signal.SIG_BLOCK, _RESET_SIGNALS)
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _RESET_SIGNALS)
        os.close(say_ready_fd)
    return ForkedChild(process, ready_fd)


def _in_child(
    parent_pid: int,
    log: Path,
    run: Callable[[SayReady], int],
    say_ready_fd: int,
    inherited_fd: int | None,
) -> None:
    die_with(parent_pid)
    signal.set_wakeup_fd(-1)
    for number in _RESET_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _RESET_SIGNALS)
    _redirect_output(log)
    _keep_only(say_ready_fd, inherited_fd)
    sys.exit(run(_say_ready))


def _keep_only(say_ready_fd: int, inherited_fd: int | None) -> None:
    """The supervisor's lock, ports, control connections: all must close when *it* ends."""
    first_closed = INHERITED_FD
    if inherited_fd is not None:  # out of the way first: it may have the other's number
        inherited_fd = fcntl.fcntl(inherited_fd, fcntl.F_DUPFD_CLOEXEC, INHERITED_FD + 1)
    os.dup2(say_ready_fd, _READY_FD)
    if inherited_fd is not None:
        os.dup2(inherited_fd, INHERITED_FD, inheritable=False)
        first_closed += 1
    os.closerange(first_closed, os.sysconf("SC_OPEN_MAX"))


def _say_ready() -> None:
    """Once."""
    with contextlib.suppress(BrokenPipeError):  # nobody wants to hear it
        os.write(_READY_FD, b"\n")
    os.close(_READY_FD)


def _redirect_output(log: Path) -> None:
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for standard_stream in (1, 2):
        os.dup2(output, standard_stream)
