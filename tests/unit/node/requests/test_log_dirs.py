"""DescribeLogDirs and AlterReplicaLogDirs through the broker's door."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.wire.errors import ErrorCode
from logquake.wire.messages.log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from tests.unit.node.requests.lone_broker import LoneBroker


@pytest.fixture
def properties() -> dict[str, str]:
    return {"log.dirs": "/a,/b"}


def describe(
    broker: LoneBroker, version: int = 4, *, partitions: list[int] | None = None
) -> dict[str, Any]:
    topics = None
    if partitions is not None:
        topics = [DescribableLogDirTopic(topic="orders", partitions=partitions)]
    answer = broker.ask(DescribeLogDirsRequest(topics=topics), version)
    assert answer.error_code == ErrorCode.NONE
    return {result.log_dir: result for result in answer.results}


def logs(result: Any) -> dict[int, tuple[int, bool]]:
    """Offset lag and whether it is a future, by partition of orders."""
    return {
        each.partition_index: (each.offset_lag, each.is_future_key)
        for topic in result.topics
        for each in topic.partitions
    }


def alter(broker: LoneBroker, version: int = 2, **paths: list[int]) -> list[tuple[int, int]]:
    dirs = [
        AlterReplicaLogDir(
            path=f"/{name}", topics=[AlterReplicaLogDirTopic(name="orders", partitions=indexes)]
        )
        for name, indexes in paths.items()
    ]
    answer = broker.ask(AlterReplicaLogDirsRequest(dirs=dirs), version)
    (topic,) = answer.results
    return [(each.partition_index, each.error_code) for each in topic.partitions]


@pytest.mark.parametrize("version", range(5))
def test_every_directory_with_its_logs(broker: LoneBroker, version: int) -> None:
    described = describe(broker, version)
    assert list(described) == ["/a", "/b"]
    assert logs(described["/a"]) == {0: (0, False)}
    assert logs(described["/b"]) == {1: (0, False)}
    room = {result.total_bytes for result in described.values()}
    assert room == ({1 << 40} if version >= 4 else {-1})


def test_only_what_was_asked_for(broker: LoneBroker) -> None:
    described = describe(broker, partitions=[1, 7])
    assert described["/a"].topics == []
    assert logs(described["/b"]) == {1: (0, False)}


def test_a_failed_directory_is_named(broker: LoneBroker) -> None:
    broker.parts.log_dirs.report_failure("/b", "broken")
    described = describe(broker)
    assert described["/b"].error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert (described["/b"].topics, described["/b"].usable_bytes) == ([], -1)
    assert logs(described["/a"]) == {0: (0, False)}


@pytest.mark.parametrize("version", range(3))
def test_a_replica_moves_and_is_seen_to(broker: LoneBroker, batch: Any, version: int) -> None:
    broker.append(batch(b"one", b"two"))
    assert alter(broker, version, b=[0], nowhere=[1]) == [
        (0, ErrorCode.NONE),
        (1, ErrorCode.LOG_DIR_NOT_FOUND),
    ]
    described = describe(broker)
    sizes = [
        each.partition_size
        for result in described.values()
        for topic in result.topics
        for each in topic.partitions
        if each.partition_index == 0
    ]
    broker.scheduler.advance(1_000)
    assert max(sizes) > 0
    assert logs(describe(broker)["/b"]) == {0: (0, False), 1: (0, False)}


def test_a_future_is_described_with_its_lag(broker: LoneBroker, batch: Any) -> None:
    broker.append(batch(b"one", b"two"))
    log_dirs = broker.parts.log_dirs
    log = log_dirs.log("orders", 0)
    assert log is not None
    log_dirs.prefer("orders", 0, "/b")
    log_dirs.create_future("orders", 0, log)
    assert logs(describe(broker)["/b"]) == {0: (2, True), 1: (0, False)}
