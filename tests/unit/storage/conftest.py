"""Logs and batches for the unit tests of storage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from logquake.storage.log.log import Log
from logquake.storage.log.opening import ALONE, OpeningTerms
from logquake.storage.log_config import LogConfig
from logquake.wire.records import Record, encode_batch
from tests.doubles.memory_disk import MemoryDisk
from tests.storage.last_run import last_run

DIRECTORY = "/data/t-0"


@pytest.fixture
def disk() -> MemoryDisk:
    return MemoryDisk()


@pytest.fixture(scope="session")
def make_batch() -> Callable[..., memoryview]:
    """make_batch(count, size, timestamp, key=, base_offset=, **header fields)."""

    def make(
        count: int = 1,
        size: int = 10,
        timestamp_ms: int = 1_000,
        key: bytes | None = b"k",
        **header: Any,
    ) -> memoryview:
        base_offset = header.get("base_offset", 0)
        records = [
            Record(base_offset + index, timestamp_ms + index, key, b"v" * size)
            for index in range(count)
        ]
        return memoryview(encode_batch(records, **header))

    return make


@pytest.fixture
def open_log(disk: MemoryDisk) -> Callable[..., Log]:
    """open_log(config, clean=, what else last_run() takes) of the one log on the disk."""

    def open_it(
        config: LogConfig | None = None,
        terms: OpeningTerms = ALONE,
        *,
        clean: bool = True,
        **left: Any,
    ) -> Log:
        run = last_run(clean=clean, **left)
        return Log.open(disk, DIRECTORY, config or LogConfig(), run, terms)

    return open_it


@pytest.fixture
def directory() -> str:
    return DIRECTORY
