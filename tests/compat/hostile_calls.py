"""What programs do with clients while brokers are hostile: each call ends, by whatever.

`python -m tests.compat.hostile_calls PORT TOPIC` does all of it with an honest broker, and again
for each line that it reads; it answers with how much memory it had, and at most had since, in KiB.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from logquake.client import Admin, Consumer, Producer, aio
from logquake.client.errors import ClientError
from logquake.wire.topic_partition import TopicPartition
from tests.waiting import PATIENCE_S

HASTE: dict[str, Any] = {
    "request.timeout.ms": 400,
    "retry.backoff.ms": 20,
    "retry.backoff.max.ms": 50,
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 50,
    "socket.connection.setup.timeout.ms": 400,
    "socket.connection.setup.timeout.max.ms": 400,
}
MEMBERSHIP: Mapping[str, Any] = {
    "auto.offset.reset": "earliest",
    "default.api.timeout.ms": 1_000,
    "heartbeat.interval.ms": 100,
    "session.timeout.ms": 1_000,
    "max.poll.interval.ms": 3_000,
}
Config = Mapping[str, Any]


def questions_of(
    consumer: Consumer | aio.Consumer, place: TopicPartition
) -> list[Callable[[], Any]]:
    """To be awaited, of the one that is."""
    return [
        lambda: consumer.poll(500),
        lambda: consumer.position(place),
        lambda: consumer.end_offsets([place]),
        consumer.list_topics,
    ]


def questions_to(admin: Admin | aio.Admin, topic: str) -> list[Callable[[], Any]]:
    """Futures, to be waited for or awaited."""
    return [
        admin.list_topics,
        admin.describe_cluster,
        admin.list_consumer_groups,
        lambda: admin.describe_topics([topic])[topic],
        lambda: admin.describe_topics(["nowhere"])["nowhere"],
    ]


def produce(config: Config, topic: str) -> None:
    with Producer({**config, "max.block.ms": 2_000, "delivery.timeout.ms": 2_000}) as producer:
        sent = []
        for number in range(10):
            with suppress(ClientError):
                sent.append(producer.send(topic, b"%d" % number))
                producer.flush(100)
        for future in sent:
            with suppress(ClientError):
                future.result(PATIENCE_S)


def read_as_member(config: Config, topic: str) -> None:
    with Consumer({**config, **MEMBERSHIP, "group.id": f"of-{topic}"}) as consumer:
        consumer.subscribe([topic])
        for _ in range(2):
            with suppress(ClientError):
                consumer.poll(500)
            with suppress(ClientError):
                consumer.commit(timeout_ms=1_000)


def administer(config: Config, topic: str) -> None:
    with Admin({**config, "default.api.timeout.ms": 1_000}) as admin:
        for ask in questions_to(admin, topic):
            with suppress(ClientError):
                ask().result(PATIENCE_S)


async def aio_read(config: Config, topic: str) -> None:
    place = TopicPartition(topic, 0)
    async with aio.Consumer({**config, **MEMBERSHIP}) as consumer:
        await consumer.assign([place])
        for ask in 2 * questions_of(consumer, place):
            with suppress(ClientError):
                await ask()


async def aio_read_as_member(config: Config, topic: str) -> None:
    group = {"group.id": f"aio-of-{topic}"}
    async with aio.Consumer({**config, **MEMBERSHIP, **group}) as consumer:
        await consumer.subscribe([topic])
        for _ in range(2):
            with suppress(ClientError):
                await consumer.poll(500)
            with suppress(ClientError):
                await consumer.commit(timeout_ms=1_000)


async def aio_administer(config: Config, topic: str) -> None:
    async with aio.Admin({**config, "default.api.timeout.ms": 1_000}) as admin:
        for ask in questions_to(admin, topic):
            with suppress(ClientError):
                await ask()


async def aio_produce(config: Config, topic: str) -> None:
    config = {**config, "max.block.ms": 2_000, "delivery.timeout.ms": 2_000}
    async with aio.Producer(config) as producer:
        for number in range(10):
            with suppress(ClientError):
                await (await producer.send(topic, b"%d" % number))


ON_LOOPS: tuple[Callable[[Config, str], Awaitable[None]], ...] = (
    aio_produce,
    aio_read,
    aio_read_as_member,
    aio_administer,
)


async def on_one_loop(config: Config, topic: str) -> None:
    await asyncio.wait_for(asyncio.gather(*(each(config, topic) for each in ON_LOOPS)), PATIENCE_S)


def all_at_once(config: Config, topic: str) -> None:
    loop: Callable[[Config, str], None] = lambda *of: asyncio.run(on_one_loop(*of))  # noqa: E731
    with ThreadPoolExecutor() as threads:
        begun = [
            threads.submit(each, config, topic)
            for each in (produce, read_as_member, administer, loop)
        ]
        for each in begun:
            each.result()


def _memory_kib(what: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{what}:"):
            return int(line.split()[1])
    raise LookupError(what)


def main(port: str, topic: str) -> None:
    config = {"bootstrap.servers": f"127.0.0.1:{port}", **HASTE}
    all_at_once(config, topic)
    print("honest", flush=True)
    for _ in sys.stdin:
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before_kib = _memory_kib("VmRSS")
        all_at_once(config, topic)
        print(before_kib, _memory_kib("VmHWM"), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
