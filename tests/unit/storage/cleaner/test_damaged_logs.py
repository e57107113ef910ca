"""A cleaner that meets damage is told so: it is no fault of the disk."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.storage.segments.batch_walk import DamagedBatchError
from tests.doubles.memory_disk import MemoryDisk

OpenLog = Callable[..., Log]
MakeBatch = Callable[..., memoryview]
CONFIG = LogConfig(segment_bytes=500, compacted=True, min_compaction_lag_ms=1)


def test_damage_that_is_met_while_a_log_is_assessed_is_not_the_disks(
    disk: MemoryDisk, directory: str, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log(CONFIG)
    for number in range(30):
        log.stage_as_leader(make_batch(1, 100, timestamp_ms=number), 0, 0)
    log.commit()
    log.close(clean=True)
    disk.open(f"{directory}/{0:020d}.log").pwritev([b"\xff"], 8)
    with pytest.raises(DamagedBatchError):
        open_log(CONFIG).cleaning.assess(30, 1_000)
