"""A broker's own way to the active controller (Kafka's NodeToControllerChannelManager).

The controller is known from /controller, its address from the metadata cache; the link follows
both, and drops the connection to a controller that is none any more: it may be frozen, and whoever
waits for its answer would wait for the time-out. It goes over the network even where the
controller is this very process, so that there is one path to reason about.

What is asked is repeated until a controller answers. What it answers is for who asked: an error
other than NOT_CONTROLLER is an answer.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.seams.network import Channel, Disconnected, Endpoint, Network
from logquake.seams.scheduler import Scheduler
from logquake.wire.error_codes import error_codes
from logquake.wire.errors import ErrorCode
from logquake.wire.schema import Message

_LOOK_AGAIN_MS = 100  # NodeToControllerRequestThread.doWork, while no controller is known
_ASK_AGAIN_MS = 50  # reconnect.backoff.ms of Kafka's channels between brokers


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


class ControllerRequests:
    """Requests to whoever is the controller (Kafka's NodeToControllerRequestThread).

    ``channel`` gives the channel to the controller of the moment, None while none is known.
    """

    def __init__(self, channel: Callable[[], Channel | None], scheduler: Scheduler) -> None:
        self._channel = channel
        self._scheduler = scheduler

    def ask(
        self, request: Callable[[], Message], version: int, done: Callable[[Message], None]
    ) -> None:
        """Ask again after a lost connection and after NOT_CONTROLLER; done gets the answer, once.

        ``request`` is called at each attempt, as what it says (the broker epoch) may have changed.
        """

        def send(channel: Channel | None) -> None:
            if channel is not None:
                channel.send(request(), version, answered)

        def answered(answer: Message | Disconnected) -> None:
            if isinstance(answer, Disconnected) or ErrorCode.NOT_CONTROLLER in error_codes(answer):
                self._scheduler.call_later(_ASK_AGAIN_MS, lambda: self.find(send))
            else:
                done(answer)

        self.find(send)

    def find(self, found: Callable[[Channel | None], None], within_ms: int | None = None) -> None:
        """found gets the channel once a controller is known, or None if none is in that time."""
        until_ms = None if within_ms is None else self._scheduler.now_ms() + within_ms

        def look() -> None:
            channel = self._channel()
            if channel is not None or (
                until_ms is not None and self._scheduler.now_ms() >= until_ms
            ):
                found(channel)
            else:
                self._scheduler.call_later(_LOOK_AGAIN_MS, look)

        look()
