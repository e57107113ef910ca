"""Members of groups over our consumer, that commit what they took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from logquake.chaos.history.rows import Kind
from logquake.chaos.workloads.life import Life
from logquake.chaos.workloads.members import CommittingMember
from logquake.chaos.workloads.own.reading import ReadRows
from logquake.chaos.workloads.own.sending import name_of
from logquake.chaos.workloads.own.settings import MEMBER, own_settings
from logquake.client import Consumer
from logquake.client.consumer.offsets import ConsumerGroupMetadata, OffsetAndMetadata
from logquake.client.consumer.records import ConsumerRecord
from logquake.client.errors import (
    BrokerError,
    ClientError,
    CommitFailedError,
    NotAssignedError,
    TimedOutError,
)
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition

_POLL_MS = 300
_REFUSED = frozenset(
    {
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.REBALANCE_IN_PROGRESS,
    }
)


def own_member(life: Life) -> CommittingMember:
    return CommittingMember(life, OwnMembership)


class OwnMembership:
    """Satisfies `Joined`, and is told what its group does."""

    def __init__(self, life: Life) -> None:
        plan = life.plan
        self._history = life.history
        self._group = plan.group
        self._rows = ReadRows(life, plan.group)
        keys = {
            **own_settings(life, MEMBER),
            "group.id": plan.group,
            "isolation.level": plan.isolation,
            "partition.assignment.strategy": plan.strategy,
        }
        if plan.instance_id:
            keys["group.instance.id"] = plan.instance_id
        self._consumer = Consumer(keys)
        self._consumer.subscribe([plan.topic], self)

    def close(self) -> None:
        self._consumer.close()

    def take(self) -> list[ConsumerRecord]:
        records = self._consumer.poll(_POLL_MS)
        self._rows.polled(records)
        return list(records)

    def commit_after(self, taken: Sequence[ConsumerRecord]) -> None:
        ends = ends_of(taken)
        asked = {place: self._asked(place, end.offset) for place, end in ends.items()}
        error: ClientError | None = None
        try:
            self._consumer.commit(ends)
        except ClientError as failed:
            error = failed
        for place, sequence in asked.items():
            self._history.record(
                Kind.COMMIT_ANSWERED,
                str(place),
                group=self._group,
                offset=ends[place].offset,
                after=_result(error),
                why=name_of(error) if error else None,
                caused_by=sequence,
            )

    def commits_in(
        self, transaction: int, taken: Sequence[ConsumerRecord]
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """What a producer is to commit with its transaction, of that sequence."""
        ends = ends_of(taken)
        for place, end in ends.items():
            self._asked(place, end.offset, transaction)
        return ends

    @property
    def metadata(self) -> ConsumerGroupMetadata:
        return self._consumer.group_metadata()

    def begin_again(self) -> None:
        """The next record of each partition is the first one that the group has not committed."""
        for place, commit in self._committed().items():
            with suppress(NotAssignedError):  # it has moved meanwhile
                self._consumer.seek(place, commit or OffsetAndMetadata(0))
                self._rows.assigned([place], self._generation)

    def _committed(self) -> Mapping[TopicPartition, OffsetAndMetadata | None]:
        while True:
            with suppress(TimedOutError):
                return self._consumer.committed(self._consumer.assignment())

    def _asked(self, place: TopicPartition, offset: int, transaction: int | None = None) -> int:
        return self._history.record(
            Kind.COMMIT_ASKED,
            str(place),
            group=self._group,
            offset=offset,
            epoch=self._generation,
            caused_by=transaction,
        )

    @property
    def _generation(self) -> int:
        return self._consumer.group_metadata().generation_id

    # As a listener

    def on_assigned(self, places: Sequence[TopicPartition]) -> None:
        self._rows.assigned(places, self._generation)

    def on_revoked(self, places: Sequence[TopicPartition]) -> None:
        self._rows.revoked(places, "revoked", self._generation)

    def on_lost(self, places: Sequence[TopicPartition]) -> None:
        self._rows.revoked(places, "lost", self._generation)


def ends_of(taken: Sequence[ConsumerRecord]) -> dict[TopicPartition, OffsetAndMetadata]:
    """The offsets to go on from."""
    return {each.place: OffsetAndMetadata(each.offset + 1) for each in taken}


def _result(error: ClientError | None) -> str:
    if error is None:
        return "kept"
    is_refused = isinstance(error, BrokerError) and error.code in _REFUSED
    return "refused" if is_refused or isinstance(error, CommitFailedError) else "unknown"
