"""What a broker has before it is started: ports, links, folders, server.properties, a way in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from logquake.cluster.layout import Layout
from logquake.cluster.security.cluster_security import PROTOCOL as SECURE_PROTOCOL
from logquake.cluster.security.cluster_security import ClusterSecurity
from logquake.cluster.spec import ClusterSpec, broker_properties
from logquake.cluster.state import broker_name
from logquake.cluster.supervisor.broker_ports import BrokerPorts, hold_broker_ports
from logquake.cluster.supervisor.inlet import Inlet
from logquake.cluster.supervisor.kafka_program import KafkaProgram
from logquake.cluster.supervisor.laid_links import LaidLinks
from logquake.cluster.supervisor.member import Child
from logquake.cluster.supervisor.own_program import OwnProgram
from logquake.cluster.supervisor.program import BrokerProgram
from logquake.wire.listeners import PLAINTEXT


class BrokerMaking:
    """``inlets`` lead into brokers whose inside may be broken, ``links`` are None without."""

    def __init__(self, layout: Layout, spec: ClusterSpec) -> None:
        self.inlets: dict[str, Inlet] = {}
        self.links: LaidLinks | None = None
        self._layout = layout
        self._spec = spec
        self._program = self._choose_program()
        self._ports: dict[int, BrokerPorts] = {}
        self._zookeeper = ""

    def hold_ports(self, broker_ids: Iterable[int], told: Iterable[int | None]) -> None:
        """Raises ClusterError: one that was asked for is taken."""
        held = hold_broker_ports(told, self._program.hold_port, links=self._spec.links)
        self._ports |= zip(broker_ids, held, strict=True)

    def told_port(self, broker_id: int) -> int:
        """Where others dial it."""
        return self._ports[broker_id].told_port

    def load(self) -> None:
        """Whatever takes time before the first start. Raises ClusterError."""
        self._program.load()

    def connect_to(self, zookeeper: str) -> None:
        """Known once that has its ports; the links of all brokers lead there."""
        self._zookeeper = zookeeper
        if self._spec.links:
            self.links = self._program.links_to(zookeeper)
            for broker_id in self._ports:
                self.lay_links(broker_id)

    def lay_links(self, broker_id: int) -> None:
        """Between it and all that have any. Raises ClusterError."""
        if self.links is not None:
            ports = self._ports[broker_id]
            self.links.lay(broker_id, ports.port, ports.told_port)

    def make(self, broker_id: int, security: ClusterSecurity | None) -> Callable[[], Child]:
        """How it is started. Raises ClusterError: a setting that a broker would refuse."""
        port = self._ports[broker_id].port
        protocol = SECURE_PROTOCOL if security else PLAINTEXT
        properties = broker_properties(
            self._spec,
            broker_id,
            port=port,
            zookeeper=self._zookeeper,
            data=self._layout.data_dirs(broker_id, self._spec.log_dirs),
            security=security.broker_properties(port) if security else {},
            links=self.links.broker_properties(broker_id, protocol) if self.links else {},
        )
        return self._program.settle(broker_id, properties)

    def forget(self, broker_id: int) -> None:
        """Its ports are free, and nothing leads to it."""
        if self.links is not None:
            self.links.take_up(broker_id)
        self.inlets.pop(broker_name(broker_id), None)
        self._ports.pop(broker_id).close()

    def _choose_program(self) -> BrokerProgram:
        if self._spec.kafka is None:
            return OwnProgram(self._layout, self._spec, self.inlets)
        return KafkaProgram(self._layout, Path(self._spec.kafka))
