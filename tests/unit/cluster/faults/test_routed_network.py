from __future__ import annotations

from typing import cast

from logquake.cluster.faults.routed_network import RoutedNetwork
from logquake.seams.network import Channel, Endpoint, Network


class Dialled:
    """A network that notes what is opened on it."""

    def __init__(self) -> None:
        self.endpoints: list[Endpoint] = []

    def channel(self, endpoint: Endpoint, _client_id: str) -> Channel:
        self.endpoints.append(endpoint)
        return cast("Channel", None)


def test_what_is_opened_goes_by_the_routes_of_that_moment() -> None:
    dialled, routes = Dialled(), dict[str, str]()
    network = RoutedNetwork(cast("Network", dialled), routes)
    told = Endpoint(4, "127.0.0.1", 9095)
    network.channel(told, "replica")
    routes["127.0.0.1:9095"] = "127.0.0.1:40001"
    network.channel(told, "replica")
    assert dialled.endpoints == [told, Endpoint(4, "127.0.0.1", 40001)]
