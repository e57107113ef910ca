"""A channel to every registered broker, the controller's own one among them."""

from __future__ import annotations

from collections.abc import Callable

from logquake.controller.channels.broker_channel import BrokerChannel, ChannelTiming
from logquake.controller.channels.request_batch import Outgoing
from logquake.controller.context.live_broker import LiveBroker
from logquake.seams.network import Channel, Endpoint, Network
from logquake.seams.scheduler import Scheduler
from logquake.wire.listeners import ListenerName
from logquake.wire.schema import Message


class ControllerChannelManager:
    def __init__(
        self,
        network: Network,
        scheduler: Scheduler,
        timing: ChannelTiming,
        *,
        client_id: str,
        listener: ListenerName,
        on_answer: Callable[[Outgoing, Message], None],
    ) -> None:
        self._network = network
        self._scheduler = scheduler
        self._timing = timing
        self._client_id = client_id
        self._listener = listener
        self._on_answer = on_answer
        self._channels: dict[int, BrokerChannel] = {}

    def add(self, broker: LiveBroker) -> None:
        """A broker that came, or came back: nothing meant for its earlier life reaches it.

        One that does not name the listener between brokers cannot be called and gets none.
        """
        broker_id = broker.registration.broker_id
        self.remove(broker_id)
        endpoint = broker.endpoint(self._listener)
        if endpoint is not None:
            self._channels[broker_id] = BrokerChannel(
                self._connector(endpoint),
                self._scheduler,
                self._timing,
                self._on_answer,
            )

    def remove(self, broker_id: int) -> None:
        channel = self._channels.pop(broker_id, None)
        if channel is not None:
            channel.close()

    def send(self, outgoing: Outgoing) -> None:
        channel = self._channels.get(outgoing.broker_id)
        if channel is not None:
            channel.send(outgoing)

    def close(self) -> None:
        for broker_id in list(self._channels):
            self.remove(broker_id)

    def _connector(self, endpoint: Endpoint) -> Callable[[], Channel]:
        return lambda: self._network.channel(endpoint, self._client_id)
