"""The record of what is not synced: what it keeps, and what it makes of a kill -9."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from logquake.cluster.faults.power.record import Record
from logquake.cluster.faults.power.recorded_disk import RecordedDisk
from logquake.cluster.faults.power.taking_back import TakenBack, take_back
from logquake.cluster.faults.power.unsynced import Unsynced
from logquake.storage.disk.real_disk import RealDisk

PAGE = 8
OLD, NEW = b"o" * 3 * PAGE, b"n" * 3 * PAGE


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_bytes(OLD)
    with closing(Record(tmp_path / "record", page_bytes=PAGE)) as made:
        yield made


@pytest.fixture
def disk(record: Record) -> RecordedDisk:
    return RecordedDisk(RealDisk(), record)


def lose_power(folder: Path) -> TakenBack:
    return take_back(folder / "record", Unsynced.LOST, 0, page_bytes=PAGE)


def test_what_was_taken_back_is_told(disk: RecordedDisk, tmp_path: Path) -> None:
    disk.open(f"{tmp_path}/d/f").pwritev([NEW, NEW], 0)
    disk.open(f"{tmp_path}/d/g", create=True)
    assert lose_power(tmp_path) == TakenBack(files=1, bytes=3 * PAGE, names=1, written_back=0)
    assert (tmp_path / "d" / "f").read_bytes() == OLD
    assert not (tmp_path / "record").exists()


def test_a_page_that_changes_during_a_sync_is_as_it_was_when_that_began(
    disk: RecordedDisk, record: Record, tmp_path: Path
) -> None:
    path = f"{tmp_path}/d/f"
    file, content = disk.open(path), record.file(path)
    file.pwritev([b"1" * PAGE], 0)
    sync = record.begin_sync(content, file.size())
    file.pwritev([b"2" * PAGE], 0)
    record.end_sync(content, sync)
    lose_power(tmp_path)
    assert Path(path).read_bytes() == b"1" * PAGE + OLD[PAGE:]


def test_a_sync_that_did_not_end_covers_nothing(
    disk: RecordedDisk, record: Record, tmp_path: Path
) -> None:
    path = f"{tmp_path}/d/f"
    file = disk.open(path)
    file.pwritev([b"1" * PAGE], 0)
    record.begin_sync(record.file(path), file.size())
    file.pwritev([NEW], 0)
    lose_power(tmp_path)
    assert Path(path).read_bytes() == OLD


def test_beyond_its_bound_everything_counts_as_written(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_bytes(bytes(range(256)) * 16)
    record = Record(tmp_path / "record", page_bytes=PAGE, max_bytes=4096)
    with closing(record):
        disk = RecordedDisk(RealDisk(), record)
        file = disk.open(f"{tmp_path}/d/f")
        file.pwritev([b"x" * 4096], 0)
        assert record.written_back > 0
        disk.remove(f"{tmp_path}/d/f")
    taken_back = lose_power(tmp_path)
    assert taken_back.written_back == record.written_back
    assert (tmp_path / "d" / "f").read_bytes().startswith(b"x" * PAGE)


def test_an_entry_that_was_cut_off_is_none(
    disk: RecordedDisk, record: Record, tmp_path: Path
) -> None:
    disk.open(f"{tmp_path}/d/f").pwritev([NEW], 0)
    disk.open(f"{tmp_path}/d/g", create=True)
    record.close()
    changes = tmp_path / "record" / "changes"
    changes.write_bytes(changes.read_bytes()[:-3])
    with closing(Record(tmp_path / "record", page_bytes=PAGE)) as next_record:
        RecordedDisk(RealDisk(), next_record).open(f"{tmp_path}/d/h", create=True)
    lose_power(tmp_path)
    assert (tmp_path / "d" / "f").read_bytes() == OLD
    assert not (tmp_path / "d" / "h").exists()


def test_a_removal_that_was_only_written_down_is_made_at_the_next_start(
    disk: RecordedDisk, record: Record, tmp_path: Path
) -> None:
    path = tmp_path / "d" / "f"
    disk.remove(str(path))
    record.close()
    (aside,) = (tmp_path / "record" / "aside").iterdir()
    aside.rename(path)  # as if the process had ended before
    with closing(Record(tmp_path / "record", page_bytes=PAGE)):
        assert not path.exists()
    lose_power(tmp_path)
    assert path.read_bytes() == OLD


def test_what_was_removed_for_good_takes_no_space(
    disk: RecordedDisk, record: Record, tmp_path: Path
) -> None:
    disk.remove(f"{tmp_path}/d/f")
    assert list((tmp_path / "record" / "aside").iterdir())
    disk.sync_dir(f"{tmp_path}/d")
    assert not list((tmp_path / "record" / "aside").iterdir())
    record.close()
    lose_power(tmp_path)
    assert not (tmp_path / "d" / "f").exists()


def test_a_file_that_was_lost_meanwhile_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_bytes(OLD)
    with closing(Record(tmp_path / "record", max_bytes=PAGE, page_bytes=PAGE)) as record:
        disk = RecordedDisk(RealDisk(), record)
        disk.open(f"{tmp_path}/d/lost", create=True)
        (tmp_path / "d" / "lost").unlink()
        disk.open(f"{tmp_path}/d/f").pwritev([NEW], 0)
        assert record.written_back > 0
    assert lose_power(tmp_path).names == 0
    assert not (tmp_path / "d" / "lost").exists()


def test_a_file_that_was_lost_after_it_took_the_place_of_another_keeps_no_start_from_it(
    disk: RecordedDisk, record: Record, tmp_path: Path
) -> None:
    disk.open(f"{tmp_path}/d/g", create=True)
    disk.rename(f"{tmp_path}/d/g", f"{tmp_path}/d/f")
    record.close()
    (tmp_path / "d" / "f").unlink()
    with closing(Record(tmp_path / "record", page_bytes=PAGE)):
        assert not (tmp_path / "d" / "f").exists()
