"""Producers that send one small message every few milliseconds, acks=all, while they are told to.

Both clients are measured with their own defaults and with short retry and reconnect back-offs: by
default librdkafka and the Java client wait 100 ms and more before they ask for metadata again, or
connect again, so that no broker can be faster than that.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

from confluent_kafka import KafkaError, Message, Producer

from benchmarks.errors import BenchmarkError
from benchmarks.kafka_peer import libs
from logquake.cluster.processes.java import find_java

INTERVAL_MS = 5
PAYLOAD = bytes(100)

_SOURCE = Path(__file__).with_name("Acks.java")
_READY_TIMEOUT_S = 60.0
_END_TIMEOUT_S = 10.0

_EVERY: Mapping[str, str] = {"acks": "all", "linger.ms": "0", "enable.idempotence": "true"}
_QUICK: Mapping[str, str] = {
    "retry.backoff.ms": "5",
    "retry.backoff.max.ms": "50",
    "reconnect.backoff.ms": "5",
    "reconnect.backoff.max.ms": "50",
}
# What librdkafka waits before it asks again who leads.
_QUICK_LIBRDKAFKA: Mapping[str, str] = {**_QUICK, "topic.metadata.refresh.fast.interval.ms": "5"}


class Ack(NamedTuple):
    """Nanoseconds of the monotonic clock."""

    sent_ns: int
    acked_ns: int


class Client(Protocol):
    def send_to(self, partition: int | None) -> None:
        """Send to this partition from now on; None rests."""

    def acks(self) -> list[Ack]:
        """So far, in the order in which they came."""


@dataclass(frozen=True, slots=True)
class Kind:
    """``config`` is what is set beside what all have."""

    name: str
    is_java: bool
    config: Mapping[str, str]


LIBRDKAFKA = (
    Kind("librdkafka, defaults", False, {}),
    Kind("librdkafka, quick", False, _QUICK_LIBRDKAFKA),
)
JAVA = (Kind("Java, defaults", True, {}), Kind("Java, quick", True, _QUICK))


@contextlib.contextmanager
def running_client(kind: Kind, bootstrap: str, topic: str) -> Iterator[Client]:
    """Raises BenchmarkError when it cannot be started."""
    config = {"bootstrap.servers": bootstrap, **_EVERY, **kind.config}
    running = _java(config, topic) if kind.is_java else _librdkafka(config, topic)
    with running as client:
        yield client


class _Librdkafka:
    def __init__(self, config: Mapping[str, str], topic: str) -> None:
        self._producer = Producer({**config, "log_level": 0})
        self._topic = topic
        self._partition: int | None = None
        self._acks: list[Ack] = []
        self.is_over = False

    def send_to(self, partition: int | None) -> None:
        self._partition = partition

    def acks(self) -> list[Ack]:
        return self._acks.copy()

    def run(self) -> None:
        """The thread's life."""
        while not self.is_over:
            if self._partition is not None:
                take = partial(self._take, time.monotonic_ns())
                with contextlib.suppress(BufferError):
                    self._producer.produce(
                        self._topic, PAYLOAD, partition=self._partition, on_delivery=take
                    )
            end_s = time.monotonic() + INTERVAL_MS / 1_000
            while (left_s := end_s - time.monotonic()) > 0:
                self._producer.poll(left_s)

    def _take(self, sent_ns: int, error: KafkaError | None, _message: Message) -> None:
        if error is None:
            self._acks.append(Ack(sent_ns, time.monotonic_ns()))


@contextlib.contextmanager
def _librdkafka(config: Mapping[str, str], topic: str) -> Iterator[Client]:
    client = _Librdkafka(config, topic)
    thread = threading.Thread(target=client.run, name="librdkafka")
    thread.start()
    try:
        yield client
    finally:
        client.is_over = True
        thread.join()


class _Java:
    """Java's System.nanoTime is the monotonic clock on Linux."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._acks: list[Ack] = []
        self.is_ready = threading.Event()

    def send_to(self, partition: int | None) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write("-\n" if partition is None else f"{partition}\n")
            self._process.stdin.flush()

    def acks(self) -> list[Ack]:
        return self._acks.copy()

    def read(self) -> None:
        """The thread's life."""
        for line in self._process.stdout or ():
            if line == "ready\n":
                self.is_ready.set()
            else:
                sent_ns, acked_ns = line.split()
                self._acks.append(Ack(int(sent_ns), int(acked_ns)))


@contextlib.contextmanager
def _java(config: Mapping[str, str], topic: str) -> Iterator[Client]:
    command = [
        str(find_java().executable),
        "-cp",
        f"{libs()}/*",
        str(_SOURCE),
        str(INTERVAL_MS),
        topic,
        *(f"{key}={value}" for key, value in config.items()),
    ]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # its log
        text=True,
    )
    client = _Java(process)
    reader = threading.Thread(target=client.read, name="java")
    reader.start()
    try:
        if not client.is_ready.wait(_READY_TIMEOUT_S):
            raise BenchmarkError(f"{_SOURCE.name} was not ready within {_READY_TIMEOUT_S:.0f} s")
        yield client
    finally:
        _end(process)
        reader.join()


def _end(process: subprocess.Popen[str]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(_END_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
