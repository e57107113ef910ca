"""What of a coordinator's log is told to the state that it is loaded into.

Runs on a worker thread: a state that is being loaded belongs to its load alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from logquake.wire.errors import ProtocolError, RecordError
from logquake.wire.records import (
    MAX_DECOMPRESSED_BYTES,
    BatchHeader,
    ControlType,
    iterate_batches,
    iterate_records,
    read_end_marker,
)
from logquake.wire.sentinels import NO_PRODUCER_ID


class LoggedRecord(NamedTuple):
    """A record of a coordinator's log. A value of None is a tombstone.

    ``batch_offset`` is the offset of its batch's first record, by which Kafka tells which of two
    commits is the older. ``producer_id`` is NO_PRODUCER_ID, or of a transaction that a marker is
    still to decide.
    """

    offset: int
    batch_offset: int
    key: bytes
    value: bytes | None
    producer_id: int = NO_PRODUCER_ID


class Replayed(Protocol):
    """The state of one partition, as far as its log is concerned."""

    def replay(self, record: LoggedRecord) -> None:
        """Be what you are after this record. Raises ProtocolError for what cannot be read."""

    def replay_marker(self, producer_id: int, *, committed: bool) -> None:
        """The producer's transaction ended in this log."""


@dataclass(slots=True)
class Progress:
    """How far a load has come. ``fault`` is the first of those that were ``left_out``."""

    next_offset: int
    records: int = 0
    left_out: int = 0
    fault: str | None = None

    def leave_out(self, offset: int, why: Exception) -> None:
        self.left_out += 1
        self.fault = self.fault or f"offset {offset}: {why}"


def replay_batches(data: bytes, state: Replayed, progress: Progress) -> None:
    """Tell a state of the whole batches in data, in order; a cut last one is for the next time.

    A record that cannot be read is left out, and so are those of its batch that follow where the
    batch is what cannot be read; Kafka gives up the whole load there, and goes on with an empty
    state. Raises RecordError where not even the next batch can be found.
    """
    view = memoryview(data)
    for position, header in iterate_batches(view):
        try:
            if header.is_control:
                _replay_marker(view, position, header, state)
            else:
                for record in _records(view, position, header):
                    _replay(record, state, progress)
        except RecordError as error:
            progress.leave_out(header.base_offset, error)
        progress.next_offset = header.next_offset


def _records(view: memoryview, position: int, header: BatchHeader) -> Iterator[LoggedRecord]:
    producer_id = header.producer_id if header.is_transactional else NO_PRODUCER_ID
    batch_offset: int | None = None
    for record in iterate_records(view, position, header, MAX_DECOMPRESSED_BYTES):
        if batch_offset is None:
            batch_offset = record.offset
        key = record.key if record.key is not None else b""
        yield LoggedRecord(record.offset, batch_offset, key, record.value, producer_id)


def _replay(record: LoggedRecord, state: Replayed, progress: Progress) -> None:
    try:
        state.replay(record)
    except ProtocolError as error:
        progress.leave_out(record.offset, error)
    else:
        progress.records += 1


def _replay_marker(view: memoryview, position: int, header: BatchHeader, state: Replayed) -> None:
    """Whatever is no commit aborts, as in GroupMetadataManager.doLoadGroupsAndOffsets."""
    if not header.record_count:  # a cleaner has left the header alone
        return
    marker = read_end_marker(view, position, header)
    committed = marker is not None and marker.control_type is ControlType.COMMIT
    state.replay_marker(header.producer_id, committed=committed)
