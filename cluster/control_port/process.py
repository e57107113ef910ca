"""What the supervisor's member of the control port runs."""

from __future__ import annotations

import socket
from collections.abc import Callable

from logquake.cluster.layout import Layout
from logquake.cluster.processes.ports import LOOPBACK

BACKLOG = 64
NOTHING_TO_POLL_S = 3600.0  # the process is ended by a signal


def run_control_port(layout: Layout, port: int, token: str, ready: Callable[[], None]) -> int:
    """Serve until killed; ``ready`` is called once it listens."""
    from logquake.cluster.control_port.application import Application
    from logquake.cluster.control_port.guard import Guard
    from logquake.cluster.control_port.server import ControlPortServer
    from logquake.cluster.running.cluster import RunningCluster

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # the supervisor holds it
    listener.bind((LOOPBACK, port))
    listener.listen(BACKLOG)
    application = Application(RunningCluster(layout), Guard(token, port))
    with ControlPortServer(listener, application.handle) as server:
        ready()
        server.serve_forever(NOTHING_TO_POLL_S)
    return 0
