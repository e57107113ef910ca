"""What a start makes of a log whose files a disk has lost, or kept a part of.

Where we do other than Kafka, no log of Kafka's is beside ours, and it is said what Kafka does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from logquake.storage.log_config import LogConfig
from tests.storage.lone_log import START_MS, LoneLog

Begin = Callable[..., LoneLog]
MakeBatch = Callable[..., bytes]


@pytest.fixture(params=[True, False], ids=["stopped", "crashed"])
def stopped(request: pytest.FixtureRequest) -> bool:
    """Whether it was stopped in order."""
    return bool(request.param)


@pytest.fixture
def four(begin: Begin, batch: MakeBatch, stopped: bool) -> LoneLog:
    return filled(begin(segment_bytes=len(batch(START_MS, pid=7, sequence=0))), batch, stopped)


@pytest.fixture
def ours(tmp_path: Path, batch: MakeBatch, stopped: bool) -> Iterator[LoneLog]:
    size = len(batch(START_MS, pid=7, sequence=0))
    log = LoneLog(tmp_path, LogConfig(segment_bytes=size, index_interval_bytes=1))
    yield filled(log, batch, stopped)
    log.close()


def filled(log: LoneLog, batch: MakeBatch, stopped: bool) -> LoneLog:
    """Four segments of a batch each of an idempotent producer's, in an epoch each."""
    for sequence in range(4):
        log.lead(sequence)
        log.produce(batch(START_MS + sequence, pid=7, sequence=sequence), sequence)
    if stopped:
        log.close()
    else:
        log.crash()
    return log


def lose(log: LoneLog, *patterns: str) -> None:
    lost = [path.name for pattern in patterns for path in log.ours.glob(pattern)]
    assert lost
    for name in lost:
        log.remove(name)


def appends_after_it(log: LoneLog, batch: MakeBatch) -> bool:
    """Whether the producer is known well enough to go on where it was."""
    log.lead(9)
    return log.accepts(batch(START_MS + 4, pid=7, sequence=4), 9)


def test_lost_indexes_are_built_anew(four: LoneLog, batch: MakeBatch, stopped: bool) -> None:
    """LogLoader.loadSegmentFiles."""
    lose(four, "*.index")
    four.open(clean=stopped)
    four.compare()
    assert (four.log.start_offset, four.log.end_offset) == (0, 4)
    assert four.offset_for_time(START_MS + 1) == (START_MS + 1, 1)
    assert appends_after_it(four, batch)


def test_without_time_indexes_times_are_found_by_scanning(ours: LoneLog, stopped: bool) -> None:
    """Kafka makes empty ones at once after a stop in order; after a crash both build them anew."""
    lose(ours, "*.timeindex")
    ours.open(clean=stopped)
    assert ours.offset_for_time(START_MS + 1) == (START_MS + 1, 1)


def test_a_lost_segment_leaves_a_gap_after_a_stop_and_ends_the_log_after_a_crash(
    ours: LoneLog, batch: MakeBatch, stopped: bool
) -> None:
    """LogLoader.load asks nobody whether segments follow one another. After a crash Kafka keeps the
    gap too; ours ends there, since what lies behind may not belong to it.
    """
    lose(ours, f"{1:020}.*")
    ours.open(clean=stopped)
    assert (ours.log.start_offset, ours.log.end_offset) == (0, 4 if stopped else 1)
    assert ours.files(".log") == ([0, 2, 3] if stopped else [0])
    if stopped:
        assert ours.log.read(1, 1_000, up_to=4).first_offset == 2
        assert appends_after_it(ours, batch)


def test_without_its_last_segment_a_log_ends_earlier(four: LoneLog, stopped: bool) -> None:
    """Its epoch goes too: who asks where that ended is told where this log ends."""
    lose(four, f"{3:020}.*")
    four.open(clean=stopped)
    four.compare()
    assert (four.log.start_offset, four.log.end_offset) == (0, 3)
    assert four.epoch_end(3) == (-1, -1)


def test_without_any_segment_a_log_begins_anew(four: LoneLog, stopped: bool) -> None:
    lose(four, "*.log")
    four.open(clean=stopped)
    four.compare()
    assert (four.log.start_offset, four.log.end_offset) == (0, 0)


def test_a_cut_segment_ends_the_log(ours: LoneLog, batch: MakeBatch, stopped: bool) -> None:
    """After a stop in order Kafka leaves the torn batch where it is, and appends behind it."""
    size = (ours.ours / f"{2:020}.log").stat().st_size
    ours.extend(f"{3:020}.log", -1)
    ours.open(clean=stopped)
    assert ours.log.end_offset == 3
    ours.lead(9)
    ours.produce(batch(START_MS, pid=7, sequence=3), 9)
    assert (ours.ours / f"{3:020}.log").stat().st_size == size


def test_an_old_segment_that_was_cut_ends_the_log_after_a_crash(
    four: LoneLog, stopped: bool
) -> None:
    """LogLoader.recoverLog: what comes behind goes. A stop in order is trusted."""
    four.extend(f"{1:020}.log", -1)
    four.open(clean=stopped)
    assert four.log.end_offset == (4 if stopped else 1)


def test_lost_epochs_are_found_in_the_batches(ours: LoneLog, stopped: bool) -> None:
    """LogSegment.recover; after a stop in order Kafka has none until it leads anew."""
    lose(ours, "leader-epoch-checkpoint")
    ours.open(clean=stopped)
    assert ours.epoch_end(1) == (1, 2)


def test_a_producer_whose_snapshots_are_lost_is_found_in_the_batches(
    ours: LoneLog, batch: MakeBatch, stopped: bool
) -> None:
    """After a stop in order Kafka forgets all producers (UnifiedLog.rebuildProducerState)."""
    lose(ours, "*.snapshot")
    ours.open(clean=stopped)
    ours.lead(9)
    assert not ours.accepts(batch(START_MS + 4, pid=7, sequence=5), 9)
    assert appends_after_it(ours, batch)
