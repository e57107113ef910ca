"""A broker's own way to the active controller (Kafka's NodeToControllerChannelManager).

The controller is known from /controller, its address from the metadata cache; the link follows
both, and drops the connection to a controller that is none any more: it may be frozen, and whoever
waits for its answer would wait for the time-out. It goes over the network even where the
controller is this very process, so that there is one path to reason about.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.seams.network import Channel, Endpoint, Network


class ControllerLink:
    def __init__(
        self,
        network: Network,
        client_id: str,
        controller_endpoint: Callable[[], Endpoint | None],
    ) -> None:
        self._network = network
        self._client_id = client_id
        self._controller_endpoint = controller_endpoint
        self._endpoint: Endpoint | None = None
        self._channel: Channel | None = None

    def channel(self) -> Channel | None:
        """The channel to the controller of this moment; None while none is known."""
        self.follow()
        if self._channel is None and self._endpoint is not None:
            self._channel = self._network.channel(self._endpoint, self._client_id)
        return self._channel

    def follow(self) -> None:
        """The controller may be another one: what an earlier one was asked ends Disconnected."""
        endpoint = self._controller_endpoint()
        if endpoint != self._endpoint:
            self.close()
            self._endpoint = endpoint

    def close(self) -> None:
        channel, self._channel, self._endpoint = self._channel, None, None
        if channel is not None:
            channel.close()
