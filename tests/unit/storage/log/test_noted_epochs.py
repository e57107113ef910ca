"""Leader epochs are as durable as the records that they tell of, and need no sync of their own."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from logquake.cluster.faults.power.unsynced import Unsynced
from logquake.storage.checkpoint_files import (
    LEADER_EPOCHS,
    DamagedCheckpointError,
    read_epochs,
    write_epochs,
)
from logquake.storage.log.log import Log
from tests.doubles.memory_disk import MemoryDisk

MakeBatch = Callable[..., memoryview]
POWER_LOSSES = (Unsynced.LOST, Unsynced.JOURNALED, Unsynced.SCATTERED)


@pytest.fixture
def disk() -> MemoryDisk:
    """With a log directory that is there to stay."""
    made = MemoryDisk()
    made.make_dirs("/data")
    made.sync_dir("/")
    return made


def begin_epoch(log: Log, epoch: int) -> None:
    """As a new leader does, before it wrote anything."""
    log.epochs.assign(epoch, log.written_end_offset)
    log.commit()


def append(log: Log, batch: memoryview, epoch: int) -> None:
    log.stage_as_leader(batch, epoch, 0)
    log.commit()


def test_an_epoch_is_begun_without_a_sync(disk: MemoryDisk, open_log: Callable[..., Log]) -> None:
    log = open_log()
    disk.faults.keep_history = True
    begin_epoch(log, 4)
    assert not [line for line in disk.faults.history if line.startswith("sync")]
    assert read_epochs(disk, f"{log.directory}/{LEADER_EPOCHS}") == [(4, 0)]


@pytest.mark.parametrize("loss", POWER_LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_epochs_are_synced_with_their_records(
    disk: MemoryDisk,
    open_log: Callable[..., Log],
    make_batch: MakeBatch,
    loss: Unsynced,
    seed: int,
) -> None:
    log = open_log()
    append(log, make_batch(2), 4)
    begin_epoch(log, 5)
    append(log, make_batch(2), 5)
    log.sync()
    begin_epoch(log, 6)
    disk.crash(loss, Random(seed))
    found = open_log(clean=False, recovery_point=4)
    assert found.epochs.entries[:2] == ((4, 0), (5, 2))


@pytest.mark.parametrize("loss", POWER_LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_epochs_that_were_not_synced_are_found_in_the_records_that_are_left(
    disk: MemoryDisk,
    open_log: Callable[..., Log],
    make_batch: MakeBatch,
    loss: Unsynced,
    seed: int,
) -> None:
    log = open_log()
    append(log, make_batch(2), 4)
    log.sync()
    append(log, make_batch(2), 5)
    disk.crash(loss, Random(seed))
    found = open_log(clean=False, recovery_point=2)
    assert found.epochs.entries == (((4, 0), (5, 2)) if found.end_offset == 4 else ((4, 0),))


def test_a_clean_stop_makes_them_durable(
    disk: MemoryDisk, open_log: Callable[..., Log], make_batch: MakeBatch
) -> None:
    log = open_log()
    append(log, make_batch(2), 4)
    log.close(clean=True)
    disk.crash(Unsynced.LOST, Random(0))
    assert open_log().epochs.entries == ((4, 0),)


def test_a_file_that_a_loss_of_power_cut_within_a_number_counts_as_damaged(
    disk: MemoryDisk,
) -> None:
    write_epochs(disk, "/f", [(4, 100)], synced=False)
    disk.open("/f").truncate(len(b"0\n1\n4 10"))
    with pytest.raises(DamagedCheckpointError):
        read_epochs(disk, "/f")
