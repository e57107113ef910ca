from __future__ import annotations

from collections.abc import Callable

import pytest

from logquake.storage.dirs.load_progress import LoadProgress
from logquake.storage.errors import LoadCancelledError, StorageError
from logquake.storage.log import recovery as log_recovery
from logquake.storage.log.log import Log
from logquake.storage.log.opening import OpeningTerms
from logquake.storage.log_config import LogConfig
from logquake.wire.records import Record, encode_message_set
from tests.doubles.memory_disk import MemoryDisk

OpenLog = Callable[..., Log]
MakeBatch = Callable[..., memoryview]
CONFIG = LogConfig(segment_bytes=1_000, index_interval_bytes=200)


@pytest.fixture
def log(open_log: OpenLog, make_batch: MakeBatch) -> Log:
    """Thirty batches of two records in several segments, never synced."""
    log = open_log(CONFIG)
    for number in range(30):
        log.stage_as_leader(make_batch(2, timestamp_ms=number), number // 10, 0)
    log.commit()
    return log


def segment_path(directory: str, log: Log, index: int) -> str:
    paths = sorted({header.base_offset for header in log.headers(0)})
    bases = [base for base in paths if log._state.disk.exists(f"{directory}/{base:020d}.log")]
    return f"{directory}/{bases[index]:020d}.log"


def test_an_intact_log_is_kept_whole(log: Log, open_log: OpenLog) -> None:
    size = log.size
    log.close(clean=False)
    again = open_log(CONFIG, clean=False)
    assert (again.end_offset, again.recovery.scanned_bytes) == (60, size)
    assert (again.recovery.truncated_bytes, again.recovery.why) == (0, None)
    assert [entry.epoch for entry in again.epochs.entries] == [0, 1, 2]


@pytest.mark.parametrize("tail", [b"\0" * 100, b"garbage" * 30, b"\xff" * 3])
def test_a_garbage_tail_is_cut_off(
    log: Log, disk: MemoryDisk, directory: str, open_log: OpenLog, tail: bytes
) -> None:
    path = segment_path(directory, log, -1)
    file = disk.open(path)
    file.pwritev([tail], file.size())
    log.close(clean=False)
    again = open_log(CONFIG, clean=False)
    assert (again.end_offset, again.recovery.truncated_bytes) == (60, len(tail))
    assert again.recovery.why is not None


def test_a_torn_last_batch_is_cut_off(
    log: Log, disk: MemoryDisk, directory: str, open_log: OpenLog
) -> None:
    file = disk.open(segment_path(directory, log, -1))
    file.truncate(file.size() - 1)
    log.close(clean=False)
    again = open_log(CONFIG, clean=False)
    assert again.end_offset == 58
    assert again.recovery.truncated_bytes > 0


def test_damage_ends_the_log_and_later_segments_go(
    log: Log, disk: MemoryDisk, directory: str, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    size = log.size
    file = disk.open(segment_path(directory, log, 1))
    within_a_value = file.size() // 2 + 75
    file.pwritev([bytes([file.pread(1, within_a_value)[0] ^ 1])], within_a_value)
    log.close(clean=False)
    again = open_log(CONFIG, clean=False)
    assert again.size + again.recovery.truncated_bytes == size
    assert "crc" in (again.recovery.why or "")
    assert sum(1 for _ in again.headers(0)) == again.end_offset // 2
    again.stage_as_leader(make_batch(2), 5, 0)
    again.commit()
    assert again.epochs.latest == 5


def test_a_batch_of_an_earlier_epoch_ends_the_log(
    disk: MemoryDisk, directory: str, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log()
    log.stage_as_leader(make_batch(2), 5, 0)
    log.commit()
    stale = bytes(make_batch(2, base_offset=2, leader_epoch=4))
    file = disk.open(f"{directory}/{0:020d}.log")
    file.pwritev([stale], file.size())
    log.close(clean=False)
    again = open_log(clean=False)
    assert (again.end_offset, again.recovery.truncated_bytes) == (2, len(stale))
    assert "leader epoch 4 follows 5" in (again.recovery.why or "")


def test_a_segment_that_does_not_continue_the_one_before_goes(
    log: Log, disk: MemoryDisk, directory: str, open_log: OpenLog
) -> None:
    """A loss of power can take the unsynced end of one segment and leave the next."""
    second = segment_path(directory, log, 1)
    last_batch = len(log.read(0, 1, up_to=60))
    file = disk.open(f"{directory}/{0:020d}.log")
    file.truncate(file.size() - last_batch)
    log.close(clean=False)
    again = open_log(CONFIG, clean=False)
    assert again.end_offset < int(second[-24:-4])
    assert not disk.exists(second)


def test_segments_before_the_recovery_point_are_trusted(
    log: Log, disk: MemoryDisk, directory: str, open_log: OpenLog
) -> None:
    log.sync()
    point = log.recovery_point
    file = disk.open(f"{directory}/{0:020d}.log")
    file.pwritev([b"\xff"], 80)
    log.close(clean=False)
    again = open_log(CONFIG, clean=False, recovery_point=point)
    assert again.end_offset == 60
    assert again.recovery.scanned_bytes < log.size // 2


def test_a_clean_close_needs_no_scan(log: Log, open_log: OpenLog) -> None:
    log.close(clean=True)
    again = open_log(CONFIG, clean=True)
    assert (again.end_offset, again.recovery.scanned_bytes) == (60, 0)
    assert again.recovery_point == 60


def test_segments_below_the_log_start_are_replaced_when_none_reaches_it(
    log: Log, open_log: OpenLog
) -> None:
    log.close(clean=True)
    again = open_log(CONFIG, log_start_offset=100)
    assert (again.start_offset, again.end_offset, again.size) == (100, 100, 0)
    assert again.recovery.truncated_bytes > 0
    assert again.recovery.why == "the log ended at 60, before its checkpointed start 100"


def test_a_truncation_between_the_steps_of_a_sync_keeps_the_recovery_point_down(
    log: Log, make_batch: MakeBatch
) -> None:
    pending = log.begin_sync()
    pending.run()
    log.truncate_to(10)
    log.stage_as_leader(make_batch(40), 9, 0)
    log.commit()
    log.finish_sync(pending)
    assert log.recovery_point == 0


def test_very_many_segments_are_synced_a_part_at_a_time(
    open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log(LogConfig(segment_bytes=len(make_batch())))
    for _ in range(200):
        log.stage_as_leader(make_batch(), 0, 0)
    log.commit()
    points = [log.recovery_point]
    while log.unsynced_roll:
        pending = log.begin_sync(rolled_only=True)
        assert len(pending.unsynced.files) < 400
        pending.run()
        log.finish_sync(pending)
        points.append(log.recovery_point)
    assert points == [0, 64, 127, 190, 199]


def test_all_parts_are_synced_in_one_call(open_log: OpenLog, make_batch: MakeBatch) -> None:
    log = open_log(LogConfig(segment_bytes=len(make_batch())))
    for _ in range(200):
        log.stage_as_leader(make_batch(), 0, 0)
    log.commit()
    log.sync()
    assert log.recovery_point == 200


def test_progress_is_told_while_a_log_is_scanned(
    log: Log, open_log: OpenLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_recovery, "_TELL_EVERY_BYTES", 1_000)
    size = log.size
    log.close(clean=False)
    told: list[int] = []
    open_log(CONFIG, OpeningTerms(scanned=told.append), clean=False)
    assert len(told) > 2
    assert sum(told) == size


def test_what_is_raised_on_progress_ends_the_opening(
    log: Log, open_log: OpenLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_recovery, "_TELL_EVERY_BYTES", 1_000)
    log.close(clean=False)
    progress = LoadProgress()
    progress.cancel()
    with pytest.raises(LoadCancelledError):
        open_log(CONFIG, OpeningTerms(scanned=progress.scanned), clean=False)
    again = open_log(CONFIG, clean=False)
    assert (again.end_offset, again.recovery.truncated_bytes) == (60, 0)


class TestInterruptedOperations:
    """What a crash left in the folder is put right when the log is opened."""

    def test_a_roll_that_made_only_the_log_file(
        self, log: Log, disk: MemoryDisk, directory: str, open_log: OpenLog, make_batch: MakeBatch
    ) -> None:
        log.close(clean=False)
        disk.open(f"{directory}/{60:020d}.log", create=True)
        again = open_log(CONFIG, clean=False)
        assert (again.end_offset, again.recovery.truncated_bytes) == (60, 0)
        again.stage_as_leader(make_batch(), 2, 0)
        again.commit()
        assert [header.base_offset for header in again.headers(58)] == [58, 60]
        assert disk.exists(f"{directory}/{60:020d}.index")

    def test_a_roll_that_wrote_its_snapshot_and_no_log_file(
        self, log: Log, disk: MemoryDisk, directory: str, open_log: OpenLog
    ) -> None:
        log.close(clean=False)
        snapshot = disk.read(f"{directory}/{segment_base(disk, directory, 1):020d}.snapshot")
        disk.replace(f"{directory}/{60:020d}.snapshot", snapshot)
        disk.replace(f"{directory}/{77:020d}.snapshot", snapshot)
        open_log(CONFIG, clean=False)
        assert not disk.exists(f"{directory}/{77:020d}.snapshot")

    def test_indexes_without_their_log_file(
        self, log: Log, disk: MemoryDisk, directory: str, open_log: OpenLog
    ) -> None:
        log.close(clean=False)
        for suffix in (".index", ".timeindex", ".txnindex"):
            disk.replace(f"{directory}/{77:020d}{suffix}", b"")
        open_log(CONFIG, clean=False)
        assert [name for name in disk.list(directory) if name.startswith(f"{77:020d}")] == []

    def test_a_deletion_that_renamed_only_the_log_file(
        self, log: Log, disk: MemoryDisk, directory: str, open_log: OpenLog
    ) -> None:
        second = segment_base(disk, directory, 1)
        log.close(clean=False)
        first = f"{directory}/{0:020d}"
        disk.rename(first + ".log", first + ".log.deleted")
        again = open_log(CONFIG, clean=False, recovery_point=60)
        assert (again.start_offset, again.end_offset) == (second, 60)
        assert [name for name in disk.list(directory) if name.startswith(f"{0:020d}")] == []

    def test_a_deletion_that_renamed_only_an_index(
        self, log: Log, disk: MemoryDisk, directory: str, open_log: OpenLog
    ) -> None:
        log.close(clean=False)
        first = f"{directory}/{0:020d}"
        disk.rename(first + ".index", first + ".index.deleted")
        again = open_log(CONFIG, clean=False, recovery_point=60)
        assert (again.start_offset, again.end_offset) == (0, 60)
        assert again.read(3, 1, up_to=60).first_offset == 2


def segment_base(disk: MemoryDisk, directory: str, index: int) -> int:
    return [int(name[:20]) for name in disk.list(directory) if name.endswith(".log")][index]


def test_an_io_error_while_opening_is_a_storage_error(
    log: Log, disk: MemoryDisk, open_log: OpenLog
) -> None:
    log.close(clean=False)
    disk.fail_read_at(1, OSError(5, "injected"), lasting=True)
    with pytest.raises(StorageError, match="/data/t-0"):
        open_log(CONFIG, clean=False)


def test_a_truncation_within_a_batch_takes_the_recovery_point_to_the_batchs_start(
    open_log: Callable[..., Log], make_batch: Callable[..., memoryview]
) -> None:
    log = open_log()
    for _ in range(2):
        log.stage_as_leader(make_batch(5), 0, 0)
    log.commit()
    log.sync()
    assert log.truncate_to(8) == 5
    assert log.recovery_point == 5


@pytest.mark.parametrize("clean", [True, False])
def test_files_that_are_no_logs_are_left_alone(
    log: Log, disk: MemoryDisk, directory: str, open_log: OpenLog, clean: bool
) -> None:
    strangers = ["x.log", "0.log", "notes.deleted", "y.swap", "z.cleaned", "a.index", "b.snapshot"]
    for name in strangers:
        disk.open(f"{directory}/{name}", create=True).pwritev([b"mine"], 0)
    log.close(clean=clean)
    assert open_log(CONFIG, clean=clean).end_offset == 60
    assert set(strangers) <= set(disk.list(directory))


@pytest.mark.parametrize("damaged", ["00000000000000000000.log", "00000000000000000009.log.swap"])
def test_damage_that_cannot_be_mended_is_told_with_the_file_it_is_in(
    log: Log, disk: MemoryDisk, directory: str, open_log: OpenLog, damaged: str
) -> None:
    log.sync()
    log.close(clean=False)
    for name in disk.list(directory):
        if name.endswith(".snapshot"):
            disk.remove(f"{directory}/{name}")
    disk.open(f"{directory}/{damaged}", create=True).pwritev([b"\xff" * 200], 0)
    with pytest.raises(StorageError, match=damaged):
        open_log(CONFIG, clean=False, recovery_point=60)


def test_leader_epochs_come_back_with_records_whose_deletion_a_crash_forgot(
    open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log()
    for offset, epoch in enumerate((2, 2, 5, 5, 7)):
        log.stage_as_follower(make_batch(1, base_offset=offset, leader_epoch=epoch))
    log.commit()
    log.raise_start(3, high_watermark=5)
    log.commit()
    log.close(clean=False)
    log = open_log(clean=False, recovery_point=5, log_start_offset=3)
    assert log.epochs.entries == ((5, 3), (7, 4))
    log.close(clean=False)
    log = open_log(clean=False, recovery_point=5, log_start_offset=1)
    assert log.epochs.entries == ((2, 1), (5, 2), (7, 4))


def test_message_sets_before_the_first_leader_epoch_are_no_loss(
    open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log()
    old = encode_message_set([Record(0, 0, None, b"old", ())], 1)
    log.stage_as_follower(memoryview(bytearray(old)))
    log.stage_as_follower(make_batch(1, base_offset=1, leader_epoch=3))
    log.commit()
    log.close(clean=False)
    assert open_log(clean=False).epochs.entries == ((3, 1),)


@pytest.mark.parametrize("content", [None, b"", b"garbage"])
@pytest.mark.parametrize("clean", [True, False])
def test_leader_epochs_are_found_in_the_log_where_their_file_was_lost(
    log: Log,
    disk: MemoryDisk,
    directory: str,
    open_log: OpenLog,
    content: bytes | None,
    clean: bool,
) -> None:
    log.sync()
    before = log.epochs.entries
    log.close(clean=clean)
    path = f"{directory}/leader-epoch-checkpoint"
    disk.remove(path)
    if content is not None:
        disk.open(path, create=True).pwritev([content], 0)
    again = open_log(CONFIG, clean=clean, recovery_point=60)
    assert again.epochs.entries == before
    assert again.recovery.truncated_bytes == 0
