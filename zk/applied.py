"""What took place in ZooKeeper, for whoever judges the history."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.zk.operations import Write


@dataclass(frozen=True, slots=True)
class Applied:
    """A transaction that took place.

    ``session_id`` wrote it. ``writes`` are in the order of the Multi, the checks among them;
    sequential creates carry their final path. ``closed``: the session's end deleted its nodes.
    ``at_ms`` is the server's wall clock; 0 in the model, which has none.
    """

    zxid: int
    session_id: int
    writes: tuple[Write, ...]
    closed: bool = False
    at_ms: int = 0
