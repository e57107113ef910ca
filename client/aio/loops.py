"""Drives a client on the running loop."""

from __future__ import annotations

import asyncio
import selectors
from typing import Any

from logquake.client.assembling import Foundation
from logquake.client.driving.aio import AioDriver
from logquake.client.driving.aside import Aside
from logquake.client.driving.driven import LastingCore
from logquake.client.driving.sockets import SelectorSockets
from logquake.client.telling import Telling


def start_on_loop(
    foundation: Foundation, core: LastingCore, telling: Telling, name: str
) -> AioDriver:
    """``name`` is the client's name in errors. Raises RuntimeError if no loop is running."""

    def new_sockets(selector: selectors.BaseSelector, aside: Aside) -> SelectorSockets:
        return SelectorSockets(foundation.clock, foundation.way_in, selector=selector, aside=aside)

    return AioDriver(
        core, foundation.links, foundation.clock, new_sockets, name=name, tell=telling.tell
    )


def this_task() -> asyncio.Task[Any] | None:
    """The running task; None in a callback of the loop, or outside any loop."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
