"""Links between Apache Kafka's brokers, who find each other by name.

A broker listens twice: for clients, who see it at the proxy that its listener advertises, and for
its peers, to whom it tells a name. Each JVM reads a hosts file of its own (jdk.net.hosts.file), in
which a peer's name has the address of this broker's proxy to it. Addresses are of loopback:
127.0.1.3 is what broker 1 knows as broker 3, 127.0.3.3 where broker 3 listens; the port is the
same, since the name is told with one port to all.
"""

from __future__ import annotations

from logquake.cluster.errors import ClusterError
from logquake.cluster.links.plan import Address
from logquake.cluster.processes.hosts_file import hosts_text
from logquake.cluster.processes.ports import hold_port, hold_port_for_java
from logquake.cluster.supervisor.laid_links import LaidLinks
from logquake.wire.listeners import PLAINTEXT

PEERS = "PEERS"  # the listener's name
MOST_BROKERS = 254  # of a byte of the address


class NamedPeers(LaidLinks):
    def __init__(self, zookeeper: str) -> None:
        super().__init__(zookeeper, secure=False)
        self._for_peers: dict[int, Address] = {}

    def lay(self, broker_id: int, listens: int, told: int) -> None:
        """Raises ClusterError, also for an id that has no address."""
        if broker_id > MOST_BROKERS:
            raise ClusterError(f"links of Apache Kafka's brokers end at id {MOST_BROKERS}")
        held = hold_port_for_java(_known_as(broker_id, broker_id))
        self._for_peers[broker_id] = self._keep(held)
        super().lay(broker_id, listens, told)

    def take_up(self, broker_id: int) -> None:
        super().take_up(broker_id)
        self._held.pop(self._for_peers.pop(broker_id)).close()

    def routes_to(self, broker_id: int) -> dict[int, tuple[str, str]]:  # noqa: ARG002
        """None: a name tells the way."""
        return {}

    def broker_properties(self, broker_id: int, protocol: str) -> dict[str, str]:
        common = super().broker_properties(broker_id, protocol)
        (own_host, own_port), (host, port) = self._listens(broker_id), self._for_peers[broker_id]
        return {
            "zookeeper.connect": common["zookeeper.connect"],
            "listeners": f"{protocol}://{own_host}:{own_port},{PEERS}://{host}:{port}",
            "advertised.listeners": (
                f"{common['advertised.listeners']},{PEERS}://{_name(broker_id)}:{port}"
            ),
            "listener.security.protocol.map": f"{protocol}:{protocol},{PEERS}:{PLAINTEXT}",
            "inter.broker.listener.name": PEERS,
        }

    def hosts(self) -> dict[int, str]:
        """By broker, all that its JVM knows of names and addresses."""
        return {
            broker_id: hosts_text(
                {_name(peer): _known_as(broker_id, peer) for peer in self._brokers}
            )
            for broker_id in self._brokers
        }

    def _listens_for_peers(self, broker_id: int) -> Address:
        return self._for_peers[broker_id]

    def _met(self, dialler: int, dialled: int) -> Address:
        _, port = self._for_peers[dialled]
        return self._keep(hold_port(port, _known_as(dialler, dialled)))


def _name(broker_id: int) -> str:
    return f"broker-{broker_id}.logquake.internal"


def _known_as(dialler: int, dialled: int) -> str:
    return f"127.0.{dialler}.{dialled}"
