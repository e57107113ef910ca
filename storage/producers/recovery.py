"""Bringing back what a log knows of its producers: from the latest snapshot and the batches after.

Sources: UnifiedLog.rebuildProducerState, ProducerStateManager.truncateAndReload, and, because an
index of aborted transactions needs the same pass, LogSegment.recover. Other than Kafka, a log
without any snapshot is read from its start even after a clean stop: whoever was in a transaction
must not be forgotten.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

from logquake.storage import file_names as names
from logquake.storage.disk.seam import Disk
from logquake.storage.errors import DamagedFileError
from logquake.storage.producers.snapshot import encode_snapshot
from logquake.storage.producers.snapshots import ProducerSnapshots
from logquake.storage.producers.state import ProducerStates
from logquake.storage.segments.batch_walk import DamagedBatchError
from logquake.storage.segments.index_file import DamagedIndexError
from logquake.storage.segments.segment import Segment
from logquake.storage.segments.segments import Segments
from logquake.storage.segments.txn_index import AbortedTransaction
from logquake.wire.errors import RecordError
from logquake.wire.records import BatchHeader, read_end_marker


@dataclass(frozen=True, slots=True)
class Unindexed:
    """Segments, by base offset, whose .txnindex is built anew from their beginnings.

    That needs snapshots as old as ``checkpointed_start``: a start that retention moved on must not
    make a crash forget who is idle, or in a transaction. After a clean stop it does, as in Kafka.
    """

    base_offsets: frozenset[int] = frozenset()
    checkpointed_start: int = 0


class ProducerRecovery:
    def __init__(
        self, states: ProducerStates, snapshots: ProducerSnapshots, segments: Segments
    ) -> None:
        self._states = states
        self._snapshots = snapshots
        self._segments = segments
        self._now_ms = self._expiration_ms = 0

    def expire(self, now_ms: int, expiration_ms: int) -> None:
        """run() leaves out whom the snapshot that it begins with shows idle for so long."""
        self._now_ms, self._expiration_ms = now_ms, expiration_ms

    def run(
        self,
        start_offset: int,
        end_offset: int,
        unindexed: Unindexed = Unindexed(),
    ) -> None:
        """Make the states reflect the log's [start_offset, end_offset). Raises OSError.

        Snapshots after the first of what is unindexed are not trusted either.
        """
        trusted_from, trusted_to = start_offset, end_offset
        if unindexed.base_offsets:
            trusted_to = min(unindexed.base_offsets)
            trusted_from = unindexed.checkpointed_start
        self._snapshots.delete_outside(trusted_from, trusted_to)
        self._snapshots.load_latest(self._states, min(start_offset, trusted_to))
        if self._expiration_ms:
            self._states.expire(self._now_ms, self._expiration_ms)
        loaded = self._states.end_offset
        wanted = self._wanted_snapshots(unindexed.base_offsets)
        for segment in self._segments.from_offset(loaded):
            if segment.base_offset in wanted and segment.base_offset > loaded:
                self._write_snapshot(segment.base_offset)
            aborted = self._replay(segment)
            if segment.base_offset in unindexed.base_offsets:
                segment.txn_index.reset()
                segment.txn_index.append(aborted)
        if start_offset >= end_offset:  # nobody wrote what is in the log
            self._states.load((), end_offset)
        self._states.skip_to(end_offset)
        self._states.keep()
        if end_offset > loaded:
            self._write_snapshot(end_offset)
        self._snapshots.delete_outside(start_offset, end_offset)

    def _wanted_snapshots(self, unindexed: Collection[int]) -> set[int]:
        """At both ends of what is built anew, lest it be read again, and where truncations go."""
        segments = list(self._segments)
        wanted = {segment.base_offset for segment in segments[-2:]}
        for segment, following in pairwise(segments):
            if segment.base_offset in unindexed:
                wanted.update((segment.base_offset, following.base_offset))
        return wanted

    def _write_snapshot(self, offset: int) -> None:
        self._snapshots.write(offset, encode_snapshot(self._states.entries())).sync()

    def _replay(self, segment: Segment) -> list[AbortedTransaction]:
        """Raises DamagedFileError for batches that nobody scanned: they were synced once."""
        try:
            return self._replay_batches(segment)
        except (DamagedBatchError, RecordError) as error:
            raise DamagedFileError(f"{segment.log_path} {error}") from error

    def _replay_batches(self, segment: Segment) -> list[AbortedTransaction]:
        aborted = []
        for position, header in segment.headers(self._states.end_offset):
            if header.is_control:
                batch = memoryview(segment.file.pread(header.size, position))
                ended = replay_control(self._states, batch, header)
                if ended is not None:
                    aborted.append(ended)
            else:
                self._states.append_data(header, header.base_offset, header.max_timestamp)
        return aborted


def find_unindexed(disk: Disk, directory: str, segments: Segments) -> set[int]:
    """Base offsets of segments whose .txnindex is damaged, or without the .index beside it.

    Kafka takes a missing .index for a segment of which nothing but the .log is to be believed.
    """
    found = disk.list(directory)
    indexed = set(names.offsets_with(found, names.OFFSET_INDEX_SUFFIX))
    listed = set(names.offsets_with(found, names.TRANSACTION_INDEX_SUFFIX))
    unindexed = set()
    for segment in segments:
        base_offset = segment.base_offset
        if base_offset not in indexed or (base_offset in listed and _is_damaged(segment)):
            unindexed.add(base_offset)
    return unindexed


def _is_damaged(segment: Segment) -> bool:
    try:
        segment.txn_index.entries()
    except DamagedIndexError:
        return True
    return False


def replay_control(
    states: ProducerStates, batch: memoryview, header: BatchHeader
) -> AbortedTransaction | None:
    """Let a control batch take effect. Raises RecordError where its record is unreadable."""
    # A batch without records is what compaction leaves of an old transaction.
    has_marker = header.record_count and header.has_producer_id
    marker = read_end_marker(batch, 0, header) if has_marker else None
    if marker is None:
        states.skip_to(header.next_offset)
        return None
    return states.append_end_marker(header, header.base_offset, marker, header.max_timestamp)
