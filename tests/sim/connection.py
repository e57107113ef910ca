"""One connection between two hosts, both of its ends; the Channel and the Tether that make it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from logquake.seams.network import Channel, Disconnected, Endpoint
from logquake.wire.header import RequestHeader
from logquake.wire.schema import Message
from tests.sim.clock import Action, Event
from tests.sim.host import Host
from tests.sim.network import Done, Fabric, Server

PATIENCE_US = 1_000_000
NOTICE_US = 500  # how soon the reset of a peer is noticed


class HostNetwork:
    """The Network of one life of a host."""

    def __init__(self, fabric: Fabric, host: Host) -> None:
        self._fabric = fabric
        self._host = host

    def channel(self, endpoint: Endpoint, client_id: str) -> Channel:
        return SimChannel(self._fabric, self._host, endpoint, client_id)

    def tether(
        self, endpoint: Endpoint, held: Action, ended: Callable[[Disconnected], None]
    ) -> SimTether:
        server = self._fabric.servers[(endpoint.host, endpoint.port)]
        return SimTether(self._fabric, self._host, server, held, ended)


class SimChannel:
    """Connects when it first sends, and anew after a loss."""

    def __init__(self, fabric: Fabric, source: Host, endpoint: Endpoint, client_id: str) -> None:
        self._fabric = fabric
        self._source = source
        self._server = fabric.servers[(endpoint.host, endpoint.port)]
        self._client_id = client_id
        self._connection: Connection | None = None

    def send(self, request: Message, version: int, done: Done) -> None:
        if self._connection is None or self._connection.broken:
            self._connection = Connection(self._fabric, self._source, self._server, self._client_id)
        self._connection.send(self._fabric.payloads.request(request, version), version, done)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.lose("closed on this side")


@dataclass(slots=True, eq=False)
class _Exchange:
    """One request; ``answered`` once the server has replied, with or without an answer, and
    ``next_may_follow`` once its handler let the next one of the same API go first.
    """

    request: Message
    version: int
    done: Done
    patience: Event
    answered: bool = False
    next_may_follow: bool = False
    answer: Message | None = None


class Connection:
    """Requests are served in order, and answered in order.

    As in a broker's own process, a connection's next request waits until the one before it is
    answered, unless that one's handler lets it follow.
    """

    def __init__(
        self,
        fabric: Fabric,
        source: Host,
        server: Server,
        client_id: str,
        patience_us: int = PATIENCE_US,
    ) -> None:
        self._fabric = fabric
        self._source = source
        self._source_life = source.incarnation
        self._patience_us = patience_us
        self._server = server
        self._server_life = server.host.incarnation
        self._client_id = client_id
        self._there = fabric.link(source.name, server.host.name)
        self._back = fabric.link(server.host.name, source.name)
        self._in_flight: deque[_Exchange] = deque()
        self._inbox: deque[_Exchange] = deque()
        self._serving: deque[_Exchange] = deque()
        self.broken = False
        server.host.on_reset(self._on_peer_reset)

    def send(self, request: Message, version: int, done: Done) -> None:
        """The request as its receiver gets it, which shares nothing with its sender."""
        label = f"{self._name} time-out"
        patience = self._fabric.clock.after(
            self._patience_us, label, partial(self.lose, "no answer")
        )
        exchange = _Exchange(request, version, done, patience)
        self._in_flight.append(exchange)
        self._there.send(type(request).__name__, partial(self._arrive, exchange))

    def lose(self, why: str) -> None:
        """Break the connection: the requests in flight are answered, on the source's loop."""
        if self.broken:
            return
        self.broken = True
        self._there.close()
        self._back.close()
        lost, self._in_flight = self._in_flight, deque()
        for exchange in lost:
            exchange.patience.cancel()
            tell = partial(exchange.done, Disconnected(why))
            action = self._source.bound(self._source_life, tell)
            self._fabric.clock.after(0, f"{self._name} lost: {why}", action)

    @property
    def server_name(self) -> str:
        return self._server.host.name

    @property
    def _name(self) -> str:
        return f"{self._source.name} -> {self.server_name}"

    def _on_peer_reset(self) -> None:
        """The kernel resets the connections of a dead process, where the network lets it."""
        if self._fabric.passes(self._server.host.name, self._source.name):
            self._reset()

    def _reset(self) -> None:
        if not self.broken:
            reset = partial(self.lose, "reset by the peer")
            self._fabric.clock.after(NOTICE_US, f"{self._name} reset", reset)

    def _arrive(self, exchange: _Exchange) -> None:
        host = self._server.host
        is_there = self._server.listening and host.incarnation == self._server_life
        if not is_there or self._fabric.rejects(self._source.name, host.name):
            self._reset()
            return
        self._inbox.append(exchange)
        self._serve_next()

    def _serve_next(self) -> None:
        while self._inbox and self._may_serve(self._inbox[0]):
            exchange = self._inbox.popleft()
            self._serving.append(exchange)
            self._server.host.run(self._server_life, partial(self._serve, exchange))

    def _may_serve(self, exchange: _Exchange) -> bool:
        if not self._serving:
            return True
        last = self._serving[-1]
        return last.next_may_follow and type(exchange.request) is type(last.request)

    def _serve(self, exchange: _Exchange) -> None:
        key = type(exchange.request).__schema__.key
        if key is None:
            raise TypeError(f"{type(exchange.request).__name__} is no request")
        header = RequestHeader(key, exchange.version, 0, self._client_id)
        reply = partial(self._on_reply, exchange)
        exchange.next_may_follow = self._server.serve(
            header, exchange.request, self._source.name, reply
        )
        self._serve_next()

    def _on_reply(self, exchange: _Exchange, answer: Message | None) -> None:
        exchange.answered = True
        exchange.answer = answer
        while self._serving and self._serving[0].answered:
            self._send_back(self._serving.popleft())
        self._serve_next()

    def _send_back(self, exchange: _Exchange) -> None:
        if exchange.answer is None or self.broken:
            return
        answer = self._fabric.payloads.response(exchange.answer, exchange.version)
        self._back.send(type(answer).__name__, partial(self._deliver, exchange, answer))

    def _deliver(self, exchange: _Exchange, answer: Message) -> None:
        if not self.broken:
            exchange.patience.cancel()
            self._in_flight.remove(exchange)
            self._source.run(self._source_life, partial(exchange.done, answer))


