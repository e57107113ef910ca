"""Two brokers with the logs of a topic, for readers: leaders move, sessions are forgotten, what is
asked is refused now and then, and a nearer replica is behind.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from logquake.wire.messages.offsets import (
    EpochEndOffset,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from logquake.wire.records import (
    BatchFlag,
    ControlType,
    Record,
    encode_batch,
    encode_end_marker,
)
from logquake.wire.schema import Message
from logquake.wire.sentinels import EARLIEST_TIMESTAMP
from tests.unit.client.cluster_in_memory import FakeClock, FakeTopology, Handler

_ADDRESSES = {"one": 1, "two": 2}
_PASSING = (
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.OFFSET_NOT_AVAILABLE,
    ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.KAFKA_STORAGE_ERROR,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
)


class Batch(NamedTuple):
    first: int
    last: int
    epoch: int
    stored: bytes
    producer: int  # whose transaction is aborted; else -1
    is_marker: bool
    seen: tuple[int, ...]  # the offsets that a reader of committed records is given


@dataclass
class Log:
    """Batches as cleaners, transactions and epochs leave them."""

    random: Random
    batches: list[Batch] = field(default_factory=list)
    start: int = 0
    end: int = 0

    def append(self, epoch: int) -> None:
        kind = self.random.choice(("plain", "plain", "holes", "nothing", "aborted"))
        count = self.random.randrange(1, 6)
        if kind == "aborted":
            producer = self.random.randrange(7, 9)
            self._add(self._offsets(count), count, epoch, producer)
            if self.random.random() < 0.5:  # somebody else's
                self._add(self._offsets(count), count, epoch)
            self._add_marker(epoch, producer)
        elif kind == "plain":
            self._add(self._offsets(count), count, epoch)
        else:
            left = 0.6 if kind == "holes" else 0.0
            some = [each for each in self._offsets(count) if self.random.random() < left]
            self._add(some, count, epoch)

    def _offsets(self, count: int) -> list[int]:
        return list(range(self.end, self.end + count))

    def _add(self, offsets: list[int], count: int, epoch: int, producer: int = -1) -> None:
        first, last = self.end, self.end + count - 1
        stored = encode_batch(
            [Record(each, 1, None, b"%d" % each) for each in offsets],
            base_offset=first,
            last_offset=last,
            base_timestamp=1,
            max_timestamp=1,
            leader_epoch=epoch,
            producer_id=producer,
            producer_epoch=0 if producer >= 0 else -1,
            flags=BatchFlag.TRANSACTIONAL if producer >= 0 else 0,
        )
        seen = () if producer >= 0 else tuple(offsets)
        self.batches.append(Batch(first, last, epoch, bytes(stored), producer, False, seen))
        self.end = last + 1

    def _add_marker(self, epoch: int, producer: int) -> None:
        stored = encode_end_marker(
            ControlType.ABORT,
            coordinator_epoch=0,
            producer_id=producer,
            producer_epoch=0,
            timestamp_ms=1,
            base_offset=self.end,
            leader_epoch=epoch,
        )
        self.batches.append(Batch(self.end, self.end, epoch, bytes(stored), producer, True, ()))
        self.end += 1

    def seen_from(self, offset: int) -> list[int]:
        """By a reader of committed records; what is before its start is deleted, but may be fetched
        already.
        """
        return [each for one in self.batches for each in one.seen if each >= offset]

    def read(self, offset: int, most: int, end: int) -> list[Batch]:
        """Whole batches."""
        return [one for one in self.batches if one.last >= offset and one.first < end][:most]

    def aborted(self, batches: list[Batch]) -> list[AbortedTransaction]:
        """Of which there is something in these: from its first batch to its marker."""
        found: list[AbortedTransaction] = []
        begun: dict[int, int] = {}
        for one in self.batches:
            if one.producer < 0:
                continue
            if not one.is_marker:
                begun.setdefault(one.producer, one.first)
                continue
            first = begun.pop(one.producer)
            if batches and first <= batches[-1].last and one.last >= batches[0].first:
                found.append(AbortedTransaction(producer_id=one.producer, first_offset=first))
        return found

    def end_of_epoch(self, epoch: int) -> tuple[int, int]:
        upto = [one for one in self.batches if one.epoch <= epoch]
        if not upto:
            return -1, -1
        later = [one.first for one in self.batches if one.epoch > epoch]
        return upto[-1].epoch, min(later, default=self.end)


class ModelBrokers:
    """Of a topic "t" with so many partitions. ``is_calm``: nothing goes wrong any more."""

    def __init__(self, random: Random, clock: FakeClock, partitions: int) -> None:
        self.random = random
        self._clock = clock
        self.is_calm = False
        self.logs = [Log(random) for _ in range(partitions)]
        self.topology = FakeTopology({each: (1 + each % 2, 0) for each in range(partitions)})
        self._sessions: dict[tuple[int, int], dict[int, FetchPartition]] = {}
        self._epochs: dict[tuple[int, int], int] = {}
        self._behind = [0] * partitions  # how far the follower is
        for _ in range(8):
            self.write()

    def handlers(self) -> dict[ApiKey, Handler]:
        told: dict[ApiKey, Handler] = {
            ApiKey.METADATA: self.topology.metadata,
            ApiKey.FETCH: lambda request, at: self._fetch(request, _ADDRESSES[at.host]),
            ApiKey.LIST_OFFSETS: lambda request, at: self._listed(request, _ADDRESSES[at.host]),
            ApiKey.OFFSET_FOR_LEADER_EPOCH: lambda request, at: self._ends(
                request, _ADDRESSES[at.host]
            ),
        }
        return {key: self._disturbed(handler) for key, handler in told.items()}

    def _disturbed(self, handler: Handler) -> Handler:
        def answer(request: Message, address: object) -> Message | bytes | Exception | None:
            self._clock.now += 1
            chance = self.random.random()
            if not self.is_calm and chance < 0.05:
                return ConnectionError("lost")
            if not self.is_calm and chance < 0.15:
                self.happen()
            return handler(request, address)  # type: ignore[arg-type]

        return answer

    def happen(self) -> None:
        self.random.choice((self.write, self.move, self.forget_sessions, self.delete))()

    def write(self) -> None:
        for partition, log in enumerate(self.logs):
            log.append(self.topology.leaders[partition][1])
            self._behind[partition] = self.random.randrange(4)

    def move(self) -> None:
        partition = self.random.randrange(len(self.logs))
        leader, epoch = self.topology.leaders[partition]
        moved = leader if self.random.random() < 0.3 else 3 - leader
        self.topology.leaders[partition] = moved, epoch + 1

    def forget_sessions(self) -> None:
        self._sessions.clear()

    def delete(self) -> None:
        log = self.random.choice(self.logs)
        log.start = self.random.randrange(log.start, log.end)

    # Fetches

    def _fetch(self, request: FetchRequest, node: int) -> FetchResponse:
        key = node, request.session_id
        if request.session_epoch in (0, -1):
            self._sessions.pop(key, None)
            if request.session_epoch < 0:
                return FetchResponse(session_id=0)
            key = node, self.random.choice((0, self.random.randrange(1, 1 << 30)))
            self._sessions[key], self._epochs[key] = {}, 0
        elif key not in self._sessions:
            return FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        elif self._epochs[key] + 1 != request.session_epoch:
            return FetchResponse(error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        else:
            self._epochs[key] += 1
        session = self._sessions[key]
        for forgotten in request.forgotten_topics_data:
            for each in forgotten.partitions:
                session.pop(each, None)
        for topic in request.topics:
            session |= {each.partition: each for each in topic.partitions}
        told = [self._of(each, node, bool(request.rack_id)) for each in session.values()]
        if request.session_epoch:
            told = [
                each
                for each in told
                if each.records or each.error_code or each.preferred_read_replica >= 0
            ]
        if not any(
            each.records or each.error_code or each.preferred_read_replica >= 0 for each in told
        ):
            self._clock.now += request.max_wait_ms
        if key[1] == 0:
            del self._sessions[key]
        of = FetchableTopicResponse(topic_id=bytes(range(16)), partitions=told)
        return FetchResponse(session_id=key[1], responses=[of] if told else [])

    def _of(self, asked: FetchPartition, node: int, has_rack: bool) -> PartitionData:
        log = self.logs[asked.partition]
        data = PartitionData(partition_index=asked.partition, records=memoryview(b""))
        leader, epoch = self.topology.leaders[asked.partition]
        end = log.end
        if node != leader:
            end = max(log.start, end - self._behind[asked.partition])
        data.error_code = self._refusal(asked, node, epoch, end, has_rack)
        if data.error_code:
            return data
        data.high_watermark = data.last_stable_offset = end
        data.log_start_offset = log.start
        if node == leader and has_rack and self.random.random() < 0.5 and not self.is_calm:
            data.preferred_read_replica = 3 - leader
            return data
        batches = log.read(asked.fetch_offset, self.random.randrange(1, 5), end)
        stored = b"".join(each.stored for each in batches)
        if stored and self.random.random() < 0.3 and len(batches) > 1:
            stored = stored[: -self.random.randrange(1, len(batches[-1].stored))]
        data.records = memoryview(stored)
        data.aborted_transactions = log.aborted(batches)
        return data

    def _refusal(
        self, asked: FetchPartition, node: int, epoch: int, end: int, has_rack: bool
    ) -> ErrorCode:
        if not self.is_calm and self.random.random() < 0.05:
            return self.random.choice(_PASSING)
        leader = self.topology.leaders[asked.partition][0]
        if node != leader and not has_rack:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if asked.current_leader_epoch < epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if asked.current_leader_epoch > epoch:
            return ErrorCode.UNKNOWN_LEADER_EPOCH
        if not self.logs[asked.partition].start <= asked.fetch_offset <= end:
            return ErrorCode.OFFSET_OUT_OF_RANGE
        return ErrorCode.NONE

    # Offsets

    def _listed(self, request: ListOffsetsRequest, node: int) -> ListOffsetsResponse:
        told = []
        for each in request.topics[0].partitions:
            log = self.logs[each.partition_index]
            leader, epoch = self.topology.leaders[each.partition_index]
            of = ListOffsetsPartitionResponse(partition_index=each.partition_index)
            if node != leader or each.current_leader_epoch != epoch:
                of.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
            else:
                of.offset = log.start if each.timestamp == EARLIEST_TIMESTAMP else log.end
                of.leader_epoch = epoch
            told.append(of)
        return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=told)])

    def _ends(
        self, request: OffsetForLeaderEpochRequest, node: int
    ) -> OffsetForLeaderEpochResponse:
        told = []
        for each in request.topics[0].partitions:
            leader, epoch = self.topology.leaders[each.partition]
            of = EpochEndOffset(partition=each.partition)
            if node != leader or each.current_leader_epoch != epoch:
                of.error_code = ErrorCode.FENCED_LEADER_EPOCH
            else:
                of.leader_epoch, of.end_offset = self.logs[each.partition].end_of_epoch(
                    each.leader_epoch
                )
            told.append(of)
        result = OffsetForLeaderTopicResult(topic="t", partitions=told)
        return OffsetForLeaderEpochResponse(topics=[result])
