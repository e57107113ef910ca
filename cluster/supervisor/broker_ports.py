"""The ports of one broker: the one that others dial, and the one that it listens on."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from logquake.cluster.processes.ports import hold_port, hold_ports, port_of


@dataclass(frozen=True, slots=True)
class BrokerPorts:
    """One port for both, unless links are laid: then who dials ``told`` meets a proxy."""

    told: socket.socket
    behind: socket.socket

    @property
    def told_port(self) -> int:
        return port_of(self.told)

    @property
    def port(self) -> int:
        return port_of(self.behind)

    def close(self) -> None:
        self.told.close()
        self.behind.close()


def hold_broker_ports(
    told: Iterable[int | None], hold: Callable[[int | None], socket.socket], *, links: bool
) -> list[BrokerPorts]:
    """Of several brokers, each ``hold``s where it listens; any port for None.

    Raises ClusterError: one is taken.
    """
    if not links:
        return [BrokerPorts(held, held) for held in hold_ports(told, hold)]
    return [BrokerPorts(held, hold(None)) for held in hold_ports(told, hold_port)]
