"""A broker's own way to the active controller (Kafka's NodeToControllerChannelManager).

The controller is known from /controller, its address from the metadata cache; the link follows
both. It goes over the network even where the controller is this very process, so that there is
one path to reason about.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.controller.ports import Channel, Endpoint, Network


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
        endpoint = self._controller_endpoint()
        if endpoint != self._endpoint:
            self.close()
            self._endpoint = endpoint
            if endpoint is not None:
                self._channel = self._network.channel(endpoint, self._client_id)
        return self._channel

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()
        self._endpoint = self._channel = None
