"""What all connections of a broker share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from logquake.node.net.faults import FaultReports
from logquake.node.net.limits import ConnectionLimits
from logquake.node.net.loop import EventLoop
from logquake.node.net.memory import MemoryPool
from logquake.node.net.parser import RequestParser
from logquake.node.requests.request import Request


class RequestHandler(Protocol):
    """Who answers: the broker's ApiTable."""

    @property
    def served(self) -> Mapping[int, range]:
        """Versions by API key."""

    def handle(self, request: Request) -> None:
        """Take a request whose key and version are served; see to its reply, now or later.

        The bytes that it points to may be overwritten once the pass has ended.
        """


@dataclass(frozen=True, slots=True)
class Shared:
    """Parsed requests go to ``handler``; ``faults`` is told why a client's connection is closed."""

    loop: EventLoop
    handler: RequestHandler
    limits: ConnectionLimits
    parser: RequestParser
    memory: MemoryPool
    faults: FaultReports
