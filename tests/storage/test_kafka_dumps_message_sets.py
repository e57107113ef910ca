"""Kafka's own DumpLogSegments reads a log of message sets and batches, and its indexes.

LOGQUAKE_KAFKA_LIBS names a folder with the jars of Kafka 3.9.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from logquake.storage.disk.real_disk import RealDisk
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.wire.records import Codec, Record, encode_batch, encode_message_set
from tests.storage.kafka_dump import dump

pytestmark = pytest.mark.maven
CONFIG = LogConfig(segment_bytes=20_000, index_interval_bytes=200)
T = 1_700_000_000_000


def entries(first: int, kind: int) -> bytes:
    """Ten records, as one of the nine kinds there are (eight of message sets, and a batch)."""
    records = [Record(at, T + at, b"k%d" % at, b"v" * 20) for at in range(first, first + 10)]
    if kind == 8:
        return bytes(encode_batch(records, base_offset=first, leader_epoch=2))
    codec = (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4)[kind % 4]
    return encode_message_set(records, kind // 4, codec=codec)


def test_every_record_is_valid_and_found_by_the_indexes(tmp_path: Path) -> None:
    folder = tmp_path / "t-0"
    log = Log.open(RealDisk(), str(folder), CONFIG)
    for number in range(150):
        log.stage_as_follower(memoryview(bytearray(entries(10 * number, number % 9))))
        log.commit()
    log.close(clean=True)
    logs = sorted(folder.glob("*.log"))
    assert len(logs) > 2
    report = dump(logs, "--deep-iteration")
    # An entry that is not compressed is listed twice: as a batch of one, and as its record.
    offsets = {int(found) for found in re.findall(r"^\| offset: (\d+) ", report, re.MULTILINE)}
    assert offsets == set(range(1500))
    assert "isvalid: false" not in report
    assert {"magic: 0", "magic: 1", "magic: 2"} <= set(re.findall(r"magic: \d", report))
    indexes = [*folder.glob("*.index"), *folder.glob("*.timeindex")]
    checked = dump(indexes)
    assert "Mismatches" not in checked
    assert "out of order" not in checked.lower()
    assert len(re.findall(r"offset: \d+ position: \d+", checked)) > 10
