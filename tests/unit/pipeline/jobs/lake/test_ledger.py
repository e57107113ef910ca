"""Which files of a lake count, wherever the job was killed."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from logquake.pipeline.jobs.lake.ledger import (
    Decision,
    LakeError,
    Ledger,
    Move,
    Step,
    opened,
    settled,
)
from logquake.pipeline.jobs.lake.state import Covered, LakeState
from logquake.wire.topic_partition import TopicPartition

PLACE = TopicPartition("orders", 0)
FOLDER = "topic=orders/date=2026-11-23/hour=13"


class Killed(BaseException):
    """In the place of kill -9: nothing of the job catches it."""


def batch(number: int) -> LakeState:
    return LakeState("raw", batch=number, partitions={PLACE: Covered(0, 2 * number, 2 * number)})


def names(root: Path) -> dict[str, str]:
    """All that readers see."""
    return {path.name: path.read_text() for path in root.glob(f"{FOLDER}/*")}


def put(ledger: Ledger, number: int, replaced: list[str] | None = None) -> None:
    """What a job does for a batch of two files, each time with other names of Spark's."""
    ledger.recover()
    staged = ledger.staging / FOLDER
    staged.mkdir(parents=True)
    moves = []
    for index in range(2):
        source = staged / f"part-{index}"
        source.write_text(f"{number}-{index}")
        target = f"{FOLDER}/{number}-{index}.parquet"
        moves.append(Move(str(source.relative_to(ledger.root)), target))
    ledger.put(Decision(batch(number), moves, replaced or []))


def killed_at(step: Step, times: int) -> Callable[[Step], None]:
    left = [times]

    def tell(told: Step) -> None:
        left[0] -= told is step
        if not left[0]:
            raise Killed

    return tell


def whole(*numbers: int) -> dict[str, str]:
    return {f"{each}-{index}.parquet": f"{each}-{index}" for each in numbers for index in range(2)}


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("step", list(Step))
def test_a_batch_counts_once_wherever_the_job_is_killed(
    tmp_path: Path, step: Step, times: int
) -> None:
    with opened(tmp_path) as ledger:
        put(ledger, 1)
    replaced = [f"{FOLDER}/1-{index}.parquet" for index in range(2)]
    with opened(tmp_path, killed_at(step, times)) as ledger:
        try:
            put(ledger, 2, replaced)
        except Killed:
            pass
        else:
            assert times == 2, "no such step"
            assert step in (Step.WRITTEN, Step.DECIDED, Step.COMMITTED)
    with opened(tmp_path) as ledger:
        state = ledger.recover()
        assert state in (batch(1), batch(2))
        if state == batch(1):
            put(ledger, 2, replaced)
        assert ledger.state() == batch(2)
    assert names(tmp_path) == whole(2)
    assert {path.name for path in (tmp_path / "_lake").iterdir()} == {"state.json", "lock"}


def test_before_it_is_decided_on_nothing_of_a_batch_is_seen(tmp_path: Path) -> None:
    with opened(tmp_path, killed_at(Step.WRITTEN, 1)) as ledger, pytest.raises(Killed):
        put(ledger, 1)
    with opened(tmp_path) as ledger:
        assert ledger.recover() is None
    assert names(tmp_path) == {}


def test_what_spark_still_writes_for_a_job_that_was_killed_is_no_part_of_the_next_ones_batch(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as ledger:
        killed = ledger.staging
    with opened(tmp_path) as ledger:
        ledger.recover()
        (killed / FOLDER).mkdir(parents=True)
        (killed / FOLDER / "part-9").write_text("a row that the next one writes too")
        assert not [*ledger.staging.rglob("part-*")]
        put(ledger, 1)
    assert names(tmp_path) == whole(1)
    assert {path.name for path in (tmp_path / "_lake").iterdir()} == {"state.json", "lock"}


@pytest.mark.parametrize("step", [Step.MOVED_ONE, Step.REMOVED_ONE])
def test_a_lake_whose_job_was_killed_amid_a_merge_is_read_with_each_row_once(
    tmp_path: Path, step: Step
) -> None:
    with opened(tmp_path) as ledger:
        put(ledger, 1)
    replaced = [f"{FOLDER}/1-{index}.parquet" for index in range(2)]
    with opened(tmp_path, killed_at(step, 1)) as ledger, pytest.raises(Killed):
        put(ledger, 2, replaced)
    assert {*names(tmp_path)} & {*whole(1)}, "the killed one was not through"
    with settled(tmp_path) as state:
        assert state == batch(2)
        assert names(tmp_path) == whole(2)
        with pytest.raises(LakeError, match="another job"), opened(tmp_path):
            pass


def test_what_is_no_lake_is_not_made_one_by_who_reads(tmp_path: Path) -> None:
    with pytest.raises(LakeError, match="is no lake"), settled(tmp_path / "typo"):
        pass
    assert not [*tmp_path.iterdir()]
    with opened(tmp_path):
        pass
    with pytest.raises(LakeError, match="nothing was ever committed"), settled(tmp_path):
        pass


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "_lake").write_text("no folder")
    with pytest.raises(LakeError, match="cannot be written to"), opened(tmp_path):
        pass


def test_one_job_at_a_time_writes(tmp_path: Path) -> None:
    with opened(tmp_path), pytest.raises(LakeError, match="another job"), opened(tmp_path):
        pass
    with opened(tmp_path):
        pass


def test_a_file_system_without_locks_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    with pytest.raises(LakeError, match=r"knows no locks.*No locks available"), opened(tmp_path):
        pass


@pytest.mark.parametrize("name", ["state.json", "pending.json"])
@pytest.mark.parametrize("text", ["", "{}", "[]", '{"partitions": {"orders": 7}}'])
def test_what_cannot_be_read_is_told_and_left_as_it_is(
    tmp_path: Path, name: str, text: str
) -> None:
    with opened(tmp_path) as ledger:
        (tmp_path / "_lake" / name).write_text(text)
        with pytest.raises(LakeError, match=name):
            ledger.recover()
    assert (tmp_path / "_lake" / name).read_text() == text


def test_a_file_that_was_decided_on_and_is_gone_is_told(tmp_path: Path) -> None:
    with opened(tmp_path, killed_at(Step.DECIDED, 1)) as ledger:
        with pytest.raises(Killed):
            put(ledger, 1)
        next(ledger.staging.rglob("part-1")).unlink()
    with opened(tmp_path) as ledger, pytest.raises(LakeError, match="part-1"):
        ledger.recover()


def test_new_folders_outlast_a_loss_of_power(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: set[Path] = set()
    monkeypatch.setattr(
        os, "fsync", lambda file: synced.add(Path(f"/proc/self/fd/{file}").readlink())
    )
    with opened(tmp_path) as ledger:
        put(ledger, 1)
    folder = tmp_path / FOLDER
    assert synced >= {folder, *folder.parents[:2], tmp_path}
