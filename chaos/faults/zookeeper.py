"""Faults of ZooKeeper's own servers: ``zookeeper`` where there is one, and of an ensemble
``zookeeper-2``, ``zookeeper-leader``, ``zookeeper-follower``.

They are kinds of their own for storms: they take no broker away. A step may as well say kill.
"""

from __future__ import annotations

from typing import Literal

from logquake.chaos.faults.value import FaultValue, Target


class KillZooKeeper(FaultValue):
    """SIGKILL; started again when it is healed, with what it had written."""

    kind: Literal["kill-zookeeper"] = "kill-zookeeper"
    target: Target = "zookeeper"


class PauseZooKeeper(FaultValue):
    """SIGSTOP: clients and peers notice its silence; SIGCONT when it is healed."""

    kind: Literal["pause-zookeeper"] = "pause-zookeeper"
    target: Target = "zookeeper"
