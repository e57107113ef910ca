"""A broker's end at a known moment."""

from __future__ import annotations

import os
import signal
import time

from benchmarks.errors import BenchmarkError
from logquake.cluster.api import Cluster


def kill_broker(kafka: Cluster, broker_id: int) -> int:
    """SIGKILL; when, in nanoseconds of the monotonic clock. Raises BenchmarkError.

    Straight, not through the cluster, which first looks up who leads what.
    """
    (pid,) = (each.pid for each in kafka.state().brokers if each.name == f"broker-{broker_id}")
    if pid is None:
        raise BenchmarkError(f"broker {broker_id} is not running")
    killed_ns = time.monotonic_ns()
    os.kill(pid, signal.SIGKILL)
    return killed_ns
