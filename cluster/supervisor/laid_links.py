"""The links that a supervisor lays between its members: their ports, and what brokers are told."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from logquake.cluster.links.effects import CLIENTS
from logquake.cluster.links.plan import Address, Link, LinkPlan
from logquake.cluster.links.process import run_links
from logquake.cluster.processes.ports import LOOPBACK, hold_port
from logquake.cluster.state import broker_name, zookeeper_names
from logquake.cluster.supervisor import zygote
from logquake.cluster.supervisor.line import Done, Line
from logquake.node.net.loop import EventLoop

_ZOOKEEPER_PORT = 2181  # Kafka's default where zookeeper.connect names none


class _Ports(NamedTuple):
    listens: int
    told: int


class LaidLinks:
    """``zookeeper`` is as zookeeper.connect: servers, separated by commas, and a chroot behind."""

    def __init__(self, zookeeper: str, *, secure: bool) -> None:
        self._secure = secure
        self._brokers: dict[int, _Ports] = {}
        self._by_ends: dict[tuple[str, str], Link] = {}
        self._of_ensemble: tuple[Link, ...] = ()
        self._held: dict[Address, socket.socket] = {}
        self._line: Line | None = None
        servers, slash, chroot = zookeeper.partition("/")
        self._chroot = slash + chroot
        self._zookeepers = _named([_address(server) for server in servers.split(",")])

    @property
    def plan(self) -> LinkPlan:
        return LinkPlan((*self._by_ends.values(), *self._of_ensemble))

    def plan_of(self, broker_id: int) -> LinkPlan:
        return self.plan.of(broker_name(broker_id))

    def lay(self, broker_id: int, listens: int, told: int) -> None:
        """Between a broker and all that there are: it ``listens`` at a port, and tells another.

        Raises ClusterError: no port is free.
        """
        self._brokers[broker_id] = _Ports(listens, told)
        self._by_ends |= {(link.dialler, link.dialled): link for link in self._new_links(broker_id)}

    def lay_between_zookeepers(self, links: tuple[Link, ...]) -> None:
        """Their ports are somebody else's."""
        self._of_ensemble = links

    def take_up(self, broker_id: int) -> None:
        """None ends at this broker any more."""
        name = broker_name(broker_id)
        del self._brokers[broker_id]
        for link in self.plan.of(name).links:
            del self._by_ends[link.dialler, link.dialled]
            held = self._held.pop(link.listens, None)
            if held is not None:
                held.close()

    def routes_to(self, broker_id: int) -> dict[int, tuple[str, str]]:
        """Of each other broker: what this one tells of itself, and where to dial instead."""
        told = _text(self._told(broker_id))
        return {
            peer: (told, _text(self._dialled(peer, broker_id)))
            for peer in self._brokers
            if peer != broker_id
        }

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
        """Fork the process of all links that there are now."""
        plan, (ours, theirs) = self.plan, socket.socketpair()

        def run(ready: zygote.SayReady) -> int:
            supervisor = socket.socket(fileno=zygote.INHERITED_FD)
            return run_links(plan, control_socket, supervisor, ready)

        with theirs:
            child = zygote.fork(run, log, inherited_fd=theirs.fileno())
        if self._line is not None:
            self._line.close()
        self._line = Line(ours)
        return child

    def tell(self, message: dict[str, Any], loop: EventLoop, done: Done) -> None:
        """``done`` is called when the process has carried it out, or there is none."""
        if self._line is None:
            done()
        else:
            self._line.tell(message, loop, done)

    def close(self) -> None:
        """Give the ports up."""
        for held in self._held.values():
            held.close()

    def _new_links(self, broker_id: int) -> Iterator[Link]:
        name, address = broker_name(broker_id), self._listens(broker_id)
        in_the_open = not self._secure
        yield Link(CLIENTS, name, self._told(broker_id), address, in_the_open)
        for peer in self._brokers:
            if peer != broker_id:
                yield self._between(peer, broker_id)
                yield self._between(broker_id, peer)
        for server, its_address in self._zookeepers.items():
            yield Link(name, server, self._keep(hold_port(None)), its_address, False)

    def _between(self, dialler: int, dialled: int) -> Link:
        return Link(
            broker_name(dialler),
            broker_name(dialled),
            self._met(dialler, dialled),
            self._listens_for_peers(dialled),
            not self._secure,
        )

    def _met(self, _dialler: int, _dialled: int) -> Address:
        """Where the proxy listens by which one broker reaches another."""
        return self._keep(hold_port(None))

    def _listens_for_peers(self, broker_id: int) -> Address:
        return self._listens(broker_id)

    def _told(self, broker_id: int) -> Address:
        """What a broker tells of itself: where clients dial it."""
        return LOOPBACK, self._brokers[broker_id].told

    def _listens(self, broker_id: int) -> Address:
        return LOOPBACK, self._brokers[broker_id].listens

    def _dialled(self, broker_id: int, peer: int) -> Address:
        """Where a broker finds a peer; itself without a proxy: nothing comes between."""
        if peer == broker_id:
            return self._listens(peer)
        return self._by_ends[broker_name(broker_id), broker_name(peer)].listens

    def _keep(self, held: socket.socket) -> Address:
        """Its address, which is ours until it is taken up, or the supervisor ends."""
        address: Address = held.getsockname()
        self._held[address] = held
        return address


def _named(servers: Sequence[Address]) -> dict[str, Address]:
    return dict(zip(zookeeper_names(len(servers)), servers, strict=True))


def _address(text: str) -> Address:
    host, colon, port = text.strip().rpartition(":")
    return (host, int(port)) if colon else (port, _ZOOKEEPER_PORT)


def _text(address: Address) -> str:
    host, port = address
    return f"{host}:{port}"
