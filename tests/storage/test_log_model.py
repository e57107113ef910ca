"""The log against a list of batches, under any order of operations (Hypothesis)."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from logquake.storage.errors import OffsetOutOfRange
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.wire.records import Record, check_crc, encode_batch, iterate_batches, read_header
from tests.doubles.memory_disk import MemoryDisk, Unsynced
from tests.storage.last_run import last_run

CONFIG = LogConfig(segment_bytes=3_000, index_interval_bytes=150, index_max_bytes=600)


class Kept(NamedTuple):
    base_offset: int
    next_offset: int
    timestamps: list[int]
    data: bytes


class LogMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.disk = MemoryDisk()
        self.written: list[Kept] = []
        self.staged: list[Kept] = []
        self.start = 0
        self.epoch = 0

    @initialize()
    def create(self) -> None:
        self.log = Log.open(self.disk, "/t-0", CONFIG)

    @property
    def end(self) -> int:
        return self.written[-1].next_offset if self.written else self.start

    @rule(stamps=st.lists(st.integers(0, 500), min_size=1, max_size=8), size=st.integers(0, 300))
    def stage_as_leader(self, stamps: list[int], size: int) -> None:
        view = memoryview(encode_batch(self._records(stamps, size)))
        expected = self.staged[-1].next_offset if self.staged else self.end
        appended = self.log.stage_as_leader(view, self.epoch, 0)
        assert (appended.first_offset, appended.size) == (expected, len(view))
        assert appended.last_offset == expected + len(stamps) - 1
        self.staged.append(Kept(expected, appended.last_offset + 1, stamps, bytes(view)))

    @precondition(lambda self: not self.staged)
    @rule(counts=st.lists(st.integers(1, 5), min_size=1, max_size=5), cut=st.integers(0, 80))
    def append_as_follower(self, counts: list[int], cut: int) -> None:
        """A leader's answer: several batches, the last one perhaps incomplete."""
        batches = []
        offset = self.end
        for count in counts:
            records = self._records([offset % 500] * count, 20, offset)
            data = encode_batch(records, base_offset=offset, leader_epoch=self.epoch)
            batches.append(Kept(offset, offset + count, [offset % 500] * count, bytes(data)))
            offset += count
        whole = b"".join(batch.data for batch in batches)
        sent = whole[: len(whole) - cut]
        complete = batches if len(sent) == len(whole) else batches[:-1]
        appended = self.log.stage_as_follower(memoryview(sent))
        assert appended.size == sum(len(batch.data) for batch in complete)
        self.staged = complete
        self.commit()

    @rule()
    def commit(self) -> None:
        self.log.commit()
        self.written += self.staged
        self.staged = []

    @rule()
    def lead_in_a_new_epoch(self) -> None:
        self.epoch += 1

    @precondition(lambda self: not self.staged)
    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        offset = data.draw(st.integers(self.start, self.end + 2), label="offset")
        self.written = [batch for batch in self.written if batch.next_offset <= offset]
        assert self.log.truncate_to(offset) == self.end
        self.epoch += 1

    @precondition(lambda self: not self.staged)
    @rule(offset=st.integers(0, 5_000_000_000))
    def start_over(self, offset: int) -> None:
        self.log.truncate_fully_and_start_at(offset)
        self.written, self.start = [], offset

    @precondition(lambda self: not self.staged)
    @rule(clean=st.booleans(), recovery=st.booleans())
    def reopen(self, clean: bool, recovery: bool) -> None:
        if recovery:
            self.log.sync()
        point = self.log.recovery_point
        self.log.close(clean)
        if not clean:
            self.disk.crash(Unsynced.KEPT)
        self.log = Log.open(
            self.disk,
            "/t-0",
            CONFIG,
            last_run(clean=clean, recovery_point=point, log_start_offset=self.start),
        )
        assert self.log.recovery.truncated_bytes == 0

    @precondition(lambda self: self.written)
    @rule(data=st.data(), max_bytes=st.integers(1, 5_000), min_one=st.booleans())
    def read(self, data: st.DataObject, max_bytes: int, min_one: bool) -> None:
        offset = data.draw(st.integers(self.start, self.end), label="offset")
        up_to = data.draw(st.integers(self.start, self.end + 3), label="up_to")
        piece = self.log.read(offset, max_bytes, up_to=up_to, min_one_batch=min_one)
        readable = [
            batch
            for batch in self.written
            if batch.next_offset > offset and batch.next_offset <= up_to
        ]
        content = memoryview(piece.read())
        assert len(content) == len(piece)
        if not readable or (not min_one and len(readable[0].data) > max_bytes):
            assert len(piece) == 0
            return
        first_size = len(readable[0].data)
        assert piece.first_offset == readable[0].base_offset
        assert first_size <= len(piece) <= max(max_bytes, first_size)
        expected = b"".join(batch.data for batch in readable)
        assert content == expected[: len(content)]

    @precondition(lambda self: self.written)
    @rule(data=st.data())
    def look_up_a_time(self, data: st.DataObject) -> None:
        wanted = data.draw(st.integers(0, 501), label="timestamp")
        found = self.log.offset_for_time(wanted)
        stamps = [
            (stamp, batch.base_offset + index)
            for batch in self.written
            for index, stamp in enumerate(batch.timestamps)
        ]
        at_or_after = [(stamp, offset) for stamp, offset in stamps if stamp >= wanted]
        assert found == (at_or_after[0] if at_or_after else None)
        latest = max(stamp for stamp, _ in stamps)
        assert self.log.offset_of_max_timestamp() in [
            (stamp, offset) for stamp, offset in stamps if stamp == latest
        ]

    @rule(beyond=st.integers(1, 10))
    def read_outside(self, beyond: int) -> None:
        with pytest.raises(OffsetOutOfRange):
            self.log.read(self.log.end_offset + beyond, 1, up_to=0)
        with pytest.raises(OffsetOutOfRange):
            self.log.read(self.start - beyond, 1, up_to=0)

    @invariant()
    def ends_match(self) -> None:
        if not hasattr(self, "log"):
            return
        assert self.log.start_offset == self.start
        assert self.log.written_end_offset == self.end
        assert self.log.size == sum(len(batch.data) for batch in self.written)

    @invariant()
    def every_batch_is_there(self) -> None:
        if not hasattr(self, "log"):
            return
        offsets = [header.base_offset for header in self.log.headers(self.start)]
        assert offsets == [batch.base_offset for batch in self.written]
        epochs = self.log.epochs.entries
        assert all(
            a.epoch < b.epoch and a.start_offset < b.start_offset for a, b in pairwise(epochs)
        )

    def teardown(self) -> None:
        if not hasattr(self, "log") or not self.written:
            return
        data = b"".join(batch.data for batch in self.written)
        for position, header in iterate_batches(memoryview(data)):
            check_crc(memoryview(data), position, header)
            assert read_header(memoryview(data), position) == header

    @staticmethod
    def _records(stamps: list[int], size: int, base: int = 0) -> list[Record]:
        return [Record(base + i, stamp, b"k", b"v" * size) for i, stamp in enumerate(stamps)]


LogMachine.TestCase.settings = settings(
    max_examples=120, stateful_step_count=40, deadline=None, derandomize=False
)
TestLogAgainstAList = LogMachine.TestCase
