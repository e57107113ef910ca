"""Where ``consume`` writes to: standard output, as many records as were asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

from logquake.client.tail import Found
from logquake.cluster.cli.progress import Progress
from logquake.cluster.cli.record_format import Write
from logquake.wire.topic_partition import TopicPartition


class RecordOutput:
    """``positions`` are the offsets after the last record that was written of each partition."""

    def __init__(self, file: BinaryIO, write: Write, count: int | None, progress: Progress) -> None:
        self.positions: dict[TopicPartition, int] = {}
        self._file = file
        self._write = write
        self._left = count
        self._progress = progress

    @property
    def is_full(self) -> bool:
        return self._left is not None and self._left <= 0

    def take(self, found: Iterable[Found]) -> None:
        """Write and flush. Raises BrokenPipeError when the reader is gone."""
        written: dict[TopicPartition, int] = {}
        for place, batch in found:
            records = batch.records if self._left is None else batch.records[: self._left]
            if not records:
                continue
            self._file.write(b"".join([self._write(place, record) for record in records]))
            written[place] = records[-1].offset + 1
            self._progress.add(len(records))
            if self._left is not None:
                self._left -= len(records)
        self._file.flush()
        self.positions |= written
