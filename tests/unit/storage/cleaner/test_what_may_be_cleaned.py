from __future__ import annotations

from collections.abc import Callable

from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig

CONFIG = LogConfig(segment_bytes=400, index_interval_bytes=100, compacted=True, deleted=False)


def test_what_is_not_synced_is_not_compacted(
    open_log: Callable[..., Log], make_batch: Callable[..., memoryview]
) -> None:
    """Else a loss of power could take a key's newer record after the older one was cleaned away."""
    log = open_log(CONFIG)
    for number in range(12):
        log.stage_as_leader(make_batch(2, timestamp_ms=number), 0, 0)
    log.commit()
    assert log.cleaning.assess(log.end_offset, 0).first_uncleanable == 0
    pending = log.begin_sync(rolled_only=True)
    pending.run()
    log.finish_sync(pending)
    to_clean = log.cleaning.assess(log.end_offset, 0)
    assert 0 < to_clean.first_uncleanable == log.recovery_point < log.end_offset
