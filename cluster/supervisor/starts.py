"""When a member that was started is ready: it says so, or ends instead.

A broker is ready when it is registered, accepts connections, and the controller has told its
replicas what to do (node/life/first_orders.py). ZooKeeper and Apache
Kafka's broker say nothing; who starts them asks them.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.cluster.supervisor.member import Member
from logquake.node.net.loop import EPOLLIN, EventLoop

Done = Callable[[], None]


class Starts:
    def __init__(self, loop: EventLoop) -> None:
        self._loop = loop

    def follow(
        self, member: Member, ready: Done = lambda: None, ended: Done = lambda: None
    ) -> None:
        """Call one of them, once. Every start is followed: it holds a descriptor until then."""
        child = member.says_ready
        if child is None:
            ready()
            return
        fd = child.ready_fd

        def on_readable(_events: int) -> None:
            self._loop.unwatch(fd)
            (ready if child.said_ready() else ended)()

        self._loop.watch(fd, EPOLLIN, on_readable)
