"""A compacted log against the list of all its records, under any order of operations (Hypothesis).

The latest record of each key survives, tombstones until their horizon; what is left keeps offset,
order and content; any offset reads the same or a later record. Cleanings are done in part, given
up, overtaken by truncations, and cut off by crashes.
"""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from logquake.storage.cleaner.cleaning import Finished, Replacement
from logquake.storage.cleaner.plan import CleanerBounds
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.wire.records import Codec, Record, encode_batch
from tests.doubles.memory_disk import MemoryDisk, Unsynced
from tests.storage.compacting import batches_of, header_of, records_of
from tests.storage.last_run import last_run

CONFIG = LogConfig(
    compacted=True,
    deleted=False,
    segment_bytes=500,
    index_interval_bytes=100,
    delete_retention_ms=3,
)
KEYS = st.sampled_from([b"a", b"b", b"c", b"d", b"e", b"f"])
VALUES = st.none() | st.binary(max_size=30)


class CompactionMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.disk = MemoryDisk()
        self.now_ms = 1_000
        self.written: list[Record] = []
        self.stable = 0  # as a high watermark: what is below is never truncated

    @initialize()
    def create(self) -> None:
        self.disk.make_dirs("/data")
        self.disk.sync_dir("/")
        self.log = Log.open(self.disk, "/data/t-0", CONFIG)

    @rule(
        entries=st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=5),
        codec=st.sampled_from(list(Codec)),
        batches=st.integers(1, 4),
    )
    def put(self, entries: list[tuple[bytes, bytes | None]], codec: Codec, batches: int) -> None:
        for _ in range(batches):
            start = self.log.end_offset
            records = [
                Record(place, self.now_ms, key, value) for place, (key, value) in enumerate(entries)
            ]
            self.log.stage_as_leader(memoryview(encode_batch(records, codec=codec)), 0, self.now_ms)
            self.written += [record._replace(offset=start + record.offset) for record in records]
        self.log.commit()

    @rule(
        keys=st.integers(2, 10),
        io_bytes=st.integers(1, 400),
        slices=st.integers(0, 60),
        cut=st.none() | st.integers(0, 60),
        unstable=st.integers(0, 20),
    )
    def clean(
        self, keys: int, io_bytes: int, slices: int, cut: int | None = None, unstable: int = 0
    ) -> None:
        """So many slices of a cleaning, and perhaps a truncation amid them."""
        self.now_ms += 1
        self.log.sync()
        self.stable = max(self.stable, self.log.end_offset - unstable)
        cleaning_of = self.log.cleaning
        to_clean = cleaning_of.assess(self.stable, self.now_ms)
        if not to_clean.cleanable_bytes:
            return
        bounds = CleanerBounds(24 * (keys + 1), 1.0, io_bytes)
        cleaning = cleaning_of.begin(to_clean, bounds, self.now_ms)
        for number in range(slices):
            if number == cut:
                self.truncate(cut)
            if cleaning_of.is_overtaken(cleaning):
                break
            step = cleaning.work()
            if isinstance(step, Replacement):
                cleaning_of.swap(cleaning, step).remove()
            elif isinstance(step, Finished):
                cleaning_of.cleaned_to = step.end_offset
                break
        cleaning.discard()

    @rule(back=st.integers(0, 60))
    def truncate(self, back: int) -> None:
        end = self.log.truncate_to(max(self.stable, self.log.end_offset - back))
        self.stable = min(self.stable, end)  # the batch in which it lies went as a whole
        self.written = [record for record in self.written if record.offset < end]

    @rule(is_synced=st.booleans(), seed=st.integers(0, 99))
    def lose_power(self, is_synced: bool, seed: int) -> None:
        if is_synced:
            self.log.sync()
        point = self.log.recovery_point
        self.disk.crash(Unsynced.JOURNALED, random.Random(seed))
        self._open(clean=False, recovery_point=point)
        assert self.log.end_offset >= point
        self.stable = min(self.stable, self.log.end_offset)
        # As in Kafka, a segment that was not synced may be missing amid others: it looks like a
        # gap that compaction left.
        found = {record.offset for record in records_of(self.log)}
        self.written = [r for r in self.written if r.offset < point or r.offset in found]

    @rule()
    def stop_and_start(self) -> None:
        self.log.close(clean=True)
        self._open(clean=True, recovery_point=self.log.recovery_point)

    def _open(self, *, clean: bool, recovery_point: int) -> None:
        cleaned_to = self.log.cleaning.cleaned_to
        self.log = Log.open(
            self.disk,
            "/data/t-0",
            CONFIG,
            last_run(clean=clean, recovery_point=recovery_point, cleaned_to=cleaned_to),
        )

    @invariant()
    def what_is_left_is_what_was_written(self) -> None:
        by_offset = {record.offset: record for record in self.written}
        left = records_of(self.log)
        assert all(by_offset[record.offset] == record for record in left)
        assert all(a.offset < b.offset for a, b in pairwise(left))
        latest = {record.key: record for record in self.written}
        kept = {record.key: record for record in left}
        for key, record in latest.items():
            assert kept.get(key) == record or (record.value is None and key not in kept)

    @invariant()
    def every_offset_reads_the_same_or_a_later_record(self) -> None:
        ends = [header_of(batch).last_offset for batch in batches_of(self.log)]
        for offset in range(self.log.start_offset, self.log.end_offset, 3):
            found = self.log.read(offset, 1, up_to=self.log.end_offset)
            expected = next((end for end in ends if end >= offset), None)
            data = found.read()
            assert (header_of(data).last_offset if data else None) == expected


TestCompaction = CompactionMachine.TestCase
TestCompaction.settings = settings(max_examples=100, stateful_step_count=20, deadline=None)


def test_the_policy_may_change_and_change_back() -> None:
    disk = MemoryDisk()
    log = Log.open(disk, "/data/t-0", CONFIG)
    machine = CompactionMachine()
    machine.disk, machine.log = disk, log
    machine.put([(b"a", b"x" * 30), (b"b", b"y" * 30)], Codec.NONE, 12)
    machine.clean(keys=10, io_bytes=100, slices=1_000)
    log.reconfigure(replace(CONFIG, compacted=False, deleted=True))
    machine.put([(b"a", b"z")], Codec.NONE, 8)
    log.reconfigure(CONFIG)
    machine.clean(keys=10, io_bytes=100, slices=1_000)
    machine.what_is_left_is_what_was_written()
