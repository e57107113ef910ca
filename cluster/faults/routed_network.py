"""Other brokers, dialled where a proxy to them is, for those that came after this one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from logquake.seams.network import Channel, Disconnected, Endpoint, Network, Tether


class RoutedNetwork:
    """``routes`` may change: what is opened from then on goes by them. Addresses are HOST:PORT."""

    def __init__(self, network: Network, routes: Mapping[str, str]) -> None:
        self._network = network
        self._routes = routes

    def channel(self, endpoint: Endpoint, client_id: str) -> Channel:
        return self._network.channel(self._routed(endpoint), client_id)

    def tether(
        self,
        endpoint: Endpoint,
        held: Callable[[], None],
        ended: Callable[[Disconnected], None],
    ) -> Tether:
        return self._network.tether(self._routed(endpoint), held, ended)

    def _routed(self, endpoint: Endpoint) -> Endpoint:
        dialled = self._routes.get(f"{endpoint.host}:{endpoint.port}")
        if dialled is None:
            return endpoint
        host, _, port = dialled.rpartition(":")
        return replace(endpoint, host=host, port=int(port))
