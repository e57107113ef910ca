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
    """``name`` is what errors call the client. Raises RuntimeError where no loop runs."""

    def new_sockets(selector: selectors.BaseSelector, aside: Aside) -> SelectorSockets:
        return SelectorSockets(foundation.clock, foundation.way_in, selector=selector, aside=aside)

    return AioDriver(
        core, foundation.links, foundation.clock, new_sockets, name=name, tell=telling.tell
    )


def this_task() -> asyncio.Task[Any] | None:
    """None where no task runs: a callback of the loop's, or nothing on the loop at all."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
