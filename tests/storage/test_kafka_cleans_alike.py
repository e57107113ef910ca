"""Kafka's own cleaner and ours, over the same logs: what they leave is the same.

Byte for byte where nothing is compressed, indexes of transactions included. Compressed batches are
compared by header and records: the codecs' libraries differ.

LOGQUAKE_KAFKA_LIBS names a folder with the jars of Kafka 3.9.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from logquake.storage.disk.real_disk import RealDisk
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.wire.records import Codec, Record, encode_batch
from tests.storage.compacting import (
    Producers,
    append,
    clean,
    header_of,
    records_in,
    stored_batches,
)

pytestmark = pytest.mark.maven
SOURCE = Path(__file__).with_name("java") / "CleanerOracle.java"
OPTIONS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
DELETE_RETENTION_MS = 10_000
CONFIG = LogConfig(
    compacted=True,
    segment_bytes=3_000,
    index_interval_bytes=300,
    delete_retention_ms=DELETE_RETENTION_MS,
)
TOPIC = (
    f"segment.bytes={CONFIG.segment_bytes}",
    f"index.interval.bytes={CONFIG.index_interval_bytes}",
    f"delete.retention.ms={DELETE_RETENTION_MS}",
)
KafkaClean = Callable[[Path, int, int], int]


@pytest.fixture(scope="module")
def kafka_clean() -> KafkaClean:
    """kafka_clean(folder, now_ms, first_dirty): Kafka cleans; where the clean part ends then."""
    libs = os.environ.get("LOGQUAKE_KAFKA_LIBS")
    if not libs:
        pytest.skip("LOGQUAKE_KAFKA_LIBS does not name a folder with Kafka's jars")
    java = shutil.which("java")
    if java is None:
        pytest.skip("no java on the path")

    def run(folder: Path, now_ms: int, first_dirty: int) -> int:
        command = [java, *OPTIONS, "-cp", f"{libs}/*", str(SOURCE), str(folder)]
        command += [str(now_ms), str(first_dirty), *TOPIC]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        return int(done.stdout.split()[-1])

    return run


def our_clean(folder: Path, now_ms: int, first_dirty: int) -> int:
    log = open_log(folder)
    log.cleaning.cleaned_to = first_dirty
    clean(log, now_ms)
    log.close(clean=True)
    return log.cleaning.cleaned_to


def open_log(folder: Path) -> Log:
    return Log.open(RealDisk(), str(folder), CONFIG)


def write(folders: list[Path], batches: list[bytes]) -> None:
    for folder in folders:
        log = open_log(folder)
        append(log, batches)
        log.close(clean=True)


def content(folder: Path, suffix: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob(f"*{suffix}")}


def comparable(batch: bytes) -> object:
    header = header_of(batch)
    if not header.is_compressed:
        return batch
    return header._replace(crc=0, batch_length=0), records_in(batch)


@pytest.mark.parametrize(
    ("seed", "codecs", "magics"),
    [
        (1, [Codec.NONE], (2,)),
        (2, list(Codec), (2,)),
        (3, list(Codec), (0, 1, 2)),
        (4, [Codec.NONE], (0, 1)),
    ],
)
def test_the_same_records_and_batches_are_left(
    seed: int, codecs: list[Codec], magics: tuple[int, ...], tmp_path: Path, kafka_clean: KafkaClean
) -> None:
    ours, kafkas = tmp_path / "ours" / "t-0", tmp_path / "kafkas" / "t-0"
    producers = Producers(random.Random(seed), codecs, magics)
    first_dirty = 0
    now_ms = producers.now_ms
    for _ in range(3):  # the second sets and the third passes the horizons of tombstones
        write([ours, kafkas], list(producers.batches(150)))
        now_ms += 2 * DELETE_RETENTION_MS
        size_before = sum(map(len, content(ours, ".log").values()))
        end = our_clean(ours, now_ms, first_dirty)
        assert kafka_clean(kafkas, now_ms, first_dirty) == end
        first_dirty = end
        logs, expected = content(ours, ".log"), content(kafkas, ".log")
        assert logs.keys() == expected.keys()
        for name in sorted(expected):
            left = [comparable(batch) for batch in stored_batches(ours / name)]
            assert left == [comparable(batch) for batch in stored_batches(kafkas / name)]
        assert content(ours, ".txnindex") == content(kafkas, ".txnindex")
        assert sum(map(len, logs.values())) < size_before


def test_an_empty_batch_keeps_its_time(tmp_path: Path, kafka_clean: KafkaClean) -> None:
    """DefaultRecordBatch.writeEmptyHeader: the largest time of the records that went stays in the
    header of a producer's last batch, and in the time index.
    """
    ours, kafkas = tmp_path / "ours" / "t-0", tmp_path / "kafkas" / "t-0"
    late, early = 1_700_000_009_000, 1_700_000_000_000

    def batch(offset: int, timestamp: int, size: int, **producer: Any) -> bytes:
        record = Record(offset, timestamp, b"key", b"v" * size)
        return bytes(encode_batch([record], base_offset=offset, leader_epoch=0, **producer))

    producer = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}
    batches = [batch(0, late, 10, **producer), batch(1, early, 10), batch(2, early, 2_900)]
    write([ours, kafkas], batches)
    now_ms = late + DELETE_RETENTION_MS
    assert our_clean(ours, now_ms, 0) == kafka_clean(kafkas, now_ms, 0)
    emptied = stored_batches(ours / f"{0:020d}.log")[0]
    header = header_of(emptied)
    assert (header.record_count, header.base_timestamp, header.max_timestamp) == (0, -1, late)
    for suffix in (".log", ".timeindex", ".index"):
        assert content(ours, suffix) == content(kafkas, suffix)
    assert content(ours, ".timeindex")[f"{0:020d}.timeindex"] == late.to_bytes(8, "big") + bytes(4)
