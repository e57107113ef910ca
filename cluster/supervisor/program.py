"""What a member of a cluster runs as a broker: ours (own_program.py), or Apache Kafka's."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from typing import Protocol

from logquake.cluster.supervisor.laid_links import LaidLinks
from logquake.cluster.supervisor.member import Child


class BrokerProgram(Protocol):
    def hold_port(self, port: int | None) -> socket.socket:
        """Hold a port at which it can listen. Raises ClusterError."""

    def load(self) -> None:
        """Whatever takes time before the first start. Raises ClusterError."""

    def links_to(self, zookeeper: str) -> LaidLinks:
        """By which its brokers find each other; none is laid yet."""

    def settle(self, broker_id: int, properties: Mapping[str, str]) -> Callable[[], Child]:
        """Write its server.properties; how it is started. Raises ClusterError for a bad setting."""
