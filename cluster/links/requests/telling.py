"""What of a request and of its answer is worth keeping, as JSON.

Of every request nothing but its API; of some
    Produce     transactional_id; "batches": [["orders-3", CRC, records], ...]
    JoinGroup, SyncGroup, Heartbeat, LeaveGroup, OffsetCommit, TxnOffsetCommit
                group; "member", where it has one
Of every answer "errors", how many of each, if there are any; of some
    Produce     "offsets": {"orders-3": 812}, those that were appended
    JoinGroup   "generation"
What can't be read has nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from logquake.cluster.links.requests.reading import ReadRequest
from logquake.wire.api import response_type
from logquake.wire.error_codes import error_codes
from logquake.wire.errors import ErrorCode, ProtocolError, RecordError, error_name
from logquake.wire.header import LENGTH_BYTES, RequestHeader, decode_response
from logquake.wire.messages.group_membership import JoinGroupResponse
from logquake.wire.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse
from logquake.wire.records import iterate_batches
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition


def told_of_request(request: ReadRequest) -> dict[str, Any]:
    body = request.body()
    if isinstance(body, ProduceRequest):
        batches = [
            [str(TopicPartition(topic.name, partition.index)), crc, records]
            for topic in body.topic_data
            for partition in topic.partition_data
            for crc, records in _batches(partition)
        ]
        transactional = body.transactional_id
        named = {} if transactional is None else {"transactional_id": transactional}
        return {**named, "batches": batches}
    group = getattr(body, "group_id", None)
    member = getattr(body, "member_id", None)
    said = {"group": group, "member": member}
    return {name: value for name, value in said.items() if value}


def errors_in(header: RequestHeader, frame: bytes) -> frozenset[int]:
    """Of the answer to a request; ``frame`` has its length in front."""
    answer = _read(header.api_key, header.api_version, frame)
    return frozenset() if answer is None else frozenset(filter(None, error_codes(answer)))


def told_of_answer(api_key: int, version: int, frame: bytes) -> dict[str, Any]:
    """``frame`` has its length in front."""
    answer = _read(api_key, version, frame)
    if answer is None:
        return {}
    errors = Counter(map(error_name, filter(None, error_codes(answer))))
    told: dict[str, Any] = {"errors": dict(errors)} if errors else {}
    if isinstance(answer, ProduceResponse):
        told["offsets"] = dict(_appended(answer))
    elif isinstance(answer, JoinGroupResponse) and not answer.error_code:
        told["generation"] = answer.generation_id
    return told


def _read(api_key: int, version: int, frame: bytes) -> Message | None:
    kind = response_type(api_key)
    if kind is None:
        return None
    try:
        return decode_response(kind, version, memoryview(frame)[LENGTH_BYTES:])[1]
    except ProtocolError:
        return None


def _batches(partition: PartitionProduceData) -> Iterator[tuple[int, int]]:
    """CRC and number of records of each."""
    if not isinstance(partition.records, memoryview):
        return
    try:
        for _, header in iterate_batches(partition.records):
            yield header.crc, header.record_count
    except RecordError:
        return


def _appended(answer: ProduceResponse) -> Iterator[tuple[str, int]]:
    for topic in answer.responses:
        for partition in topic.partition_responses:
            if partition.error_code == ErrorCode.NONE:
                yield str(TopicPartition(topic.name, partition.index)), partition.base_offset
