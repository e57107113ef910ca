"""A transactional id: batches and a group's offsets that count together, or not at all (KIP-98).

Whoever takes the id ends what its producer before left open, and fences that producer: from then
on nothing of the latter can be committed. A transaction begins with the first that is sent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TypeVar

from logquake.client.commits import Commit
from logquake.client.connection import Connection
from logquake.client.coordinators import coordinator_of, group_coordinator
from logquake.client.errors import ClientError, check
from logquake.client.producer.one_at_a_time import (
    Delivered,
    Identity,
    Producer,
    ProducerRecord,
    ProducerSettings,
)
from logquake.client.producer.transactions.enlisted import LAST_ADD_OF_CLIENTS
from logquake.client.routing import Router
from logquake.wire.coordinator_type import CoordinatorType
from logquake.wire.errors import ErrorCode
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
from logquake.wire.sentinels import UNKNOWN_MEMBER_ID
from logquake.wire.topic_partition import TopicPartition

T = TypeVar("T")

# An offset is committed by who has just written there, or names a topic that it was told.
_NO_SUCH_TOPIC = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,)


class TransactionalProducer:
    """Takes the id when it is made.

    All methods raise ClientError: BrokerError PRODUCER_FENCED or INVALID_PRODUCER_EPOCH once
    another one has taken the id. After any error only ``abort`` is of use.
    """

    def __init__(
        self,
        router: Router,
        transactional_id: str,
        *,
        timeout_ms: int,
        settings: ProducerSettings | None = None,
    ) -> None:
        """``timeout_ms``: a transaction that is open for longer is aborted by its coordinator."""
        self._router = router
        self._id = transactional_id
        self._identity = self._take(timeout_ms)
        settings = replace(settings or ProducerSettings(), enable_idempotence=True)
        self._producer = Producer(router, settings, self._identity)
        self._partitions: set[TopicPartition] = set()
        self._is_open = False

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commits at the end; aborts, as far as that can be, where an error ends it."""
        try:
            yield
            self.commit()
        except BaseException:
            # Who cannot abort leaves it to the next with this id, or to the time-out.
            with suppress(ClientError):
                self.abort(timeout_ms=0)
            raise

    def send(self, topic: str, partition: int, records: Sequence[ProducerRecord]) -> Delivered:
        """As ``Producer.send``."""
        place = TopicPartition(topic, partition)
        if place not in self._partitions:
            self._add_partition(place)
            self._partitions.add(place)
        return self._producer.send(topic, partition, records)

    def send_offsets(self, group_id: str, commits: Mapping[TopicPartition, Commit]) -> None:
        """Committed for the group with the transaction. Their topics have to exist."""
        self._add_group(group_id)
        by_topic: dict[str, list[TxnOffsetCommitRequestPartition]] = defaultdict(list)
        for (topic, partition), commit in sorted(commits.items()):
            by_topic[topic].append(
                TxnOffsetCommitRequestPartition(
                    partition_index=partition,
                    committed_offset=commit.offset,
                    committed_metadata=commit.metadata,
                )
            )
        request = TxnOffsetCommitRequest(
            transactional_id=self._id,
            group_id=group_id,
            producer_id=self._identity.producer_id,
            producer_epoch=self._identity.epoch,
            member_id=UNKNOWN_MEMBER_ID,
            topics=[
                TxnOffsetCommitRequestTopic(name=topic, partitions=partitions)
                for topic, partitions in by_topic.items()
            ],
        )

        def attempt() -> None:
            coordinator = group_coordinator(self._router, group_id)
            for topic in coordinator.request(request, TxnOffsetCommitResponse).topics:
                for each in topic.partitions:
                    context = f"commit of group {group_id} in {topic.name}"
                    check(
                        each.error_code, f"{context}-{each.partition_index}", final=_NO_SUCH_TOPIC
                    )

        self._router.with_retries(attempt)

    def commit(self) -> None:
        """Returns once it is decided, which readers may see a moment later."""
        self._end(committed=True)

    def abort(self, *, timeout_ms: int | None = None) -> None:
        """``timeout_ms`` with all retries; by default as for all else."""
        self._end(committed=False, timeout_ms=timeout_ms)

    def _take(self, timeout_ms: int) -> Identity:
        request = InitProducerIdRequest(
            transactional_id=self._id, transaction_timeout_ms=timeout_ms
        )

        def attempt(coordinator: Connection) -> Identity:
            answer = coordinator.request(request, InitProducerIdResponse)
            check(answer.error_code, self._context)
            return Identity(answer.producer_id, answer.producer_epoch, self._id)

        return self._ask(attempt)

    def _add_partition(self, place: TopicPartition) -> None:
        topic = AddPartitionsToTxnTopic(name=place.topic, partitions=[place.partition])
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._id,
            v3_and_below_producer_id=self._identity.producer_id,
            v3_and_below_producer_epoch=self._identity.epoch,
            v3_and_below_topics=[topic],
        )

        def attempt(coordinator: Connection) -> None:
            answer = coordinator.request(
                request, AddPartitionsToTxnResponse, at_most=LAST_ADD_OF_CLIENTS
            )
            for found in answer.results_by_topic_v3_and_below:
                for each in found.results_by_partition:
                    check(each.partition_error_code, f"{place} in a transaction of {self._id}")

        # Where the answer is lost the transaction may have begun all the same.
        self._is_open = True
        self._ask(attempt)

    def _add_group(self, group_id: str) -> None:
        request = AddOffsetsToTxnRequest(
            transactional_id=self._id,
            producer_id=self._identity.producer_id,
            producer_epoch=self._identity.epoch,
            group_id=group_id,
        )

        def attempt(coordinator: Connection) -> None:
            answer = coordinator.request(request, AddOffsetsToTxnResponse)
            check(answer.error_code, f"group {group_id} in a transaction of {self._id}")

        self._is_open = True
        self._ask(attempt)

    def _end(self, *, committed: bool, timeout_ms: int | None = None) -> None:
        if not self._is_open:
            return
        request = EndTxnRequest(
            transactional_id=self._id,
            producer_id=self._identity.producer_id,
            producer_epoch=self._identity.epoch,
            committed=committed,
        )

        def attempt(coordinator: Connection) -> None:
            check(coordinator.request(request, EndTxnResponse).error_code, self._context)

        self._ask(attempt, timeout_ms)
        self._is_open = False
        self._partitions.clear()

    def _ask(self, attempt: Callable[[Connection], T], timeout_ms: int | None = None) -> T:
        """The id's coordinator, whichever broker that is by now."""

        def ask() -> T:
            kind = CoordinatorType.TRANSACTION
            coordinator = coordinator_of(self._router, kind, self._id)
            return attempt(self._router.broker(coordinator))

        return self._router.with_retries(ask, timeout_ms)

    @property
    def _context(self) -> str:
        return f"transactional id {self._id}"
