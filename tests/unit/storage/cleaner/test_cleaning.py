"""A whole cleaning of a log: plan, slices, swaps, and what readers see of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from logquake.storage.cleaner.cleaning import Cleaning, Finished, Replacement
from logquake.storage.cleaner.plan import CleanerBounds
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.wire.records import Codec, Record, encode_batch
from tests.doubles.memory_disk import MemoryDisk
from tests.storage.compacting import (
    SMALL,
    Producers,
    append,
    batches_of,
    clean,
    header_of,
    records_in,
    records_of,
)

CONFIG = LogConfig(
    compacted=True, deleted=False, segment_bytes=400, index_interval_bytes=0, delete_retention_ms=50
)
NOW_MS = 10_000
OpenLog = Callable[..., Log]


def put(log: Log, *entries: tuple[str, str | None]) -> None:
    """A batch of each."""
    for key, value in entries:
        record = Record(0, 1_000, key.encode(), None if value is None else value.encode())
        log.stage_as_leader(memoryview(encode_batch([record])), 0, NOW_MS)
        log.commit()


def fill(log: Log, keys: Sequence[str], rounds: int = 5) -> None:
    for number in range(rounds):
        put(log, *((key, f"{key}-{number}" + "." * 30) for key in keys))


def table(log: Log) -> dict[bytes | None, bytes | None]:
    return {record.key: record.value for record in records_of(log)}


def begin(log: Log, bounds: CleanerBounds = SMALL) -> Cleaning:
    log.sync()
    to_clean = log.cleaning.assess(log.written_end_offset, NOW_MS)
    return log.cleaning.begin(to_clean, bounds, NOW_MS)


def work_to_swap(cleaning: Cleaning) -> Replacement:
    while not isinstance(step := cleaning.work(), Replacement):
        assert not isinstance(step, Finished)
    return step


def test_the_latest_of_each_key_stays_and_offsets_never_change(open_log: OpenLog) -> None:
    log = open_log(CONFIG)
    fill(log, "abcd")
    before = {record.offset: record for record in records_of(log)}
    latest, size = table(log), log.size
    stats = clean(log, NOW_MS)
    after = records_of(log)
    assert table(log) == latest
    assert all(before[record.offset] == record for record in after)
    assert [record.offset for record in after] == sorted(record.offset for record in after)
    assert len(after) < len(before)
    assert log.size < size
    assert stats.bytes_written < stats.bytes_read
    assert log.end_offset == 20


def test_small_segments_become_one_and_their_snapshots_go(
    open_log: OpenLog, disk: MemoryDisk, directory: str
) -> None:
    log = open_log(CONFIG)
    fill(log, "ab", rounds=12)
    clean(log, NOW_MS)
    put(log, ("c", "1"))
    log.cleaning.cleaned_to = 0
    clean(log, NOW_MS)
    names = disk.list(directory)
    assert len([name for name in names if name.endswith(".log")]) == 2
    assert "00000000000000000000.log" in names
    assert not [name for name in names if name.endswith((".cleaned", ".swap", ".deleted"))]
    assert len([name for name in names if name.endswith(".snapshot")]) == 1


def test_any_offset_reads_the_same_or_a_later_record(open_log: OpenLog) -> None:
    log = open_log(CONFIG)
    fill(log, "abc", rounds=8)
    clean(log, NOW_MS)
    left = [record.offset for record in records_of(log)]
    for offset in range(log.end_offset):
        first = header_of(batches_of(log, offset)[0])
        assert first.last_offset >= offset
        assert first.last_offset == min(found for found in left if found >= offset)


def test_a_reader_keeps_what_it_was_given(open_log: OpenLog) -> None:
    log = open_log(CONFIG)
    fill(log, "ab", rounds=6)
    held = log.read(0, 300, up_to=log.end_offset)
    content = held.read()
    clean(log, NOW_MS)
    assert held.read() == content


def test_reads_go_on_between_any_two_slices(open_log: OpenLog) -> None:
    log = open_log(CONFIG)
    fill(log, "abc", rounds=8)
    latest = table(log)
    seen = []
    clean(log, NOW_MS, between_slices=lambda: seen.append(table(log)))
    assert len(seen) > 5
    assert all(found == latest for found in seen)


def test_appends_go_on_meanwhile(open_log: OpenLog) -> None:
    log = open_log(CONFIG)
    fill(log, "abc", rounds=8)
    clean(log, NOW_MS, between_slices=lambda: put(log, ("a", "new"), ("d", "new")))
    assert table(log)[b"a"] == table(log)[b"d"] == b"new"
    log.close(clean=True)
    assert table(open_log(CONFIG))[b"d"] == b"new"


def test_a_deleted_key_is_gone_after_the_horizon(open_log: OpenLog) -> None:
    log = open_log(CONFIG)
    put(log, ("gone", "1"), ("gone", None))
    fill(log, "ab")
    clean(log, NOW_MS)
    assert table(log)[b"gone"] is None
    fill(log, "ab")
    clean(log, NOW_MS + CONFIG.delete_retention_ms - 1)
    assert b"gone" in table(log)
    fill(log, "ab")
    clean(log, NOW_MS + CONFIG.delete_retention_ms)
    assert b"gone" not in table(log)


def test_a_map_too_small_for_all_keys_cleans_in_several_passes(open_log: OpenLog) -> None:
    log = open_log(CONFIG)
    keys = [f"key-{number}" for number in range(12)]
    fill(log, keys, rounds=3)
    latest = table(log)
    small = CleanerBounds(dedupe_bytes=24 * 6, load_factor=0.9, io_bytes=300)
    ends: list[int] = []
    log.sync()
    while log.cleaning.assess(log.end_offset, NOW_MS).cleanable_bytes:
        clean(log, NOW_MS, small)
        cleaned_to = log.cleaning.cleaned_to
        assert cleaned_to is not None
        ends.append(cleaned_to)
        assert table(log) == latest
    assert len(ends) > 2
    assert ends == sorted(set(ends))


def test_every_segment_may_become_empty(open_log: OpenLog) -> None:
    log = open_log(CONFIG)
    put(log, *([("a", "x" * 30)] * 20))
    clean(log, NOW_MS)
    assert set(table(log)) == {b"a"}
    assert log.read(0, 10_000, up_to=20).first_offset > 4
    log.close(clean=False)
    log = open_log(CONFIG, clean=False)
    assert set(table(log)) == {b"a"}
    assert log.end_offset == 20


def test_a_batch_larger_than_the_buffer_is_cleaned(open_log: OpenLog) -> None:
    log = open_log(replace(CONFIG, segment_bytes=5_000))
    put(log, ("big", "x" * 4_000), ("a", "1"), ("big", "y" * 4_000), ("a", "2"), ("c", "z" * 4_000))
    clean(log, NOW_MS, CleanerBounds(dedupe_bytes=1 << 16, io_bytes=10))
    assert table(log)[b"big"] == b"y" * 4_000


def test_times_of_files_are_kept(open_log: OpenLog, disk: MemoryDisk, directory: str) -> None:
    log = open_log(CONFIG)
    fill(log, "ab", rounds=6)
    names = [name for name in disk.list(directory) if name.endswith(".log")]
    for number, name in enumerate(names):
        disk.set_modified_ms(f"{directory}/{name}", 1_000 * number)
    clean(log, NOW_MS)
    kept = [name for name in disk.list(directory) if name.endswith(".log")]
    assert [disk.modified_ms(f"{directory}/{name}") for name in kept] == [
        1_000 * names.index(name) for name in kept
    ]


def test_producers_know_their_sequences_after_a_restart_without_snapshots(
    open_log: OpenLog, disk: MemoryDisk, directory: str
) -> None:
    log = open_log(CONFIG)
    producers = Producers(random.Random(5), [Codec.NONE])
    append(log, producers.batches(80))
    clean(log, NOW_MS)
    sequences = {entry.producer_id: entry.last_sequence for entry in log.producers.entries()}
    assert len(sequences) == 3
    log.close(clean=False)
    for name in disk.list(directory):
        if name.endswith(".snapshot"):
            disk.remove(f"{directory}/{name}")
    log = open_log(CONFIG, clean=False)
    found = {entry.producer_id: entry.last_sequence for entry in log.producers.entries()}
    assert found == sequences


def test_committed_readers_see_the_latest_committed_value(open_log: OpenLog) -> None:
    log = open_log(CONFIG)
    producers = Producers(random.Random(6), list(Codec))
    append(log, producers.batches(120))
    before, size = _committed(log), log.size
    clean(log, NOW_MS)
    assert _committed(log) == before
    assert log.size < size


def _committed(log: Log) -> dict[bytes | None, bytes | None]:
    """The last value of each key outside aborted transactions and markers."""
    aborted = log.aborted_transactions(0, log.end_offset)
    found: dict[bytes | None, bytes | None] = {}
    for batch in batches_of(log):
        header = header_of(batch)
        is_aborted = header.is_transactional and any(
            txn.producer_id == header.producer_id
            and txn.first_offset <= header.base_offset <= txn.last_offset
            for txn in aborted
        )
        if not header.is_control and not is_aborted:
            found |= {record.key: record.value for record in records_in(batch)}
    return found


class TestOvertaken:
    def test_a_truncation_voids_what_is_not_swapped_in(
        self, open_log: OpenLog, disk: MemoryDisk, directory: str
    ) -> None:
        log = open_log(CONFIG)
        fill(log, "abc", rounds=8)
        cleaning = begin(log)
        work_to_swap(cleaning)
        assert not log.cleaning.is_overtaken(cleaning)
        log.truncate_to(8)
        assert log.cleaning.is_overtaken(cleaning)
        cleaning.discard()
        assert not [name for name in disk.list(directory) if name.endswith(".cleaned")]
        assert [record.offset for record in records_of(log)] == list(range(8))

    def test_so_does_retention_of_what_was_not_swapped_yet(self, open_log: OpenLog) -> None:
        log = open_log(replace(CONFIG, deleted=True, retention_ms=-1, retention_bytes=-1))
        fill(log, "abc", rounds=8)
        cleaning = begin(log)
        log.cleaning.swap(cleaning, work_to_swap(cleaning))
        log.raise_start(5, log.end_offset)
        log.delete_old(NOW_MS, log.end_offset)
        work_to_swap(cleaning)
        assert not log.cleaning.is_overtaken(cleaning)
        log.raise_start(log.end_offset - 1, log.end_offset)
        log.delete_old(NOW_MS, log.end_offset)
        assert log.cleaning.is_overtaken(cleaning)

    def test_what_was_swapped_in_stays_when_the_rest_is_given_up(self, open_log: OpenLog) -> None:
        log = open_log(CONFIG)
        fill(log, "abc", rounds=8)
        latest, size = table(log), log.size
        cleaning = begin(log)
        log.cleaning.swap(cleaning, work_to_swap(cleaning))
        cleaning.discard()
        assert log.size < size
        assert table(log) == latest
        clean(log, NOW_MS)
        assert table(log) == latest

    def test_discarding_a_cleaning_that_did_nothing_or_whose_folder_is_gone(
        self, open_log: OpenLog, disk: MemoryDisk, directory: str
    ) -> None:
        log = open_log(CONFIG)
        fill(log, "abc", rounds=8)
        latest, before = table(log), disk.list(directory)
        begin(log).discard()
        assert (table(log), disk.list(directory)) == (latest, before)
        cleaning = begin(log)
        work_to_swap(cleaning)
        disk.remove_tree(directory)
        cleaning.discard()
        assert not disk.exists(directory)


class TestCheckpoint:
    def test_a_truncation_lowers_it_and_tells(self, open_log: OpenLog) -> None:
        log = open_log(CONFIG, cleaned_to=9)
        fill(log, "abc", rounds=4)
        told: list[int | None] = []
        log.cleaning.checkpoint.write = lambda: told.append(log.cleaning.cleaned_to)
        log.truncate_to(10)
        assert (log.cleaning.cleaned_to, told) == (9, [])
        log.truncate_to(4)
        assert (log.cleaning.cleaned_to, told) == (4, [4])
        log.truncate_fully_and_start_at(0)
        assert told == [4, 0]

    def test_gaps_are_kept_by_recovery_when_the_policy_is_delete_again(
        self, open_log: OpenLog
    ) -> None:
        log = open_log(CONFIG)
        fill(log, "abc", rounds=8)
        clean(log, NOW_MS)
        left = records_of(log)
        log.close(clean=False)
        plain = replace(CONFIG, compacted=False, deleted=True)
        log = open_log(plain, clean=False, cleaned_to=log.cleaning.cleaned_to)
        assert log.recovery.truncated_bytes == 0
        assert records_of(log) == left


@pytest.mark.parametrize("lag_ms", [0, 500])
def test_the_active_segment_rolls_for_max_compaction_lag(open_log: OpenLog, lag_ms: int) -> None:
    config = replace(CONFIG, max_compaction_lag_ms=lag_ms) if lag_ms else CONFIG
    log = open_log(config)
    for timestamp_ms in (1_000, 1_400, 1_501):
        batch = encode_batch([Record(0, timestamp_ms, b"k", b"v")])
        log.stage_as_leader(memoryview(batch), 0, NOW_MS)
        log.commit()
    assert log.unsynced_roll == bool(lag_ms)
