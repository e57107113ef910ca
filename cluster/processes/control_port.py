"""Where a cluster's control port is, and the word that opens it."""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass

from logquake.cluster.layout import Layout, read_json, write_private_json
from logquake.cluster.processes.ports import LOOPBACK

TOKEN_BYTES = 16


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
