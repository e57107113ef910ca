"""Requests to other brokers over TCP: logquake.seams.network.Network and Channel."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from logquake.node.net.links.entry import OPEN_ENTRY, LinkEntry
from logquake.node.net.links.link import Done, Link, LinkSettings
from logquake.node.net.links.tether import TcpTether
from logquake.node.net.loop import EventLoop
from logquake.seams.network import Disconnected, Endpoint
from logquake.wire.header import RequestHeader
from logquake.wire.schema import Message

# Kafka's reconnect.backoff.ms between brokers is 50 too: soon enough to follow a restart.
_RECONNECT_BACKOFF_MS = 50


class TcpChannel:
    """One connection to one broker, made on the first send and again on the first after a loss.

    After a loss the next attempt waits for the back-off. done is never called from within send()
    or close(). The bytes of a response (a Fetch's records) stay as they are until the end of the
    pass in which done is called.
    """

    def __init__(
        self,
        loop: EventLoop,
        endpoint: Endpoint,
        client_id: str,
        settings: LinkSettings,
        entry: LinkEntry = OPEN_ENTRY,
    ) -> None:
        self._loop = loop
        self._endpoint = endpoint
        self._client_id = client_id
        self._settings = settings
        self._entry = entry
        self._correlation_ids = count()
        self._link: Link | None = None
        self._connect_from_ms = 0

    def send(self, request: Message, version: int, done: Done) -> None:
        """Send request; done gets the response, or Disconnected if the connection ends first."""
        key = type(request).__schema__.key
        if key is None:
            raise ValueError(f"{type(request).__name__} is no request")
        correlation_id = next(self._correlation_ids) & 0x7FFFFFFF
        if self._link is None:
            self._link = self._new_link()
        header = RequestHeader(key, version, correlation_id, self._client_id)
        self._link.send(header, request, done)

    def close(self) -> None:
        """Drop the connection; requests in flight are answered with Disconnected."""
        if self._link is not None:
            self._link.lose("closed on this side")
            self._connect_from_ms = 0  # nothing was wrong with the broker

    def _new_link(self) -> Link:
        return Link(
            self._loop,
            (self._endpoint.host, self._endpoint.port),
            self._settings,
            delay_ms=max(0, self._connect_from_ms - self._loop.now_ms()),
            on_lost=self._on_lost,
            entry=self._entry,
        )

    def _on_lost(self) -> None:
        self._link = None
        self._connect_from_ms = self._loop.now_ms() + _RECONNECT_BACKOFF_MS


class TcpNetwork:
    """Every channel is a connection of its own, so that one's traffic does not delay another's."""

    def __init__(
        self, loop: EventLoop, settings: LinkSettings, entry: LinkEntry = OPEN_ENTRY
    ) -> None:
        self._loop = loop
        self._settings = settings
        self._entry = entry

    def channel(self, endpoint: Endpoint, client_id: str) -> TcpChannel:
        return TcpChannel(self._loop, endpoint, client_id, self._settings, self._entry)

    def tether(
        self,
        endpoint: Endpoint,
        held: Callable[[], None],
        ended: Callable[[Disconnected], None],
    ) -> TcpTether:
        address = (endpoint.host, endpoint.port)
        return TcpTether(self._loop, address, self._settings.connect, held=held, ended=ended)
