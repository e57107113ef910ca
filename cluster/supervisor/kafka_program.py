"""Apache Kafka's broker: a JVM for each, with the same settings but for those that are our own."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from pathlib import Path

from logquake.cluster.kafka.broker import LOG4J, broker_command, without_our_own
from logquake.cluster.layout import Layout, write_private
from logquake.cluster.processes.hosts_file import hosts_flag
from logquake.cluster.processes.java import find_java
from logquake.cluster.processes.ports import hold_port_for_java
from logquake.cluster.spec import format_properties
from logquake.cluster.state import broker_name
from logquake.cluster.supervisor.member import Child
from logquake.cluster.supervisor.named_peers import NamedPeers
from logquake.cluster.zookeeper.server import spawn


class KafkaProgram:
    """As a BrokerProgram. ``libraries`` is the folder of Kafka's jars."""

    def __init__(self, layout: Layout, libraries: Path) -> None:
        self._layout = layout
        self._libraries = libraries
        self._named_peers: NamedPeers | None = None

    def hold_port(self, port: int | None) -> socket.socket:
        return hold_port_for_java(port=port)

    def load(self) -> None:
        self._java = find_java()
        self._log4j.write_text(LOG4J)

    def links_to(self, zookeeper: str) -> NamedPeers:
        self._named_peers = NamedPeers(zookeeper)
        return self._named_peers

    def settle(self, broker_id: int, properties: Mapping[str, str]) -> Callable[[], Child]:
        path = self._layout.properties_of(broker_id)
        write_private(path, format_properties(without_our_own(properties)))
        flags = self._name_peers(broker_id)
        command = broker_command(self._java, self._libraries, path, self._log4j, *flags)
        log = self._layout.log_of(broker_name(broker_id))
        return lambda: spawn(command, log)

    @property
    def _log4j(self) -> Path:
        return self._layout.root / "logs" / "kafka-log4j.properties"

    def _name_peers(self, broker_id: int) -> tuple[str, ...]:
        """Those that run hear of it as well (`processes/hosts_file.py`)."""
        if self._named_peers is None:
            return ()
        for each, hosts in self._named_peers.hosts().items():
            self._hosts_of(each).write_text(hosts)
        return (hosts_flag(self._hosts_of(broker_id)),)

    def _hosts_of(self, broker_id: int) -> Path:
        return self._layout.properties_of(broker_id).with_name("hosts")
