"""Batches for the tests of storage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from logquake.wire.records import Record, encode_batch

MakeBatch = Callable[..., memoryview]


@pytest.fixture(scope="session")
def make_batch() -> MakeBatch:
    """make_batch(count, tag, timestamp, **header fields): a batch as a producer sends it."""

    def make(count: int = 1, tag: str = "", timestamp_ms: int = 1_000, **header: Any) -> memoryview:
        records = [
            Record(index, timestamp_ms + index, b"key", f"{tag}/{index}".encode())
            for index in range(count)
        ]
        return memoryview(encode_batch(records, **header))

    return make
