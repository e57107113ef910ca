from __future__ import annotations

import errno
from collections.abc import Callable

import pytest

from logquake.storage.errors import StorageError
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.storage.producers.entry import ProducerEntry
from logquake.storage.segments.txn_index import AbortedTransaction
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import BatchFlag, ControlType, encode_end_marker
from tests.doubles.memory_disk import MemoryDisk

OpenLog = Callable[..., Log]
MakeBatch = Callable[..., memoryview]
CONFIG = LogConfig(segment_bytes=500, index_interval_bytes=100)


class Writer:
    """Appends to a log in the name of transactional producers, each call verified and committed."""

    def __init__(self, log: Log, make_batch: MakeBatch) -> None:
        self.log = log
        self._make_batch = make_batch
        self._sequences: dict[int, int] = {}

    def write(self, pid: int, count: int = 2, *, transactional: bool = True) -> int:
        """The first offset."""
        sequence = self._sequences.get(pid, 0)
        self._sequences[pid] = sequence + count
        batch = self._make_batch(
            count,
            producer_id=pid,
            producer_epoch=0,
            base_sequence=sequence,
            flags=BatchFlag.TRANSACTIONAL if transactional else 0,
        )
        guard = self.log.begin_verification(pid, 0, sequence, 0) if transactional else None
        appended = self.log.stage_as_leader(batch, 0, 0, guard=guard)
        self.log.commit()
        return appended.first_offset

    def end(self, pid: int, control_type: ControlType, coordinator_epoch: int = 0) -> int:
        """The marker's offset."""
        marker = encode_end_marker(
            control_type,
            coordinator_epoch=coordinator_epoch,
            producer_id=pid,
            producer_epoch=0,
            timestamp_ms=0,
        )
        appended = self.log.stage_as_leader(memoryview(marker), 0, 0, internal=True)
        self.log.commit()
        return appended.first_offset

    def commit(self, pid: int) -> int:
        return self.end(pid, ControlType.COMMIT)

    def abort(self, pid: int) -> int:
        return self.end(pid, ControlType.ABORT)


@pytest.fixture
def writer(open_log: OpenLog, make_batch: MakeBatch) -> Writer:
    return Writer(open_log(CONFIG), make_batch)


@pytest.fixture
def written(writer: Writer) -> Writer:
    """Over several segments: three aborted transactions, a committed one, one under way."""
    for pid in (1, 2, 1, 3):
        writer.write(pid)
    writer.abort(1)  # 0 to 8
    writer.commit(2)
    writer.write(9)  # 10, for ever
    writer.write(1)
    writer.abort(3)  # 6 to 14
    for _ in range(4):
        writer.write(4, 3, transactional=False)
    writer.abort(1)  # 12 to 27
    return writer


ABORTED = [
    AbortedTransaction(1, 0, 8, 2),
    AbortedTransaction(3, 6, 14, 10),
    AbortedTransaction(1, 12, 27, 10),
]


def txn_files(disk: MemoryDisk, directory: str) -> dict[str, bytes]:
    found = [name for name in disk.list(directory) if name.endswith(".txnindex")]
    return {name: disk.read(f"{directory}/{name}") for name in found}


def snapshots(disk: MemoryDisk, directory: str) -> list[int]:
    return [int(name[:20]) for name in disk.list(directory) if name.endswith(".snapshot")]


def bases(disk: MemoryDisk, directory: str) -> list[int]:
    return [int(name[:20]) for name in disk.list(directory) if name.endswith(".log")]


def test_aborts_are_found_by_the_range_that_they_overlap(written: Writer) -> None:
    log = written.log
    assert log.aborted_transactions(0, log.end_offset) == ABORTED
    # A search ends at the first transaction after which all below the bound was decided.
    assert log.aborted_transactions(9, 11)[:1] == ABORTED[1:2]
    assert log.aborted_transactions(15, 28) == ABORTED[2:]
    assert log.aborted_transactions(28, 40) == []


