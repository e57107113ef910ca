"""Fetch and ListOffsets of committed records, in every version that knows of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from logquake.node.requests.fetch import Fetch
from logquake.node.requests.list_offsets import ListOffsets
from logquake.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from logquake.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from logquake.wire.records import BatchFlag, ControlType, encode_end_marker, iterate_batches
from tests.unit.node.requests.lone_broker import LoneBroker

LATEST = -1
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
fetch_versions = pytest.mark.parametrize("version", [v for v in Fetch.versions if v >= 4])
list_versions = pytest.mark.parametrize("version", [v for v in ListOffsets.versions if v >= 2])


@pytest.fixture
def properties() -> dict[str, str]:
    """No coordinator is there to be asked."""
    return {"transaction.partition.verification.enable": "false"}


@pytest.fixture
def filled(broker: LoneBroker, batch: Callable[..., bytes]) -> Any:
    """orders-0: two records of an aborted transaction, its end, two of one under way."""

    def write(pid: int) -> None:
        flags = BatchFlag.TRANSACTIONAL
        fields = {"producer_id": pid, "producer_epoch": 0, "base_sequence": 0, "flags": flags}
        broker.append(batch(b"x", b"y", **fields))

    write(5)
    marker = encode_end_marker(
        ControlType.ABORT, coordinator_epoch=0, producer_id=5, producer_epoch=0, timestamp_ms=0
    )
    broker.append(marker, internal=True)
    write(6)
    return broker


def fetch(broker: LoneBroker, version: int, isolation_level: int) -> Any:
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1_000_000)
    topic = FetchTopic(topic="orders", topic_id=broker.topic_id("orders"), partitions=[partition])
    request = FetchRequest(topics=[topic], isolation_level=isolation_level, max_wait_ms=100)
    (answered,) = broker.ask(request, version).responses
    (data,) = answered.partitions
    return data


@fetch_versions
def test_committed_records_end_at_the_stable_offset(filled: LoneBroker, version: int) -> None:
    data = fetch(filled, version, READ_COMMITTED)
    assert (data.high_watermark, data.last_stable_offset) == (5, 3)
    assert [header.base_offset for _, header in iterate_batches(data.records)] == [0, 2]
    (aborted,) = data.aborted_transactions
    assert (aborted.producer_id, aborted.first_offset) == (5, 0)


@fetch_versions
def test_other_readers_get_everything(filled: LoneBroker, version: int) -> None:
    data = fetch(filled, version, READ_UNCOMMITTED)
    assert (data.high_watermark, data.last_stable_offset) == (5, 3)
    assert [header.base_offset for _, header in iterate_batches(data.records)] == [0, 2, 3]
    assert data.aborted_transactions is None


@list_versions
@pytest.mark.parametrize(("level", "offset"), [(READ_UNCOMMITTED, 5), (READ_COMMITTED, 3)])
def test_the_latest_offset_is_the_readers(
    filled: LoneBroker, version: int, level: int, offset: int
) -> None:
    asked = ListOffsetsPartition(partition_index=0, timestamp=LATEST)
    topic = ListOffsetsTopic(name="orders", partitions=[asked])
    request = ListOffsetsRequest(replica_id=-1, isolation_level=level, topics=[topic])
    (answered,) = filled.ask(request, version).topics
    assert [each.offset for each in answered.partitions] == [offset]
