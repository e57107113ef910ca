"""Nothing that the supervisor starts outlives it, even when it is killed with SIGKILL.

Each child asks the kernel for SIGKILL at its parent's death. That reaches a paused child too, and
outlasts exec, so a JVM can be told as well.

Caveat: the kernel goes by the parent's *thread*. Children are started on the main thread.
"""

from __future__ import annotations

import ctypes
import os
import signal

PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)


def die_with(parent_pid: int) -> None:
    """Called in a child, between fork and exec if there is one: be killed when the parent dies.

    Raises OSError where the kernel refuses.
    """
    if _libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    if os.getppid() != parent_pid:  # it died before the kernel was asked
        os._exit(1)