def test_each_abort_is_listed_beside_the_log_of_its_marker(
    written: Writer, disk: MemoryDisk, directory: str
) -> None:
    listed = [name for name, content in txn_files(disk, directory).items() if content]
    starts = bases(disk, directory)
    owners = {max(base for base in starts if base <= each.last_offset) for each in ABORTED}
    assert [int(name[:20]) for name in listed] == sorted(owners)
    assert len(owners) > 1
    assert written.log.first_unstable_offset == 0


def test_a_read_is_told_of_the_aborts_within_its_bytes(written: Writer) -> None:
    log = written.log
    first_batch = log.read(0, 1, up_to=log.end_offset)
    assert log.aborted_in(0, first_batch)[:1] == ABORTED[:1]
    from_the_third = log.read(15, 10_000, up_to=log.end_offset)
    assert log.aborted_in(15, from_the_third) == ABORTED[2:]
    last = log.read(28 - 1, 10_000, up_to=log.end_offset)
    assert log.aborted_in(28, last) == []


def test_the_first_unstable_offset_follows_the_high_watermark(writer: Writer) -> None:
    log = writer.log
    writer.write(5, transactional=False)
    begin = writer.write(1)
    later = writer.write(2)
    assert log.first_unstable_offset == begin
    marker = writer.commit(1)
    log.replicated_to(marker)
    assert log.first_unstable_offset == begin
    log.replicated_to(marker + 1)
    assert log.first_unstable_offset == later
    end = writer.abort(2)
    log.replicated_to(end + 1)
    assert log.first_unstable_offset is None


def test_staged_ends_do_not_count_when_the_write_fails(
    writer: Writer, disk: MemoryDisk, directory: str
) -> None:
    begin = writer.write(1)
    # The batches are written first, the second change creates the index.
    disk.fail_at(2, OSError(errno.ENOSPC, "full"))
    with pytest.raises(StorageError):
        writer.abort(1)
    assert writer.log.end_offset == 2
    writer.log.replicated_to(100)
    assert writer.log.first_unstable_offset == begin
    assert writer.abort(1) == 2
    assert writer.log.aborted_transactions(0, 3) == [AbortedTransaction(1, 0, 2, 3)]
    assert [len(content) for content in txn_files(disk, directory).values()] == [34]


@pytest.mark.parametrize("clean", [True, False])
def test_everything_is_known_again_after_a_restart(
    written: Writer, open_log: OpenLog, disk: MemoryDisk, directory: str, *, clean: bool
) -> None:
    producers = [_essence(entry) for entry in written.log.producers.entries()]
    files = txn_files(disk, directory)
    written.log.close(clean=clean)
    again = open_log(CONFIG, clean=clean)
    assert again.aborted_transactions(0, again.end_offset) == ABORTED
    assert txn_files(disk, directory) == files
    again.replicated_to(again.end_offset)
    assert again.first_unstable_offset == 10
    assert [_essence(entry) for entry in again.producers.entries()] == producers


def _essence(entry: ProducerEntry) -> tuple[int, ...]:
    """What a snapshot keeps of it."""
    return (
        entry.producer_id,
        entry.epoch,
        entry.last_sequence,
        entry.coordinator_epoch,
        entry.last_timestamp,
        entry.current_txn_first_offset,
    )


@pytest.mark.parametrize("damage", [None, b"", b"torn", b"\1" * 34, b"\0" * 68])
def test_recovery_writes_the_index_anew(
    written: Writer, open_log: OpenLog, disk: MemoryDisk, directory: str, damage: bytes | None
) -> None:
    files = txn_files(disk, directory)
    written.log.close(clean=False)
    for name in files:
        disk.remove(f"{directory}/{name}")
        if damage is not None:
            disk.open(f"{directory}/{name}", create=True).pwritev([damage], 0)
    open_log(CONFIG, clean=False)
    assert txn_files(disk, directory) == files


def test_a_damaged_index_is_written_anew_after_a_clean_stop_too(
    written: Writer, open_log: OpenLog, disk: MemoryDisk, directory: str
) -> None:
    written.log.close(clean=True)
    files = txn_files(disk, directory)
    name = min(files)
    disk.open(f"{directory}/{name}").truncate(33)
    again = open_log(CONFIG)
    assert txn_files(disk, directory) == files
    assert again.aborted_transactions(0, 28) == ABORTED
    assert again.producers.entries()