class SimTether:
    """A connection that is made and refused by the systems of the two hosts.

    So the server's process has no part in it but to listen: a paused one accepts.
    """

    def __init__(
        self,
        fabric: Fabric,
        source: Host,
        server: Server,
        held: Action,
        ended: Callable[[Disconnected], None],
    ) -> None:
        self._fabric = fabric
        self._source = source
        self._source_life = source.incarnation
        self._server = server
        self._there = fabric.link(source.name, server.host.name)
        self._back = fabric.link(server.host.name, source.name)
        self._held = held
        self._ended = ended
        self._over = False
        self._there.send("connects", self._arrive)

    def close(self) -> None:
        if not self._over:
            self._over = True
            self._there.close()
            self._back.close()

    def _arrive(self) -> None:
        if self._over:
            return
        rejected = self._fabric.rejects(self._source.name, self._server.host.name)
        if self._server.listening and not rejected:
            self._server.host.on_reset(self._on_reset)
            self._back.send("accepts", partial(self._tell, self._held))
        else:
            refused = Disconnected("connection refused", refused=True)
            self._back.send("refuses", partial(self._end, refused))

    def _on_reset(self) -> None:
        """Noticed where the network lets it."""
        if self._fabric.passes(self._server.host.name, self._source.name):
            reset = partial(self._end, Disconnected("reset by the peer"))
            name = f"{self._source.name} -> {self._server.host.name}"
            self._fabric.clock.after(NOTICE_US, f"{name} reset", reset)

    def _end(self, why: Disconnected) -> None:
        if not self._over:
            self.close()
            self._source.run(self._source_life, partial(self._ended, why))

    def _tell(self, action: Action) -> None:
        if not self._over:
            self._source.run(self._source_life, action)
