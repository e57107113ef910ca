"""Clients whose calls are awaited, each on a loop of its own."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from benchmarks.libraries.load import LINGER_MS, Library, Load

_LOOK_EVERY = 256


class AsyncSender(Protocol):
    async def send(self, value: bytes) -> None: ...

    async def send_and_wait(self, value: bytes) -> None: ...

    async def flush(self) -> None: ...

    async def close(self) -> None: ...


class OursAio:
    def __init__(self, load: Load) -> None:
        from logquake.client.aio import Producer

        self._producer = Producer(
            bootstrap_servers=load.bootstrap, linger_ms=0 if load.one_in_flight else LINGER_MS
        )
        self._topic = load.topic
        self.flush = self._producer.flush
        self.close = self._producer.close

    async def send(self, value: bytes) -> None:
        await self._producer.send(self._topic, value)

    async def send_and_wait(self, value: bytes) -> None:
        await (await self._producer.send(self._topic, value))


class Aiokafka:
    def __init__(self, load: Load) -> None:
        from aiokafka import AIOKafkaProducer

        self._producer = AIOKafkaProducer(
            bootstrap_servers=load.bootstrap,
            linger_ms=0 if load.one_in_flight else LINGER_MS,
            acks="all",
            enable_idempotence=True,
        )
        self._topic = load.topic
        self.flush = self._producer.flush
        self.close = self._producer.stop

    async def send(self, value: bytes) -> None:
        await self._producer.send(self._topic, value)

    async def send_and_wait(self, value: bytes) -> None:
        await self._producer.send_and_wait(self._topic, value)


async def ours(load: Load) -> AsyncSender:
    sender = OursAio(load)
    await sender.send_and_wait(b"first")
    return sender


async def aiokafkas(load: Load) -> AsyncSender:
    sender = Aiokafka(load)
    await sender._producer.start()
    await sender.send_and_wait(b"first")
    return sender


SENDERS: Mapping[Library, Callable[[Load], Awaitable[AsyncSender]]] = {
    Library.OURS_AIO: ours,
    Library.AIOKAFKA: aiokafkas,
}


async def send_all(sender: AsyncSender, load: Load) -> int:
    """How many records; all of them are acknowledged."""
    value = b"x" * load.record_bytes
    send = sender.send_and_wait if load.one_in_flight else sender.send
    deadline = time.perf_counter() + load.max_seconds
    sent = 0
    while sent < load.records and (sent % _LOOK_EVERY or time.perf_counter() < deadline):
        await send(value)
        sent += 1
    await sender.flush()
    return sent
