"""What a log holds, read the way its users read it."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.storage.log.log import Log
from logquake.wire.records import check_crc
from tests.storage.crash.story import Moment, Stored


@dataclass(frozen=True, slots=True)
class Found:
    topic_id: bytes | None
    start: int
    end: int
    batches: tuple[Stored, ...]
    # What explains it, with the batches that retention or compaction took away.
    history: tuple[Stored, ...] = ()

    @property
    def moment(self) -> Moment:
        return Moment(self.topic_id, self.start, self.end, self.history)


NOTHING = Found(None, 0, 0, ())


def read_back(log: Log | None) -> Found:
    """Every batch, each by its own offset, its CRC checked."""
    if log is None:
        return NOTHING
    batches = []
    for header in list(log.headers(log.start_offset)):
        offset = max(header.base_offset, log.start_offset)
        piece = log.read(offset, 1, up_to=log.written_end_offset)
        assert piece.first_offset == header.base_offset
        view = memoryview(piece.read())
        check_crc(view, 0, header)
        batches.append(Stored(bytes(view)))
    return Found(log.topic_id, log.start_offset, log.written_end_offset, tuple(batches))
