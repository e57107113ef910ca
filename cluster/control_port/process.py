"""What the supervisor's member of the control port runs, and where it is told of."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass

from logquake.cluster.layout import Layout, read_json, write_private_json
from logquake.cluster.ports import LOOPBACK

TOKEN_BYTES = 16
BACKLOG = 64
NOTHING_TO_POLL_S = 3600.0  # the process is ended by a signal


@dataclass(frozen=True, slots=True)
class ControlPort:
    """As its file has it, which the owner of the state directory alone can read."""

    url: str
    token: str

    @classmethod
    def new(cls, port: int) -> ControlPort:
        return cls(f"http://{LOOPBACK}:{port}", secrets.token_hex(TOKEN_BYTES))

    @classmethod
    def read(cls, layout: Layout) -> ControlPort | None:
        """None of a cluster without one. Raises ClusterError when the file is damaged."""
        document = read_json(layout.control_port)
        return None if document is None else cls(**document)

    def write(self, layout: Layout) -> None:
        write_private_json(layout.control_port, asdict(self))


def run_control_port(layout: Layout, port: int, token: str, ready: Callable[[], None]) -> int:
    """Serve until killed; ``ready`` is called once it listens."""
    from logquake.cluster.control_port.application import Application
    from logquake.cluster.control_port.guard import Guard
    from logquake.cluster.control_port.server import ControlPortServer
    from logquake.cluster.running import RunningCluster

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # the supervisor holds it
    listener.bind((LOOPBACK, port))
    listener.listen(BACKLOG)
    application = Application(RunningCluster(layout), Guard(token, port))
    with ControlPortServer(listener, application.handle) as server:
        ready()
        server.serve_forever(NOTHING_TO_POLL_S)
    return 0
