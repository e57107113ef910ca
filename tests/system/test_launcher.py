"""Who waits for a cluster's end hears every signal."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from typing import Any

from logquake.cluster.launcher import Launched

UNTIL_TOLD = "import sys; sys.stdin.read()"


def test_a_signal_that_interrupts_no_system_call_is_heard() -> None:
    """As one that comes just before the call, here by coming to another thread."""
    nothing: Any = None
    with subprocess.Popen([sys.executable, "-c", UNTIL_TOLD], stdin=subprocess.PIPE) as supervisor:
        assert supervisor.stdin is not None
        tell = supervisor.stdin.close
        before = signal.signal(signal.SIGUSR1, lambda *_: tell())
        elsewhere = threading.Timer(
            0.2, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        )
        elsewhere.start()
        try:
            Launched(nothing, supervisor, nothing, is_new=False).wait_until_ended()
        finally:
            signal.signal(signal.SIGUSR1, before)
            elsewhere.join()
    assert supervisor.returncode == 0
