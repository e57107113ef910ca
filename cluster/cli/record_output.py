"""Where ``consume`` writes to: standard output, as many records as were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from logquake.client import OffsetAndMetadata, TopicPartition
from logquake.client.consumer.group.listener import Offsets
from logquake.client.consumer.records import ConsumerRecord
from logquake.cluster.cli.progress import Progress
from logquake.cluster.cli.record_format import Write


class RecordOutput:
    """``positions`` are what to commit: of each partition what follows the last record that is
    written for sure, flushed too, and not committed yet.
    """

    def __init__(self, file: BinaryIO, write: Write, count: int | None, progress: Progress) -> None:
        self.positions: dict[TopicPartition, OffsetAndMetadata] = {}
        self._unflushed: dict[TopicPartition, OffsetAndMetadata] = {}
        self._file = file
        self._write = write
        self._count = count
        self._progress = progress

    @property
    def written(self) -> int:
        return self._progress.records

    @property
    def is_full(self) -> bool:
        return self._count is not None and self.written >= self._count

    def take(self, found: Sequence[ConsumerRecord]) -> None:
        """Of one partition. Raises BrokenPipeError when the reader is gone."""
        records = found if self._count is None else found[: max(0, self._count - self.written)]
        if not records:
            return
        self._file.write(b"".join(map(self._write, records)))
        last = records[-1]
        self._unflushed[last.place] = OffsetAndMetadata(last.offset + 1, last.leader_epoch)
        self._progress.add(len(records))

    def flush(self) -> None:
        """Raises as take()."""
        self._file.flush()
        self.positions |= self._unflushed
        self._unflushed.clear()

    def committed(self, offsets: Offsets, error: Exception | None) -> None:
        """What failed is to be committed again, and what was written since."""
        if error is None:
            for place, offset in offsets.items():
                if self.positions.get(place) == offset:
                    del self.positions[place]
