"""The controller's way to one broker: a queue, one request in flight, repeated until answered.

Order is what makes it safe: a broker sees the decisions one after the other. A request that gets
no answer is sent again after a pause, for as long as the broker is registered; requests are
idempotent, the epochs in them see to that (Kafka's RequestSendThread).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from logquake.controller.channels.request_batch import Outgoing
from logquake.seams.network import Channel, Disconnected
from logquake.seams.scheduler import Scheduler, Timer
from logquake.wire.schema import Message


@dataclass(frozen=True, slots=True)
class ChannelTiming:
    """Milliseconds: how long an answer may take, and the pause before a repetition."""

    timeout_ms: int
    backoff_ms: int


class BrokerChannel:
    def __init__(
        self,
        connect: Callable[[], Channel],
        scheduler: Scheduler,
        timing: ChannelTiming,
        on_answer: Callable[[Outgoing, Message], None],
    ) -> None:
        self._connect = connect
        self._scheduler = scheduler
        self._timing = timing
        self._on_answer = on_answer
        self._channel: Channel | None = None
        self._waiting: deque[Outgoing] = deque()
        self._in_flight: Outgoing | None = None
        self._timer: Timer | None = None
        self._closed = False

    def send(self, outgoing: Outgoing) -> None:
        self._waiting.append(outgoing)
        if self._in_flight is None:
            self._send_next()

    def close(self) -> None:
        """Forget what waits and what is in flight: the broker is gone, or the term is over."""
        self._closed = True
        self._waiting.clear()
        self._cancel_timer()
        self._drop_connection()

    def _send_next(self) -> None:
        if self._waiting and not self._closed:
            self._in_flight = self._waiting.popleft()
            self._attempt()

    def _attempt(self) -> None:
        outgoing = self._in_flight
        if outgoing is None or self._closed:
            return
        if self._channel is None:
            self._channel = self._connect()
        self._timer = self._scheduler.call_later(self._timing.timeout_ms, self._drop_connection)
        self._channel.send(outgoing.request, outgoing.version, self._settled)

    def _settled(self, answer: Message | Disconnected) -> None:
        outgoing = self._in_flight
        if outgoing is None or self._closed:
            return
        self._cancel_timer()
        if isinstance(answer, Disconnected):
            self._timer = self._scheduler.call_later(self._timing.backoff_ms, self._attempt)
            return
        self._in_flight = None
        self._on_answer(outgoing, answer)
        if self._in_flight is None:
            self._send_next()

    def _drop_connection(self) -> None:
        """Its request in flight is then answered with Disconnected."""
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
