"""Conversions for old consumers: one request at a time, bounded, and off the loop."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from logquake.node.replication.settings import TopicConfig
from logquake.node.replication.values import FetchPartition, FetchResult
from logquake.node.requests.downward import DownConversion, DownConversionSettings
from logquake.storage.log.slice import LogSlice
from logquake.wire.errors import ErrorCode
from logquake.wire.records import Record, encode_batch, iterate_batches
from tests.doubles.memory_disk import MemoryDisk
from tests.doubles.workers import HeldWorkers

ORDERS = FetchPartition(("orders", 0), "orders", bytes(16), 0, 0, 1 << 20)
LARGE = 50


class NoReplicas:
    """Knows no partition, and so has nothing to refuse."""

    def __init__(self, found: Any = None) -> None:
        self.found = found

    def partition(self, _topic: str, _index: int) -> Any:
        return self.found


class FailingFile:
    def pread(self, _size: int, _position: int) -> bytes:
        raise OSError(5, "Input/output error")

    def fileno(self) -> int:
        raise OSError(5, "Input/output error")


@pytest.fixture
def workers() -> HeldWorkers:
    return HeldWorkers()


def conversion(workers: HeldWorkers, *, max_bytes: int = 1 << 20, found: Any = None) -> Any:
    replicas: Any = NoReplicas(found)
    return DownConversion(replicas, workers, DownConversionSettings(max_bytes))


def read(batches: int = 1) -> FetchResult:
    data = b"".join(
        bytes(encode_batch([Record(at, 1, None, b"x" * LARGE)], base_offset=at))
        for at in range(batches)
    )
    file = MemoryDisk().open("log", create=True)
    file.pwritev([data], 0)
    return FetchResult(high_watermark=batches, records=LogSlice(file, 0, len(data), 0))


def entries(result: FetchResult) -> int:
    assert isinstance(result.records, bytes)
    return len(list(iterate_batches(memoryview(result.records))))


def convert(downward: DownConversion, results: list[FetchResult], version: int = 0) -> list[Any]:
    """The answers, which come in time."""
    answers: list[Any] = []
    downward.convert(
        version,
        [(ORDERS, result) for result in results],
        from_follower=False,
        done=answers.append,
    )
    return answers


def test_nothing_to_convert_is_answered_at_once(workers: HeldWorkers) -> None:
    refused = FetchResult(ErrorCode.OFFSET_OUT_OF_RANGE)
    assert convert(conversion(workers), [refused]) == [[(ORDERS, refused)]]
    stored = read()
    assert convert(conversion(workers), [stored], version=4) == [[(ORDERS, stored)]]
    assert len(workers) == 0


def test_requests_are_converted_one_after_the_other(workers: HeldWorkers) -> None:
    downward = conversion(workers)
    first, second = convert(downward, [read()]), convert(downward, [read(3)])
    assert (len(workers), first, second) == (1, [], [])
    workers.finish_next()
    assert [entries(result) for _, result in first[0]] == [1]
    assert (len(workers), second) == (1, [])
    workers.finish_next()
    assert [entries(result) for _, result in second[0]] == [3]


def test_the_bound_is_for_all_partitions_but_each_gets_its_first_batch(
    workers: HeldWorkers,
) -> None:
    answers = convert(conversion(workers, max_bytes=LARGE), [read(9), read(9), read(9)])
    workers.finish_next()
    assert [entries(result) for _, result in answers[0]] == [1, 1, 1]


def test_a_disk_that_fails_takes_the_partition_offline(workers: HeldWorkers) -> None:
    whys: list[str] = []
    hosted = SimpleNamespace(config=TopicConfig(), go_offline=whys.append)
    result = FetchResult(records=LogSlice(FailingFile(), 0, 100, 0))
    answers = convert(conversion(workers, found=hosted), [result, read()])
    workers.finish_next()
    (_, failed), (_, good) = answers[0]
    assert failed.error is ErrorCode.KAFKA_STORAGE_ERROR
    assert ["Input/output error" in why for why in whys] == [True]
    assert entries(good) == 1
