"""ListOffsets version 0: where segments begin, by the time of their files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from logquake.node.replication.settings import TopicConfig
from logquake.node.replication.values import Isolation, ProduceEntry
from logquake.storage.log_config import LogConfig
from logquake.wire.errors import ErrorCode
from tests.unit.node.replication.one_broker import OneBroker

Batch = Callable[..., memoryview]
LATEST, EARLIEST = -1, -2
ALL = 100


@pytest.fixture
def leader(broker: OneBroker, batch: Batch) -> Any:
    """Segments from 0, 2 and 4 on, written at 1000, 2000 and 3000 ms; the log ends at 5.

    A follower in the ISR has fetched up to 3.
    """
    broker.config = TopicConfig(log=LogConfig(segment_bytes=200))
    broker.lead(isr=(1, 2))
    for _ in range(5):
        entry = ProduceEntry("orders", 0, batch(bytes(20)))
        broker.replicas.appends.add([entry], 1, 60_000, lambda _results: None)
        broker.replicas.end_of_pass()
    for second, first in enumerate((0, 2, 4), start=1):
        broker.disk.set_modified_ms(f"/data/orders-0/{first:020}.log", 1_000 * second)
    broker.partition().replica.advance_to(3)
    return broker


def asked(
    broker: OneBroker, timestamp: int, count: int = ALL, isolation: Isolation = Isolation.LOG_END
) -> Any:
    return broker.replicas.offsets_before("orders", 0, timestamp, count, isolation=isolation)


@pytest.mark.parametrize(
    ("timestamp", "offsets"),
    [
        (LATEST, [5, 4, 2, 0]),
        (EARLIEST, [0]),
        (0, []),
        (999, []),
        (1_000, [0]),
        (2_500, [2, 0]),
        (3_000, [4, 2, 0]),
        (2**62, [5, 4, 2, 0]),
    ],
)
def test_a_replica_gets_them_newest_first(leader: Any, timestamp: int, offsets: list[int]) -> None:
    assert asked(leader, timestamp) == offsets


@pytest.mark.parametrize(("count", "offsets"), [(0, []), (1, [5]), (3, [5, 4, 2])])
def test_no_more_than_wanted(leader: Any, count: int, offsets: list[int]) -> None:
    assert asked(leader, LATEST, count) == offsets


@pytest.mark.parametrize(
    ("timestamp", "count", "offsets"),
    [
        (LATEST, ALL, [3, 2, 0]),
        (LATEST, 1, [3]),
        (LATEST, 2, [3]),  # the mark takes the place of both
        (2_500, ALL, [2, 0]),
    ],
)
def test_for_a_consumer_the_high_watermark_stands_for_what_is_beyond(
    leader: Any, timestamp: int, count: int, offsets: list[int]
) -> None:
    assert asked(leader, timestamp, count, Isolation.HIGH_WATERMARK) == offsets


def test_the_logs_start_stands_for_what_lies_before_it(leader: Any) -> None:
    leader.partition().replica.raise_start(3, "a client wished so")
    assert asked(leader, LATEST) == [5, 4, 3, 3]
    assert asked(leader, EARLIEST) == [3]


def test_an_empty_log_has_its_start(broker: OneBroker) -> None:
    broker.lead(isr=(1,))
    assert asked(broker, LATEST) == [0]


def test_who_does_not_lead_refuses(broker: OneBroker) -> None:
    broker.assign(leader=2)
    assert asked(broker, LATEST) is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_disk_that_fails_takes_the_partition_offline(leader: Any) -> None:
    leader.disk.remove("/data/orders-0/00000000000000000000.log")
    assert asked(leader, LATEST) is ErrorCode.KAFKA_STORAGE_ERROR
