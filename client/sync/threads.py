"""The thread of a client whose calls block."""

from __future__ import annotations

from logquake.client.assembling import Foundation
from logquake.client.driving.aside import OnThreads
from logquake.client.driving.driven import LastingCore
from logquake.client.driving.sockets import SelectorSockets
from logquake.client.driving.thread import ThreadDriver
from logquake.client.driving.waker import Waker
from logquake.client.telling import Telling


def start_thread(
    foundation: Foundation, core: LastingCore, telling: Telling, name: str
) -> ThreadDriver:
    """``name`` is the name of the thread, and of the client in errors."""

    def new_sockets(waker: Waker) -> SelectorSockets:
        clock, way_in = foundation.clock, foundation.way_in
        return SelectorSockets(clock, way_in, waker=waker, names=OnThreads(waker))

    return ThreadDriver(
        core, foundation.links, foundation.clock, new_sockets, name=name, tell=telling.tell
    )
