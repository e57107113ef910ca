"""Keyed rows written at a rate, through whatever happens to brokers meanwhile.

Row by row each key in turn has its next number: so the number is what says whether a row is missing
or doubled, and whether those of a key are in order.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from threading import Event, Thread
from types import TracebackType
from typing import NamedTuple, Self

from logquake.client import Producer
from logquake.client.errors import ClientError
from logquake.client.producer.delivery import RecordMetadata

VALUE_BYTES = 60
_CHUNKS_A_SECOND = 10
# Longer than any fault, or the wait for what it left behind.
_DELIVERY_TIMEOUT_MS = 600_000


class Size(NamedTuple):
    rows: int
    keys: int

    def of_key(self, key: int) -> int:
        """How many rows it has, numbered from 0 on."""
        return (self.rows - key + self.keys - 1) // self.keys


class Row(NamedTuple):
    key: bytes
    value: bytes


def rows_of(size: Size) -> Iterator[Row]:
    for row in range(size.rows):
        number, key = divmod(row, size.keys)
        yield Row(b"%d" % key, (b"%d " % number).ljust(VALUE_BYTES, b"."))


def number_in(value: bytes) -> int:
    return int(value.split(b" ")[0])


class Load:
    """A thread that writes them; ``error`` is why one of them was not written."""

    def __init__(self, servers: str, topic: str, size: Size, rate: float) -> None:
        self.sent = 0
        self.error: Exception | None = None
        self._servers = servers
        self._topic = topic
        self._size = size
        self._rate = rate
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="load")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopping.set()
        self._thread.join()

    def is_over(self) -> bool:
        """Everything is written, or never will be."""
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._write()
        except ClientError as error:
            self.error = error

    def _write(self) -> None:
        settings = {"delivery.timeout.ms": _DELIVERY_TIMEOUT_MS, "linger.ms": 20}
        with Producer(settings, bootstrap_servers=self._servers) as producer:
            began = time.monotonic()
            for row in rows_of(self._size):
                if self._stopping.is_set():
                    return
                producer.send(self._topic, row.value, row.key, on_delivery=self._note)
                self.sent += 1
                if self.sent % max(1, int(self._rate / _CHUNKS_A_SECOND)) == 0:
                    ahead_s = began + self.sent / self._rate - time.monotonic()
                    self._stopping.wait(max(0.0, ahead_s))

    def _note(self, _where: RecordMetadata, error: Exception | None) -> None:
        self.error = self.error or error
