"""What all connections of a broker share."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.node.net.faults import FaultReports
from logquake.node.net.handler import RequestHandler
from logquake.node.net.limits import ConnectionLimits
from logquake.node.net.loop import EventLoop
from logquake.node.net.memory import MemoryPool
from logquake.node.net.parser import RequestParser


@dataclass(frozen=True, slots=True)
class Shared:
    """Parsed requests go to ``handler``; ``faults`` is told why a client's connection is closed."""

    loop: EventLoop
    handler: RequestHandler
    limits: ConnectionLimits
    parser: RequestParser
    memory: MemoryPool
    faults: FaultReports
