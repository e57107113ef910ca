"""The input, line by line, to partitions by its files; what became of it is told in columns."""

from __future__ import annotations

from binascii import crc32
from collections.abc import Callable
from pathlib import Path

from confluent_kafka import Producer

from logquake.chaos.demo.corpus import Corpus
from logquake.chaos.history.numbers import to_headers
from logquake.chaos.history.parquet import table_of, write_by_time
from logquake.chaos.history.reader import read_history
from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.history.writer import wall_us
from logquake.chaos.workloads.clients import IDEMPOTENT
from logquake.chaos.workloads.sending import Record, Sender
from logquake.chaos.workloads.sent_columns import SentColumns

PRODUCER = "producer"
_PROGRESS_EVERY = 5_000


class LineProducer:
    """Idempotent, acks=all; a line's number is that of its send."""

    def __init__(self, bootstrap_servers: str, topic: str, partitions: int) -> None:
        settings = {**IDEMPOTENT, "bootstrap.servers": bootstrap_servers, "client.id": PRODUCER}
        self.log = SentColumns()
        self._topic = topic
        self._partitions = partitions
        self._sender = Sender(Producer(settings), topic, self.log)
        self._began_us = wall_us()

    def send_all(
        self, corpus: Corpus, half_way: Callable[[], None], progress: Callable[[int], None]
    ) -> None:
        """``progress`` is told how many are acked, ``half_way`` called after half of the lines."""
        half = len(corpus) // 2
        for number, (key, value) in enumerate(corpus.pairs()):
            partition = crc32(key) % self._partitions
            self._sender.send(Record(number, key, value, partition, to_headers(number)))
            if number == half:
                half_way()
            if number % _PROGRESS_EVERY == 0:
                progress(self.log.acked_count)

    def finish(self, timeout_s: float, progress: Callable[[int], None]) -> int:
        """Wait for the outcomes that are still missing; how many never came."""
        left = self._sender.finish(timeout_s, lambda: progress(self.log.acked_count))
        progress(self.log.acked_count)
        return left

    def write_history(self, others: list[Path], path: Path) -> None:
        """One Parquet file of its sends, and of what the others' files have."""
        client = {"kind": "idempotent", "acks": "all", "idempotent": True}
        sent = self.log.table(PRODUCER, self._topic)
        began = Row(self._began_us, PRODUCER, 1, Kind.BEGAN, PRODUCER, after=client)
        ended = Row(wall_us(), PRODUCER, len(sent) + 2, Kind.ENDED, PRODUCER)
        rest = table_of([began, *read_history(others), ended])
        write_by_time((rest, sent), path)
