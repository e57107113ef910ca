"""The links that a supervisor lays between its members: their ports, and what brokers are told."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from logquake.cluster.links.effects import CLIENTS
from logquake.cluster.links.plan import Address, Link, LinkPlan
from logquake.cluster.links.process import run_links
from logquake.cluster.processes.ports import LOOPBACK, hold_port, port_of
from logquake.cluster.state import broker_name, zookeeper_names
from logquake.cluster.supervisor import zygote

_ZOOKEEPER_PORT = 2181  # Kafka's default where zookeeper.connect names none


class LaidLinks:
    """``brokers`` are the addresses that they listen at, ``clients`` those that clients dial.

    ``zookeeper`` is as zookeeper.connect: servers, separated by commas, and a chroot behind them.
    """

    def __init__(
        self,
        brokers: dict[int, int],
        clients: dict[int, int],
        zookeeper: str,
        *,
        secure: bool,
    ) -> None:
        self._brokers = brokers
        self._clients = clients
        self._secure = secure
        self._held: list[socket.socket] = []
        servers, slash, chroot = zookeeper.partition("/")
        self._chroot = slash + chroot
        self._zookeepers = _named([_address(server) for server in servers.split(",")])
        self.plan = LinkPlan(tuple(self._lay()))
        self._by_ends = {(link.dialler, link.dialled): link for link in self.plan.links}

    def broker_properties(self, broker_id: int, protocol: str) -> dict[str, str]:
        """What a broker's server.properties has in other words, or besides."""
        own = broker_name(broker_id)
        servers = [self._by_ends[own, name].listens for name in self._zookeepers]
        return {
            "advertised.listeners": f"{protocol}://{_text(self._told(broker_id))}",
            "zookeeper.connect": ",".join(map(_text, servers)) + self._chroot,
            "logquake.network.routes": ",".join(
                f"{_text(self._told(peer))}={_text(self._dialled(broker_id, peer))}"
                for peer in self._brokers
            ),
        }

    def start(self, control_socket: Path, log: Path) -> zygote.ForkedChild:
        run = partial(run_links, self.plan, control_socket)
        return zygote.fork(run, log)

    def close(self) -> None:
        """Give the ports up."""
        for held in self._held:
            held.close()

    def _lay(self) -> Iterator[Link]:
        in_the_open = not self._secure
        for broker_id, port in self._brokers.items():
            name, address = broker_name(broker_id), (LOOPBACK, port)
            yield Link(CLIENTS, name, self._told(broker_id), address, in_the_open)
            for peer in self._brokers:
                if peer != broker_id:
                    yield Link(broker_name(peer), name, self._free_address(), address, in_the_open)
            for server, its_address in self._zookeepers.items():
                yield Link(name, server, self._free_address(), its_address, False)

    def _told(self, broker_id: int) -> Address:
        """What a broker tells of itself: where clients dial it."""
        return LOOPBACK, self._clients[broker_id]

    def _dialled(self, broker_id: int, peer: int) -> Address:
        """Where a broker finds a peer; itself without a proxy: nothing comes between."""
        if peer == broker_id:
            return LOOPBACK, self._brokers[peer]
        return self._by_ends[broker_name(broker_id), broker_name(peer)].listens

    def _free_address(self) -> Address:
        """One that is ours for as long as the supervisor lives."""
        held = hold_port(None)
        self._held.append(held)
        return LOOPBACK, port_of(held)


def _named(servers: Sequence[Address]) -> dict[str, Address]:
    return dict(zip(zookeeper_names(len(servers)), servers, strict=True))


def _address(text: str) -> Address:
    host, colon, port = text.strip().rpartition(":")
    return (host, int(port)) if colon else (port, _ZOOKEEPER_PORT)


def _text(address: Address) -> str:
    host, port = address
    return f"{host}:{port}"
