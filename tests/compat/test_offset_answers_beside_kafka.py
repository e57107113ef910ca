"""Ours and a Kafka 3.9 are led through the same commits, in every version of every request about
offsets: they answer the same, field by field, and write the same records.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import methodcaller
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from logquake.cluster.api import Cluster
from logquake.wire.errors import error_name
from logquake.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from logquake.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from logquake.wire.messages.transaction_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from logquake.wire.messages.transactions import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from logquake.wire.records import BatchHeader, Record, iterate_batches, iterate_records
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.twins import Twin, both, twins_of
from tests.waiting import wait_for

pytestmark = [pytest.mark.maven, pytest.mark.slow]

TOPIC = "orders"
LOG = "__consumer_offsets-0/00000000000000000000.log"
COMMITTED_AT_MS = 1_500_000_000_000
Twins = tuple["Offsets", "Offsets"]


class Written(NamedTuple):
    """A batch but for what time and chance decide; records as (key, value)."""

    attributes: int
    last_offset_delta: int
    has_producer: bool
    producer_epoch: int
    base_sequence: int
    record_count: int
    records: list[tuple[bytes | None, bytes | None]]


class Offsets(Twin):
    def find(self, key_type: int = 0) -> None:
        request = FindCoordinatorRequest(key_type=key_type, key="g")
        wait_for(
            "coordinator",
            lambda: self.ask(request, FindCoordinatorResponse, 2),
            lambda answer: answer.error_code == 0,
        )
        wait_for("loaded log", lambda: self.fetch(7), lambda answer: answer.error_code == 0)

    def commit(self, version: int, *indexes: int, topic: str = TOPIC, **fields: Any) -> Any:
        given = {"committed_offset": 5, "committed_metadata": "m"}
        if version == 1:
            given["commit_timestamp"] = COMMITTED_AT_MS
        of_partition = given | fields.pop("partition", {})
        partitions = [
            OffsetCommitRequestPartition(partition_index=i, **of_partition) for i in indexes
        ]
        named = [OffsetCommitRequestTopic(name=topic, partitions=partitions)] if indexes else []
        request = OffsetCommitRequest(**({"group_id": "g", "topics": named} | fields))
        return self.ask(request, OffsetCommitResponse, version)

    def fetch(self, version: int, *indexes: int, group: str = "g", **fields: Any) -> Any:
        """Of all partitions where none is named."""
        if version >= 8:
            topics = [OffsetFetchRequestTopics(name=TOPIC, partition_indexes=list(indexes))]
            one = OffsetFetchRequestGroup(group_id=group, topics=topics if indexes else None)
            request = OffsetFetchRequest(groups=[one], **fields)
        else:
            old = [OffsetFetchRequestTopic(name=TOPIC, partition_indexes=list(indexes))]
            request = OffsetFetchRequest(group_id=group, topics=old if indexes else None, **fields)
        return _sorted(self.ask(request, OffsetFetchResponse, version))

    def forget(self, *indexes: int, group: str = "g", topic: str = TOPIC) -> Any:
        partitions = [OffsetDeleteRequestPartition(partition_index=index) for index in indexes]
        named = [OffsetDeleteRequestTopic(name=topic, partitions=partitions)]
        request = OffsetDeleteRequest(group_id=group, topics=named)
        return self.ask(request, OffsetDeleteResponse, 0)

    def begin_transaction(self) -> str:
        """The first error."""
        init = InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=60_000)
        made = wait_for(
            "producer id",
            lambda: self.ask(init, InitProducerIdResponse, 4),
            lambda answer: answer.error_code == 0,
        )
        self.producer = {"producer_id": made.producer_id, "producer_epoch": made.producer_epoch}
        add = AddOffsetsToTxnRequest(transactional_id="t", group_id="g", **self.producer)
        answer = wait_for(
            "group in the transaction",
            lambda: self.ask(add, AddOffsetsToTxnResponse, 3),
            lambda answer: answer.error_code == 0,
        )
        return error_name(answer.error_code)

    def commit_transactional(self, version: int, *indexes: int, **fields: Any) -> Any:
        partitions = [
            TxnOffsetCommitRequestPartition(
                partition_index=index, committed_offset=7, committed_metadata=None
            )
            for index in indexes
        ]
        given = {
            "transactional_id": "t",
            "group_id": "g",
            "topics": [TxnOffsetCommitRequestTopic(name=TOPIC, partitions=partitions)],
            **self.producer,
        }
        request = TxnOffsetCommitRequest(**(given | fields))
        return self.ask(request, TxnOffsetCommitResponse, version)

    def end_transaction(self, committed: bool) -> str:
        request = EndTxnRequest(transactional_id="t", committed=committed, **self.producer)
        return error_name(self.ask(request, EndTxnResponse, 3).error_code)

    def wait_until_stable(self) -> None:
        wait_for(
            "stable offsets",
            lambda: self.fetch(7, 0, require_stable=True).topics[0].partitions[0].error_code,
            lambda error: error == 0,
        )


def _sorted(answer: Any) -> Any:
    for group in [answer, *answer.groups]:
        group.topics.sort(key=lambda topic: topic.name)
        for topic in group.topics:
            topic.partitions.sort(key=lambda partition: partition.partition_index)
    return answer


@pytest.fixture(scope="module")
def twins(
    cluster: Cluster, kafka_programs: KafkaPrograms, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Twins, Path]]:
    folder = tmp_path_factory.mktemp("offsets")
    properties = {
        "offsets.topic.replication.factor": 1,
        "offsets.topic.num.partitions": 1,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.num.partitions": 1,
        "transaction.state.log.min.isr": 1,
        "offset.metadata.max.bytes": 10,
    }
    connect = cluster.zookeeper_connect
    with twins_of(Offsets, kafka_programs, connect, folder, properties) as both_of_them:
        for each in both_of_them:
            each.create(TOPIC, partitions=3)
            each.find()
            each.find(1)
        yield both_of_them, folder


def test_every_version_is_answered_as_by_kafka(twins: tuple[Twins, Path]) -> None:
    pair, folder = twins

    def same(name: str, *of: Any, **fields: Any) -> Any:
        return both(pair, methodcaller(name, *of, **fields))

    same("forget", 0)
    same("fetch", 8)
    in_zookeeper(pair)
    for version in range(1, 10):
        same("commit", version, 0)
        same("commit", version, 0, 1)
        same("commit", version, 7, 0)
        same("commit", version, 0, topic="nowhere")
        same("commit", version)
        same("commit", version, 0, group_id="")
        same("commit", version, 0, partition={"committed_metadata": None})
        same("commit", version, 0, partition={"committed_metadata": "m" * 11})
        same("commit", version, 0, generation_id_or_member_epoch=1)
        same("commit", version, 0, group_id="new", generation_id_or_member_epoch=1)
        same("commit", version, 0, member_id="nobody")
        if version >= 7:
            same("commit", version, 0, group_instance_id="nobody")
        if version >= 6:
            same("commit", version, 1, partition={"committed_leader_epoch": 3})
    for version in range(1, 10):
        same("fetch", version, 0, 1, 2, 7)
        same("fetch", version, 0, group="nobody")
        if version >= 2:
            same("fetch", version)
    same("forget", 0, 7)
    same("forget", 0, group="")
    same("forget", 0, group="nobody")
    same("forget", 0, topic="nowhere")
    same("fetch", 9)
    same("begin_transaction")
    for version in range(5):
        same("commit_transactional", version, 0)
        same("commit_transactional", version, 7, 0)
        same("commit_transactional", version, 1, group_id="")
        if version >= 3:
            same("commit_transactional", version, 0, member_id="nobody", generation_id=3)
    for version in range(7, 10):
        same("fetch", version, 0, 1, require_stable=True)
        same("fetch", version, 0, 1, require_stable=False)
    same("end_transaction", True)
    for each in pair:
        each.wait_until_stable()
    same("fetch", 9, 0, 1, require_stable=True)
    ours, kafkas = (_written(folder / name / LOG) for name in ("ours", "kafkas"))
    assert ours == kafkas


def in_zookeeper(pair: Twins) -> None:
    """As the oldest consumers ask for it."""
    for groups in ("g", "a/b", "", "..", "a//b"):
        for offset in (5, 6):
            partition = {"committed_offset": offset}
            both(pair, methodcaller("commit", 0, 0, 7, group_id=groups, partition=partition))
        both(pair, methodcaller("fetch", 0, 0, 1, 7, group=groups))
    both(pair, methodcaller("commit", 0, 0, partition={"committed_metadata": "m" * 11}))
    both(pair, methodcaller("znode", f"/consumers/g/offsets/{TOPIC}/0"))


def _written(log: Path) -> list[Written]:
    data = memoryview(log.read_bytes())
    return [
        _batch(header, list(iterate_records(data, position, header, 1 << 20)))
        for position, header in iterate_batches(data)
    ]


def _batch(header: BatchHeader, records: list[Record]) -> Written:
    """Of several partitions in one commit the order is one of hashes."""
    return Written(
        header.attributes,
        header.last_offset_delta,
        header.has_producer_id,
        header.producer_epoch,
        header.base_sequence,
        header.record_count,
        sorted((record.key, _timeless(record.value)) for record in records),
    )


def _timeless(value: bytes | None) -> bytes | None:
    """Without the time of the commit, which stands at the end of version 3."""
    return value[:-8] if value is not None and value[:2] == b"\0\3" else value
