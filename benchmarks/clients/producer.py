"""A producer that does one transaction after the other, some partitions in each."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence

from benchmarks.clients.cluster import (
    NOT_YET,
    RETRY_S,
    Cluster,
    CoordinatorKind,
    Lines,
    find_coordinator,
)
from benchmarks.clients.driver import Pause, until
from benchmarks.clients.line import Line, check, decoded, request_frame
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
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
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from logquake.wire.records.building import encode_batch
from logquake.wire.records.header import BatchFlag
from logquake.wire.records.record import Record
from logquake.wire.sentinels import ACKS_ALL

VALUE = bytes(100)

_INIT_VERSION, _ADD_VERSION, _ADD_OFFSETS_VERSION = 4, 3, 3
_PRODUCE_VERSION, _COMMIT_VERSION, _END_VERSION = 11, 3, 3
_TIMEOUT_MS = 60_000
# What the Java client waits when the markers of its last transaction are still on their way.
_CONCURRENT_RETRY_S = 0.02


class TransactionalProducer:
    """Over connections of its own. Raises BenchmarkError when it is refused what it asks for."""

    def __init__(
        self, lines: Lines, cluster: Cluster, name: str, partitions: Sequence[int]
    ) -> None:
        self.name = name
        self._lines = lines
        self._cluster = cluster
        self._partitions = list(partitions)
        self._by_leader: dict[int, list[int]] = defaultdict(list)
        for partition in partitions:
            self._by_leader[cluster.leaders[partition]].append(partition)
        self._id, self._epoch, self._sequence = -1, -1, 0
        self._coordinator = self._groups = next(iter(lines.values()))

    async def begin(self) -> None:
        """It has its id, and knows who coordinates it and the group of its name."""
        self._coordinator = await find_coordinator(
            self._lines, CoordinatorKind.TRANSACTION, self.name
        )
        self._groups = await find_coordinator(self._lines, CoordinatorKind.GROUP, self.name)
        request = InitProducerIdRequest(
            transactional_id=self.name, transaction_timeout_ms=_TIMEOUT_MS
        )
        while True:
            answer = await self._coordinator.ask(request, InitProducerIdResponse, _INIT_VERSION)
            if answer.error_code not in NOT_YET:
                break
            await until(Pause(RETRY_S))
        check(answer.error_code, "InitProducerId")
        self._id, self._epoch = answer.producer_id, answer.producer_epoch

    async def write(self) -> None:
        """A record to each partition, in one transaction."""
        await self._add_partitions()
        await self._produce()
        await self._commit()

    async def write_and_commit_offsets(self) -> None:
        """The same with an offset of each partition, for a group: what Kafka Streams does."""
        await self._add_partitions()
        await self._produce()
        await self._add_offsets()
        await self._commit_offsets()
        await self._commit()

    async def _add_partitions(self) -> None:
        topic = AddPartitionsToTxnTopic(name=self._cluster.topic, partitions=self._partitions)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.name,
            v3_and_below_producer_id=self._id,
            v3_and_below_producer_epoch=self._epoch,
            v3_and_below_topics=[topic],
        )
        while True:
            answer = await self._coordinator.ask(request, AddPartitionsToTxnResponse, _ADD_VERSION)
            (added,) = answer.results_by_topic_v3_and_below
            (code,) = {each.partition_error_code for each in added.results_by_partition}
            if code != ErrorCode.CONCURRENT_TRANSACTIONS:
                check(code, "AddPartitionsToTxn")
                return
            await until(Pause(_CONCURRENT_RETRY_S))

    async def _produce(self) -> None:
        asked = [self._lines[leader] for leader in self._by_leader]
        for line, partitions in zip(asked, self._by_leader.values(), strict=True):
            line.send(self._produce_frame(partitions))
        self._sequence += 1
        for line in asked:
            await self._take_produced(line)

    async def _take_produced(self, line: Line) -> None:
        answer = decoded(await line.answer(), ProduceResponse, _PRODUCE_VERSION)
        for produced in answer.responses[0].partition_responses:
            check(produced.error_code, "Produce")

    def _produce_frame(self, partitions: Sequence[int]) -> bytes:
        batch = encode_batch(
            [Record(0, int(time.time() * 1000), None, VALUE, ())],
            producer_id=self._id,
            producer_epoch=self._epoch,
            base_sequence=self._sequence,
            flags=BatchFlag.TRANSACTIONAL,
        )
        written = [
            PartitionProduceData(index=partition, records=memoryview(batch))
            for partition in partitions
        ]
        topic = TopicProduceData(name=self._cluster.topic, partition_data=written)
        request = ProduceRequest(
            transactional_id=self.name, acks=ACKS_ALL, timeout_ms=_TIMEOUT_MS, topic_data=[topic]
        )
        return request_frame(request, _PRODUCE_VERSION)

    async def _add_offsets(self) -> None:
        request = AddOffsetsToTxnRequest(
            transactional_id=self.name,
            producer_id=self._id,
            producer_epoch=self._epoch,
            group_id=self.name,
        )
        answer = await self._coordinator.ask(request, AddOffsetsToTxnResponse, _ADD_OFFSETS_VERSION)
        check(answer.error_code, "AddOffsetsToTxn")

    async def _commit_offsets(self) -> None:
        committed = [
            TxnOffsetCommitRequestPartition(
                partition_index=partition,
                committed_offset=self._sequence,
                committed_metadata="",
            )
            for partition in self._partitions
        ]
        request = TxnOffsetCommitRequest(
            transactional_id=self.name,
            group_id=self.name,
            producer_id=self._id,
            producer_epoch=self._epoch,
            topics=[TxnOffsetCommitRequestTopic(name=self._cluster.topic, partitions=committed)],
        )
        answer = await self._groups.ask(request, TxnOffsetCommitResponse, _COMMIT_VERSION)
        for each in answer.topics[0].partitions:
            check(each.error_code, "TxnOffsetCommit")

    async def _commit(self) -> None:
        request = EndTxnRequest(
            transactional_id=self.name,
            producer_id=self._id,
            producer_epoch=self._epoch,
            committed=True,
        )
        answer = await self._coordinator.ask(request, EndTxnResponse, _END_VERSION)
        check(answer.error_code, "EndTxn")
