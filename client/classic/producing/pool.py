"""One channel for each broker that leads partitions (kafka.producer.ProducerPool, SyncProducer)."""

from __future__ import annotations

from threading import Lock

from logquake.client.classic.channel import Channel, Dial
from logquake.client.classic.topic_metadata import Broker
from logquake.client.errors import ClosedError


class ProducerPool:
    """For one thread at a time, except for interrupt()."""

    def __init__(self, dial: Dial, client_id: str, timeout_ms: int) -> None:
        self._dial = dial
        self._client_id = client_id
        self._timeout_ms = timeout_ms
        self._channels: dict[int, tuple[Broker, Channel]] = {}
        self._lock = Lock()
        self._is_interrupted = False

    def channel(self, broker: Broker) -> Channel:
        """A new one if the broker's address has changed. Raises ClosedError."""
        there, channel = self._channels.get(broker.id, (None, None))
        if channel is None or there != broker:
            self.drop(broker)
            channel = self._dial(broker.address, self._client_id, self._timeout_ms)
            with self._lock:
                self._channels[broker.id] = (broker, channel)
        with self._lock:
            if self._is_interrupted:
                raise ClosedError("the producer was closed")
        return channel

    def interrupt(self) -> None:
        """From any thread: calls that wait for a response raise ClosedError."""
        with self._lock:
            self._is_interrupted = True
            channels = list(self._channels.values())
        for _, channel in channels:
            channel.interrupt()

    def drop(self, broker: Broker) -> None:
        """A late response may still arrive, and would be taken for that of the next request."""
        with self._lock:
            _, channel = self._channels.pop(broker.id, (None, None))
        if channel is not None:
            channel.disconnect()

    def close(self) -> None:
        with self._lock:
            channels = [channel for _, channel in self._channels.values()]
            self._channels.clear()
        for each in channels:
            each.disconnect()
