"""What drives a client on the loop that runs."""

from __future__ import annotations

import selectors

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
