"""Kafka's own DumpLogSegments reads a log that was compacted here, in every codec.

LOGQUAKE_KAFKA_LIBS names a folder with the jars of Kafka 3.9.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from logquake.storage.disk.real_disk import RealDisk
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.wire.records import Codec
from tests.storage.compacting import Producers, append, clean, records_of
from tests.storage.kafka_dump import dump

pytestmark = pytest.mark.maven
CONFIG = LogConfig(compacted=True, segment_bytes=8_000, index_interval_bytes=200)


@pytest.mark.parametrize("codec", list(Codec))
def test_records_are_valid_and_indexes_agree_with_them(codec: Codec, tmp_path: Path) -> None:
    folder = tmp_path / "t-0"
    log = Log.open(RealDisk(), str(folder), CONFIG)
    producers = Producers(random.Random(codec), [codec])
    for _ in range(2):
        append(log, producers.batches(200))
        before = log.size
        clean(log, producers.now_ms)
        assert log.size < before
    left = [record.offset for record in records_of(log)]
    log.close(clean=True)
    logs = sorted(folder.glob("*.log"))
    report = dump(logs, "--deep-iteration")
    assert [int(found) for found in re.findall(r"^\| offset: (\d+) ", report, re.M)] == left
    assert "isvalid: false" not in report
    assert "deleteHorizonMs: " in report
    indexes = [*folder.glob("*.index"), *folder.glob("*.timeindex")]
    checked = dump(indexes)
    assert "Mismatches" not in checked
    assert "out of order" not in checked.lower()
    assert len(re.findall(r"offset: \d+ position: \d+", checked)) > 3
    verdicts = re.findall(r"passed sanity check|is empty\.", dump(indexes, "--index-sanity-check"))
    assert len(verdicts) == len(indexes)
