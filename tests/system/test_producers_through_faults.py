"""Our producer while its leaders are killed, frozen and cut off: each record once, and in order."""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from logquake.chaos.faults.strikes import STRIKES, Target
from logquake.client import Producer
from logquake.client.aio import Producer as AioProducer
from logquake.client.producer.delivery import RecordMetadata
from logquake.cluster.api import Cluster
from tests.log_contents import records_in
from tests.waiting import PATIENCE_S, wait_for

BROKERS = 3
PARTITIONS = 3
ACKS_A_ROUND = 300
AT_ONCE = 50  # records that nobody waits for before the next
PATIENCE_MS = int(PATIENCE_S * 1000)


class Sent:
    """What was acknowledged, by partition and offset, of a topic that nobody else writes to."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.values: defaultdict[int, dict[int, bytes]] = defaultdict(dict)
        self.acks = 0
        self.errors: list[Exception] = []

    def on_delivery(self, value: bytes, at: RecordMetadata, error: Exception | None) -> None:
        if error is not None:
            self.errors.append(error)
            return
        self.values[at.partition][at.offset] = value
        self.acks += 1

    def wait_for_more(self, acks: int) -> None:
        goal = self.acks + acks
        wait_for(f"acks to {self.topic}", lambda: self.acks >= goal or self.errors)

    def check(self, kafka: Cluster) -> None:
        """The log has them where they were said to be, once each, in the order of their sends."""
        assert not self.errors
        for partition, told in self.values.items():
            found = records_in(kafka, self.topic, partition, end=max(told) + 1)
            read = {record.offset: record.value for record in found}
            assert read == told
            numbers = [int(value) for _, value in sorted(told.items())]
            assert numbers == sorted(numbers)


def keys(kafka: Cluster) -> dict[str, Any]:
    return {
        "bootstrap_servers": kafka.bootstrap_servers,
        "request_timeout_ms": 5_000,
        "delivery_timeout_ms": PATIENCE_MS,
        "max_block_ms": PATIENCE_MS,
        "buffer_memory": 1_000_000,  # sends wait while nobody leads
    }


async def send_on_a_loop(kafka: Cluster, sent: Sent, stopping: threading.Event) -> None:
    async with AioProducer(**keys(kafka)) as producer:
        for number in count():
            value = b"%d" % number
            future = await producer.send(
                sent.topic, value, on_delivery=partial(sent.on_delivery, value)
            )
            if number % AT_ONCE == 0:
                await future
                if stopping.is_set():
                    return


def send(kafka: Cluster, sent: Sent, stopping: threading.Event) -> None:
    with Producer(**keys(kafka)) as producer:
        for number in count():
            value = b"%d" % number
            future = producer.send(sent.topic, value, on_delivery=partial(sent.on_delivery, value))
            if number % AT_ONCE == 0:
                future.result()
                if stopping.is_set():
                    return


@pytest.mark.slow
def test_each_record_once_and_in_order_through_faults(tmp_path: Path) -> None:
    stopping = threading.Event()
    of_thread, of_loop = Sent("of-thread"), Sent("of-loop")
    with Cluster(brokers=BROKERS, data_dir=tmp_path / "cluster") as kafka:
        for sent in (of_thread, of_loop):
            kafka.create_topic(sent.topic, partitions=PARTITIONS)
        with ThreadPoolExecutor() as threads:
            runs = [
                threads.submit(send, kafka, of_thread, stopping),
                threads.submit(asyncio.run, send_on_a_loop(kafka, of_loop, stopping)),
            ]
            try:
                strike_all(kafka, (of_thread, of_loop))
            finally:
                stopping.set()
            for run in runs:
                run.result(PATIENCE_S)
        of_thread.check(kafka)
        of_loop.check(kafka)


def strike_all(kafka: Cluster, both: tuple[Sent, Sent]) -> None:
    for number, strike in enumerate(STRIKES):
        for sent in both:
            with strike(kafka, Target(sent.topic, number % PARTITIONS)):
                for each in both:
                    each.wait_for_more(ACKS_A_ROUND)
            for partition in range(PARTITIONS):
                kafka.wait_isr(sent.topic, partition, size=BROKERS, timeout=PATIENCE_S)
