"""A small log directory on a real disk, sound, and a way to verify what was made of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from logquake.storage.dirs.log_dir import LogDir, LogDirOptions
from logquake.storage.dirs.opening import open_log_dir
from logquake.storage.disk.read_only_disk import ReadOnlyDisk
from logquake.storage.disk.real_disk import RealDisk
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.storage.verify import Report, Verification
from logquake.wire.records import BatchFlag, Codec, ControlType, Record, encode_batch
from logquake.wire.records import encode_end_marker as end_marker
from logquake.wire.topic_partition import TopicPartition

CONFIG = LogConfig(segment_bytes=2_000, index_interval_bytes=200, transactions_verified=False)
OPTIONS = LogDirOptions(1, "cluster", 0, lambda _: CONFIG)
BATCHES = 45
RECORDS_A_BATCH = 3
PRODUCER, ABORTER = 7, 8

Verify = Callable[..., Report]


@pytest.fixture(scope="session")
def _stopped_in_order(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "data"
    log_dir = _filled(path)
    log_dir.close(clean=True)
    return path


@pytest.fixture(scope="session")
def _killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("killed") / "data"
    log_dir = _filled(path)
    log_dir.close(clean=False)
    return path


@pytest.fixture
def log_dir(_stopped_in_order: Path, tmp_path: Path) -> Path:
    """orders-0 of several segments, two epochs, an idempotent producer, an aborted transaction;
    plain-0 without any of it; stopped in order."""
    return Path(shutil.copytree(_stopped_in_order, tmp_path / "data"))


@pytest.fixture
def killed(_killed: Path, tmp_path: Path) -> Path:
    """The same after SIGKILL."""
    return Path(shutil.copytree(_killed, tmp_path / "killed"))


@pytest.fixture
def verify() -> Verify:
    def run(*paths: Path, compacted: tuple[str, ...] = ()) -> Report:
        verification = Verification(ReadOnlyDisk(), compacted_topics=compacted)
        return verification.run([str(path) for path in paths])

    return run


def _filled(path: Path) -> LogDir:
    log_dir = open_log_dir(RealDisk(), str(path), OPTIONS)
    orders = log_dir.create_log("orders", 0, b"o" * 16, CONFIG)
    for number in range(BATCHES):
        _write(orders, number)
    plain = log_dir.create_log("plain", 0, b"p" * 16, CONFIG)
    for number in range(BATCHES):
        _append(plain, number, Codec.NONE)
    log_dir.offsets.write_high_watermarks(
        {
            TopicPartition("orders", 0): orders.end_offset,
            TopicPartition("plain", 0): plain.end_offset,
        }
    )
    return log_dir


def _write(log: Log, number: int) -> None:
    epoch = 0 if number < 20 else 3
    if number % 5 == 2:
        _append_of_producer(log, ABORTER, number // 5, epoch, BatchFlag.TRANSACTIONAL)
    elif number % 5 == 4:
        kind = ControlType.ABORT if number % 2 else ControlType.COMMIT
        marker = end_marker(
            kind,
            coordinator_epoch=0,
            producer_id=ABORTER,
            producer_epoch=0,
            timestamp_ms=number,
        )
        log.stage_as_leader(memoryview(marker), epoch, 0, internal=True)
        log.commit()
    elif number % 5 == 0:
        _append_of_producer(log, PRODUCER, number // 5, epoch, 0)
    else:
        _append(log, number, tuple(Codec)[number % len(Codec)], epoch)


def _append_of_producer(log: Log, producer_id: int, turn: int, epoch: int, flags: int) -> None:
    _stage(
        log,
        turn,
        epoch,
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=turn * RECORDS_A_BATCH,
        flags=flags,
    )


def _append(log: Log, number: int, codec: Codec, epoch: int = 0) -> None:
    _stage(log, number, epoch, codec=codec)


def _stage(log: Log, number: int, epoch: int, *, codec: Codec = Codec.NONE, **header: int) -> None:
    records = [
        Record(index, 1_000 * number + index, b"k", b"v" * 20) for index in range(RECORDS_A_BATCH)
    ]
    log.stage_as_leader(memoryview(encode_batch(records, codec=codec, **header)), epoch, 0)
    log.commit()
