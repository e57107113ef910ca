"""Producers and transactions rebuilt from the log, against .snapshot and .txnindex files."""

from __future__ import annotations

from itertools import zip_longest

from logquake.storage import file_names as names
from logquake.storage.disk.seam import Disk
from logquake.storage.producers.entry import ProducerEntry
from logquake.storage.producers.snapshot import DamagedSnapshotError, decode_snapshot
from logquake.storage.producers.state import ProducerStates
from logquake.storage.segments.index_file import DamagedIndexError
from logquake.storage.segments.txn_index import AbortedTransaction, decode_aborted
from logquake.storage.verify.findings import Findings
from logquake.wire.records import BatchHeader, read_end_marker


class ProducerCheck:
    """Goes through a partition's batches. ``is_known`` while nothing was missed.

    judges: whether what a file says can be held against the log; compaction takes batches away.
    """

    def __init__(
        self, disk: Disk, directory: str, findings: Findings, *, judges: bool, start_offset: int
    ) -> None:
        self._disk = disk
        self._directory = directory
        self._findings = findings
        self._judges = judges
        self._states = ProducerStates()
        self._states.end_offset = start_offset
        self._first_offset = start_offset
        self._is_known = True
        self._aborted: list[AbortedTransaction] = []
        offsets = names.offsets_with(disk.list(directory), names.SNAPSHOT_SUFFIX)
        self._snapshots = [offset for offset in offsets if offset > start_offset]
        self._load_first(offsets, start_offset)

    def lose_track(self) -> None:
        """A batch could not be read: later files are not judged."""
        self._is_known = False

    def batch(self, batch: memoryview, header: BatchHeader) -> None:
        """Raises RecordError for a control batch that cannot be read."""
        self._meet_snapshots(header.base_offset)
        marker = None
        if header.is_control and header.record_count:
            marker = read_end_marker(batch, 0, header)
        if marker is not None:
            aborted = self._states.append_end_marker(
                header, header.base_offset, marker, header.max_timestamp
            )
            if aborted is not None:
                self._aborted.append(aborted)
        elif header.is_control or not header.has_producer_id:
            self._states.skip_to(header.next_offset)
        else:
            self._states.append_data(header, header.base_offset, header.max_timestamp)
        self._states.keep()

    def end_segment(self, base_offset: int, *, is_rebuilt: bool) -> None:
        """Compare the index of aborted transactions with what the segment's batches said."""
        expected, self._aborted = self._aborted, []
        path = self._path(base_offset, names.TRANSACTION_INDEX_SUFFIX)
        try:
            listed = decode_aborted(self._disk.read(path))
        except FileNotFoundError:
            listed = []
        except DamagedIndexError as error:
            self._findings.damage("txnindex", path, str(error))
            return
        if not self._judges or not self._is_known or is_rebuilt:
            return
        for found, wanted in zip_longest(listed, expected):
            if found != wanted:
                self._findings.damage("txnindex", path, _difference(found, wanted))
                return

    def end(self, end_offset: int) -> None:
        """The log ends there."""
        self._states.skip_to(max(end_offset, self._states.end_offset))
        self._meet_snapshots(end_offset)
        for offset in self._snapshots:
            path = self._path(offset, names.SNAPSHOT_SUFFIX)
            self._findings.damage("snapshot", path, f"the log ends before, at {end_offset}")

    def _meet_snapshots(self, offset: int) -> None:
        """Compare the snapshots that lie at or before the offset that comes next."""
        while self._snapshots and self._snapshots[0] <= offset:
            self._compare(self._snapshots.pop(0))

    def _compare(self, offset: int) -> None:
        path = self._path(offset, names.SNAPSHOT_SUFFIX)
        entries = self._decode(path)
        if entries is None or not self._judges or not self._is_known:
            return
        rebuilt = {entry.producer_id: entry for entry in self._states.entries()}
        for entry in entries:
            own = rebuilt.pop(entry.producer_id, None)
            wrong = _disagreement(entry, own, self._first_offset)
            if wrong is not None:
                self._findings.damage("snapshot", path, wrong)
        for own in rebuilt.values():
            if own.in_transaction:
                self._findings.damage(
                    "snapshot", path, f"lacks producer {own.producer_id} and its transaction"
                )

    def _load_first(self, offsets: list[int], start_offset: int) -> None:
        if start_offset == 0:
            return
        self._is_known = start_offset in offsets
        if not self._is_known:
            return
        entries = self._decode(self._path(start_offset, names.SNAPSHOT_SUFFIX))
        self._is_known = entries is not None
        self._states.load(entries or (), start_offset)

    def _decode(self, path: str) -> list[ProducerEntry] | None:
        try:
            return decode_snapshot(self._disk.read(path))
        except DamagedSnapshotError as error:
            self._findings.damage("snapshot", path, str(error))
            return None

    def _path(self, offset: int, suffix: str) -> str:
        return names.join(self._directory, names.offset_file(offset, suffix))


def _disagreement(entry: ProducerEntry, own: ProducerEntry | None, first_offset: int) -> str | None:
    """None where a snapshot's producer is the log's, or one whose batches are gone."""
    last_offset = entry.batches[-1].last_offset if entry.batches else -1
    if own is None:
        if last_offset < first_offset:
            return None
        return f"knows producer {entry.producer_id}, which the log does not"
    if last_offset < first_offset and not own.batches:
        return None
    for what, found, wanted in (
        ("epoch", entry.epoch, own.epoch),
        ("last sequence", entry.last_sequence, own.last_sequence),
        ("transaction", entry.current_txn_first_offset, own.current_txn_first_offset),
    ):
        if found != wanted:
            return f"producer {entry.producer_id} has {what} {found}, in the log it has {wanted}"
    return None


def _difference(found: AbortedTransaction | None, wanted: AbortedTransaction | None) -> str:
    if found is None:
        return f"lacks {wanted}"
    if wanted is None:
        return f"lists {found}, which the log does not have"
    return f"lists {found}, the log has {wanted}"