def test_a_lone_log_file_gets_its_index_back(
    written: Writer, open_log: OpenLog, disk: MemoryDisk, directory: str
) -> None:
    """A folder copied without its indexes, as Kafka's own recovery takes it."""
    written.log.close(clean=True)
    files = txn_files(disk, directory)
    for name in disk.list(directory):
        if name.endswith("index"):
            disk.remove(f"{directory}/{name}")
    open_log(CONFIG)
    assert txn_files(disk, directory) == files


def test_recovery_leaves_a_snapshot_at_every_segment_it_read_and_at_the_end(
    written: Writer, open_log: OpenLog, disk: MemoryDisk, directory: str
) -> None:
    for offset in snapshots(disk, directory):
        disk.remove(f"{directory}/{offset:020d}.snapshot")
    written.log.close(clean=False)
    again = open_log(CONFIG, clean=False)
    assert snapshots(disk, directory) == [*bases(disk, directory)[1:], again.end_offset]


def test_an_index_does_not_list_what_was_truncated(written: Writer) -> None:
    log = written.log
    log.truncate_to(14)
    assert log.aborted_transactions(0, 100) == ABORTED[:1]
    log.replicated_to(14)
    assert log.first_unstable_offset == 6
    assert written.abort(3) == 14
    assert log.aborted_transactions(0, 100) == ABORTED[:2]
    log.truncate_fully_and_start_at(50)
    assert log.aborted_transactions(0, 100) == []
    assert log.first_unstable_offset is None


def test_a_follower_knows_what_its_leader_knows(written: Writer, disk: MemoryDisk) -> None:
    leader = written.log
    follower = Log.open(disk, "/data/copy", CONFIG)
    while follower.end_offset < leader.end_offset:
        records = leader.read(follower.end_offset, 200, up_to=leader.end_offset).read()
        follower.stage_as_follower(memoryview(bytearray(records)))
        follower.commit()
    assert follower.aborted_transactions(0, 28) == ABORTED
    assert follower.producers.entries() == leader.producers.entries()
    assert txn_files(disk, "/data/copy") == txn_files(disk, "/data/t-0")


def test_a_transaction_whose_beginning_was_deleted_is_unstable_from_the_start(
    writer: Writer, open_log: OpenLog
) -> None:
    writer.write(1)
    for _ in range(12):
        writer.write(5, transactional=False)
    writer.log.close(clean=True)
    again = open_log(CONFIG, log_start_offset=20)
    assert again.first_unstable_offset == 20


def test_an_outdated_coordinator_cannot_end_a_transaction(writer: Writer) -> None:
    writer.write(1)
    writer.end(1, ControlType.COMMIT, coordinator_epoch=3)
    begin = writer.write(1)
    with pytest.raises(RecordError) as refused:
        writer.end(1, ControlType.ABORT, coordinator_epoch=2)
    assert refused.value.code is ErrorCode.TRANSACTION_COORDINATOR_FENCED
    writer.log.replicated_to(100)
    assert writer.log.first_unstable_offset == begin


def test_a_repeated_batch_is_known_across_a_snapshot(
    writer: Writer, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    """Of each producer a snapshot holds the last batch only, as Kafka's."""
    for _ in range(2):
        writer.write(7, 2)
    writer.log.close(clean=True)
    again = open_log(CONFIG)

    def stage(sequence: int) -> tuple[int, bool]:
        batch = make_batch(
            2,
            producer_id=7,
            producer_epoch=0,
            base_sequence=sequence,
            flags=BatchFlag.TRANSACTIONAL,
        )
        guard = again.begin_verification(7, 0, sequence, 0)
        appended = again.stage_as_leader(batch, 0, 0, guard=guard)
        return appended.first_offset, appended.duplicate

    assert stage(2) == (2, True)
    with pytest.raises(RecordError) as refused:
        stage(0)
    assert refused.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert stage(4) == (4, False)
