"""Kafka's own DumpLogSegments reads what is written here: log, indexes, snapshot.

LOGQUAKE_KAFKA_LIBS names a folder with the jars of Kafka 3.9 (kafka_2.13, kafka-tools and what
they depend on, from Maven Central).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from logquake.storage.disk.real_disk import RealDisk
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from tests.storage.kafka_dump import dump

pytestmark = pytest.mark.maven
CONFIG = LogConfig(segment_bytes=60_000, index_interval_bytes=4096)
BATCHES = 400


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, make_batch: Callable[..., memoryview]) -> Path:
    directory = tmp_path_factory.mktemp("data") / "t-0"
    log = Log.open(RealDisk(), str(directory), CONFIG)
    for number in range(BATCHES):
        sequence = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 10 * number}
        batch = make_batch(10, "x" * 30, 1_000 * number, **sequence)
        log.stage_as_leader(batch, number // 100, 0)
        if number % 7 == 0:
            log.commit()
    log.commit()
    log.close(clean=True)
    return directory


def files(folder: Path, suffix: str) -> list[Path]:
    return sorted(folder.glob(f"*{suffix}"))


def test_every_record_is_there_and_valid(folder: Path) -> None:
    logs = files(folder, ".log")
    assert len(logs) > 2
    report = dump(logs, "--deep-iteration")
    offsets = [int(found) for found in re.findall(r"^\| offset: (\d+) ", report, re.MULTILINE)]
    assert offsets == list(range(10 * BATCHES))
    assert "isvalid: false" not in report
    epochs = re.findall(r"partitionLeaderEpoch: (\d+)", report)
    assert [int(epoch) for epoch in epochs] == [number // 100 for number in range(BATCHES)]


def test_the_indexes_agree_with_the_log(folder: Path) -> None:
    indexes = files(folder, ".index") + files(folder, ".timeindex")
    report = dump(indexes, "--index-sanity-check")
    assert report.count("passed sanity check") == len(indexes)
    # Without that option mismatches between index and log are found and listed.
    full = dump(indexes)
    assert "Mismatches" not in full
    assert "out of order" not in full.lower()
    assert len(re.findall(r"offset: \d+ position: \d+", full)) > 10
    assert len(re.findall(r"timestamp: \d+ offset: \d+", full)) > 10


def test_the_producer_snapshot_is_read(folder: Path) -> None:
    report = dump(files(folder, ".snapshot")[-1:])
    assert "producerId: 7 producerEpoch: 0" in report
    assert f"lastSequence: {10 * BATCHES - 1}" in report.replace("lastSeq:", "lastSequence:")
