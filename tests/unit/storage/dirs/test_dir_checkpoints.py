"""Checkpoints that are begun on one thread and written on another."""

from __future__ import annotations

import errno

import pytest

from logquake.storage.checkpoint_files import HIGH_WATERMARKS
from logquake.storage.dirs.checkpoints import DirCheckpoints
from logquake.storage.errors import StorageError
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.memory_disk import MemoryDisk

KEY = TopicPartition("orders", 0)


@pytest.fixture
def checkpoints(disk: MemoryDisk) -> DirCheckpoints:
    disk.make_dirs("/data")
    return DirCheckpoints(disk, "/data")


def on_disk(checkpoints: DirCheckpoints) -> int | None:
    return checkpoints.read(HIGH_WATERMARKS).get(KEY)


def test_what_was_begun_is_written_when_it_runs(checkpoints: DirCheckpoints) -> None:
    offsets = {KEY: 1}
    pending = checkpoints.begin(HIGH_WATERMARKS, offsets)
    offsets[KEY] = 2
    assert on_disk(checkpoints) is None
    assert pending is not None
    pending.run()
    assert on_disk(checkpoints) == 1


def test_what_is_there_is_not_begun_again(checkpoints: DirCheckpoints) -> None:
    checkpoints.write(HIGH_WATERMARKS, {KEY: 1})
    assert checkpoints.begin(HIGH_WATERMARKS, {KEY: 1}) is None


def test_an_older_content_never_replaces_a_newer_one(checkpoints: DirCheckpoints) -> None:
    older = checkpoints.begin(HIGH_WATERMARKS, {KEY: 1})
    checkpoints.write(HIGH_WATERMARKS, {KEY: 0})
    assert older is not None
    older.run()
    assert on_disk(checkpoints) == 0


def test_a_write_at_once_does_not_rely_on_one_that_is_under_way(
    checkpoints: DirCheckpoints,
) -> None:
    checkpoints.begin(HIGH_WATERMARKS, {KEY: 1})
    checkpoints.write(HIGH_WATERMARKS, {KEY: 1})
    assert on_disk(checkpoints) == 1


def test_what_failed_is_begun_again(disk: MemoryDisk, checkpoints: DirCheckpoints) -> None:
    pending = checkpoints.begin(HIGH_WATERMARKS, {KEY: 1})
    assert pending is not None
    disk.fail_at(1, OSError(errno.EIO, "broken"))
    with pytest.raises(StorageError):
        pending.run()
    again = checkpoints.begin(HIGH_WATERMARKS, {KEY: 1})
    assert again is not None
    again.run()
    assert on_disk(checkpoints) == 1


class TestCollectedBitByBit:
    def test_what_was_collected_is_written_when_it_runs(self, checkpoints: DirCheckpoints) -> None:
        offsets: list[tuple[TopicPartition, int | None]]
        offsets = [(KEY, 1), (TopicPartition("orders", 1), None)]
        collected = checkpoints.collect(HIGH_WATERMARKS, iter(offsets))
        assert collected.collect(2)
        assert not collected.collect(2)
        pending = collected.finish()
        assert pending is not None
        pending.run()
        assert checkpoints.read(HIGH_WATERMARKS) == {KEY: 1}

    def test_what_is_there_is_not_written_again(self, checkpoints: DirCheckpoints) -> None:
        checkpoints.write(HIGH_WATERMARKS, {KEY: 1})
        for _ in range(2):
            collected = checkpoints.collect(HIGH_WATERMARKS, iter([(KEY, 1)]))
            collected.collect(1)
            assert collected.finish() is None
        assert checkpoints.begin(HIGH_WATERMARKS, {KEY: 1}) is None

    @pytest.mark.parametrize("before", [0, 7])
    def test_what_had_to_be_written_meanwhile_stays(
        self, checkpoints: DirCheckpoints, before: int
    ) -> None:
        """Also where the file said the very same before, and nothing is written."""
        checkpoints.write(HIGH_WATERMARKS, {KEY: before})
        collected = checkpoints.collect(HIGH_WATERMARKS, iter([(KEY, 9)]))
        collected.collect(1)
        checkpoints.write(HIGH_WATERMARKS, {KEY: 0})  # it fell, after it was looked at
        assert collected.finish() is None
        assert on_disk(checkpoints) == 0

    def test_what_is_begun_after_it_outruns_it(self, checkpoints: DirCheckpoints) -> None:
        collected = checkpoints.collect(HIGH_WATERMARKS, iter([(KEY, 9)]))
        collected.collect(1)
        pending = collected.finish()
        checkpoints.write(HIGH_WATERMARKS, {KEY: 0})
        assert pending is not None
        pending.run()
        assert on_disk(checkpoints) == 0
