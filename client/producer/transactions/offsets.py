"""A group's offsets as part of a transaction (AddOffsetsToTxnHandler, TxnOffsetCommitHandler).

AddOffsetsToTxn is for the transaction's coordinator, TxnOffsetCommit for the group's, both up to
the schema's versions. From version 3 on the latter names the member that commits (KIP-447).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import ClassVar

from logquake.client.consumer.offsets import ConsumerGroupMetadata, OffsetAndMetadata
from logquake.client.errors import BrokerError, CommitFailedError, UnsupportedVersionError
from logquake.client.producer.transactions.operation import Operation
from logquake.client.producer.transactions.question import (
    CoordinatorKey,
    Question,
    Signature,
)
from logquake.client.producer.transactions.verdicts import (
    Abortable,
    Again,
    Fatal,
    GroupAdded,
    OffsetsCommitted,
    Verdict,
    on_refusal,
)
from logquake.wire.coordinator_type import CoordinatorType
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transaction_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from logquake.wire.messages.transactions import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from logquake.wire.schema import Message
from logquake.wire.sentinels import NO_GENERATION, UNKNOWN_MEMBER_ID
from logquake.wire.topic_partition import TopicPartition

Offsets = Mapping[TopicPartition, OffsetAndMetadata]

_FIRST_OF_MEMBERS = 3
# The group has moved on without the member, which has to discard what it did meanwhile.
_GONE_ON = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION)
_ABORTABLE = (ErrorCode.GROUP_AUTHORIZATION_FAILED, ErrorCode.FENCED_INSTANCE_ID)


class CommitOffsets(Question):
    """Offsets that were not committed are retried."""

    request: ClassVar[type[Message]] = TxnOffsetCommitRequest
    response: ClassVar[type[Message]] = TxnOffsetCommitResponse
    is_in_turn = True

    def __init__(
        self,
        operation: Operation,
        signature: Signature,
        offsets: Offsets,
        group: ConsumerGroupMetadata,
    ) -> None:
        super().__init__(operation, CoordinatorKey(CoordinatorType.GROUP, group.group_id))
        self.signature = signature
        self.group = group
        self._left = dict(offsets)

    def message(self, version: int, /) -> Message:
        group = self.group
        if version < _FIRST_OF_MEMBERS and not self._is_anonymous:
            raise UnsupportedVersionError(
                f"the broker speaks TxnOffsetCommit {version}, it is older than 2.5: "
                "send offsets with a group id alone, without a member"
            )
        return TxnOffsetCommitRequest(
            transactional_id=self.signature.transactional_id,
            group_id=group.group_id,
            producer_id=self.signature.identity.producer_id,
            producer_epoch=self.signature.identity.epoch,
            generation_id=group.generation_id,
            member_id=group.member_id,
            group_instance_id=group.instance_id,
            topics=list(self._topics()),
        )

    @property
    def _is_anonymous(self) -> bool:
        group = self.group
        return (group.member_id, group.generation_id, group.instance_id) == (
            UNKNOWN_MEMBER_ID,
            NO_GENERATION,
            None,
        )

    def _topics(self) -> Iterator[TxnOffsetCommitRequestTopic]:
        by_topic: defaultdict[str, list[TxnOffsetCommitRequestPartition]] = defaultdict(list)
        for place, commit in self._left.items():
            by_topic[place.topic].append(
                TxnOffsetCommitRequestPartition(
                    partition_index=place.partition,
                    committed_offset=commit.offset,
                    committed_leader_epoch=commit.leader_epoch,
                    committed_metadata=commit.metadata,
                )
            )
        for topic, partitions in by_topic.items():
            yield TxnOffsetCommitRequestTopic(name=topic, partitions=partitions)

    def judge(self, answer: Message) -> Verdict:
        """The first error that is not retriable decides."""
        assert isinstance(answer, TxnOffsetCommitResponse)
        moved = False
        for topic in answer.topics:
            for one in topic.partitions:
                place = TopicPartition(topic.name, one.partition_index)
                code = ErrorCode.of_peer(one.error_code)
                verdict = self._of_one(code, place)
                if isinstance(verdict, Abortable | Fatal):
                    return verdict
                moved |= isinstance(verdict, Again) and verdict.moved
        return Again(moved=moved) if self._left else OffsetsCommitted()

    def _of_one(self, code: ErrorCode, place: TopicPartition) -> Verdict | None:
        if code is ErrorCode.NONE:
            self._left.pop(place, None)
            return None
        if code is ErrorCode.REQUEST_TIMED_OUT:
            return Again(moved=True)
        context = f"offset of group {self.group.group_id} in {place}"
        if code in _GONE_ON:
            return Abortable(CommitFailedError(f"{context}: {code.name}"))
        if code in _ABORTABLE:
            return Abortable(BrokerError(code, context))
        verdict = on_refusal(code, context)
        if isinstance(verdict, Abortable) and verdict.remedy:
            return Fatal(verdict.error)  # no group knows of producer ids
        return verdict


class AddOffsets(Question):
    """``then`` is the request that follows it: both are one operation."""

    request: ClassVar[type[Message]] = AddOffsetsToTxnRequest
    response: ClassVar[type[Message]] = AddOffsetsToTxnResponse
    is_in_turn = True

    def __init__(self, then: CommitOffsets) -> None:
        transactional_id = then.signature.transactional_id
        super().__init__(then.operation, CoordinatorKey.of_transactions(transactional_id))
        self.then = then

    def message(self, _version: int) -> Message:
        transactional_id, identity = self.then.signature
        return AddOffsetsToTxnRequest(
            transactional_id=transactional_id,
            producer_id=identity.producer_id,
            producer_epoch=identity.epoch,
            group_id=self.then.group.group_id,
        )

    def judge(self, answer: Message) -> Verdict:
        assert isinstance(answer, AddOffsetsToTxnResponse)
        code = ErrorCode.of_peer(answer.error_code)
        if code is ErrorCode.NONE:
            return GroupAdded()
        context = f"group {self.then.group.group_id}"
        if code is ErrorCode.GROUP_AUTHORIZATION_FAILED:
            return Abortable(BrokerError(code, context))
        transactional_id = self.then.signature.transactional_id
        return on_refusal(code, f"{context} in a transaction of {transactional_id}")
