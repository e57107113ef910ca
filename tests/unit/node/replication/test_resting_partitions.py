"""A session looks only at what may have news, and answers as if it had looked at everything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import methodcaller
from random import Random
from typing import Any

import pytest

from logquake.node.replication.fetch_sessions import FetchContext
from logquake.node.replication.partition.isr import PendingShrink
from logquake.node.replication.values import (
    FetchAnswer,
    FetchParams,
    FetchPartition,
    Isolation,
    PartitionKey,
    PartitionRead,
    ProduceEntry,
)
from logquake.wire.errors import ErrorCode
from logquake.wire.fetch_sessions import FINAL_EPOCH
from logquake.wire.messages.broker_to_controller import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    AlterPartitionResponseTopicData,
)
from tests.doubles.memory_disk import MemoryDisk
from tests.doubles.network import ScriptedNetwork
from tests.doubles.scheduler import ManualScheduler
from tests.unit.node.replication.one_broker import TOPIC_ID, OneBroker

PARTITIONS = 5
STEPS = 120
FOLLOWER, CONSUMER = 2, -1


@dataclass
class Fetching:
    """One reader's session, as the reader knows it."""

    replica_id: int
    replica_epoch: int = 70
    session: tuple[int, int] = (0, 0)
    answers: list[object] = field(default_factory=list)


@dataclass
class Twin:
    """One of two brokers that live the same life.

    ``walks``: wakes what rests at every turn, and checks all for lag.
    """

    broker: OneBroker
    walks: bool
    readers: dict[int, Fetching]

    def fetch(
        self,
        reader: int,
        named: Sequence[FetchPartition],
        forgotten: Sequence[PartitionKey],
        *,
        wait_ms: int,
        max_bytes: int,
        isolation: Isolation,
    ) -> None:
        if self.walks:
            for partition in self.broker.replicas.partitions():
                partition.wake_resting()
        known = self.readers[reader]
        params = FetchParams(
            reader, known.replica_epoch, wait_ms, 1, max_bytes, isolation, only_leader=True
        )
        context = self.broker.replicas.sessions.open(
            *known.session, params, by_topic_id=True, partitions=named, forgotten=forgotten
        )
        if context.error:
            known.answers.append(context.error)
            known.session = (0, 0)
            return

        def done(reads: Sequence[PartitionRead]) -> None:
            answer = context.answer(reads)
            said = [(asked.key, _told(result)) for asked, result in answer.partitions]
            known.answers.append((answer.error, answer.session_id, said))
            epoch = known.session[1] + 1 if answer.session_id else 0
            known.session = (answer.session_id, epoch)

        self.broker.replicas.fetches.fetch(params, context, done)

    def before_time_passes(self) -> None:
        if self.walks:
            for partition in self.broker.replicas.partitions():
                partition.context.touched(partition)
            self.broker.replicas.end_of_pass()

    def state(self) -> object:
        return [self.readers, [_state(p) for p in self.broker.replicas.partitions()]]


def _told(result: Any) -> object:
    records = result.records
    return (
        result.error,
        result.high_watermark,
        result.log_start_offset,
        result.diverging_epoch,
        (records.position, len(records)) if records else None,
    )


def _state(partition: Any) -> object:
    leader = partition.leader
    progress = leader.followers[FOLLOWER] if leader else None
    return (
        partition.name,
        type(partition.role).__name__,
        partition.leader_epoch,
        partition.replica.end,
        partition.replica.high_watermark,
        leader.isr if leader else None,
        (progress.log_end, progress.last_caught_up_ms, progress.broker_epoch) if progress else None,
    )


class Life:
    """What happens to both twins, from a seed."""

    def __init__(
        self, twins: Sequence[Twin], seed: int, scheduler: ManualScheduler, network: ScriptedNetwork
    ) -> None:
        self.twins = twins
        self.scheduler = scheduler
        self.network = network
        self.random = Random(seed)
        self.epochs = [0] * PARTITIONS

    def step(self) -> str:
        action = self.random.choice(
            [self.produce] * 3
            + [self.follow] * 6
            + [self.consume] * 3
            + [self.pass_time] * 3
            + [self.settle_isr] * 2
            + [self.lead, self.follow_elsewhere, self.delete, self.delete_records]
            + [self.restart_follower, self.change_live]
        )
        action()
        for twin in self.twins:
            twin.broker.replicas.end_of_pass()
        return action.__name__

    def each(self, act: Callable[[OneBroker], object]) -> None:
        for twin in self.twins:
            act(twin.broker)

    def any_partition(self) -> int:
        return self.random.randrange(PARTITIONS)

    def produce(self) -> None:
        index = self.any_partition()
        records = bytes(self.random.choice(BATCHES))

        def append(broker: OneBroker) -> None:
            entry = ProduceEntry("orders", index, memoryview(bytearray(records)))
            broker.replicas.appends.add([entry], 1, 1_000, lambda _results: None)

        self.each(append)

    def follow(self) -> None:
        self._fetch(FOLLOWER, Isolation.LOG_END)

    def consume(self) -> None:
        self._fetch(CONSUMER, Isolation.HIGH_WATERMARK)

    def _fetch(self, reader: int, isolation: Isolation) -> None:
        session_epoch = self.twins[0].readers[reader].session[1]
        some = range(PARTITIONS) if session_epoch == 0 else self._some()
        offsets = [self._offset(index) for index in some]
        forgotten = [(TOPIC_ID, i) for i in self._some()] if self.random.random() < 0.1 else []
        wait_ms = self.random.choice((0, 100, 400))
        max_bytes = self.random.choice((1, 150, 1 << 20))
        epochs = [self.epochs[i] - (self.random.random() < 0.1) for i in some]
        for twin in self.twins:
            named = [
                FetchPartition((TOPIC_ID, index), "orders", TOPIC_ID, index, offset, 1 << 20, epoch)
                for index, offset, epoch in zip(some, offsets, epochs, strict=True)
            ]
            twin.fetch(
                reader,
                named,
                forgotten,
                wait_ms=wait_ms,
                max_bytes=max_bytes,
                isolation=isolation,
            )

    def _some(self) -> list[int]:
        count = self.random.choice((0, 0, 1, 2))
        return self.random.sample(range(PARTITIONS), count)

    def _offset(self, index: int) -> int:
        partition = self.twins[0].broker.replicas.partition("orders", index)
        end = partition.replica.end if partition else 0
        return self.random.choice((end, end, end, max(0, end - 1), end + 1))

    def pass_time(self) -> None:
        for twin in self.twins:
            twin.before_time_passes()
        self.scheduler.advance(self.random.choice((50, 500, 8_000, 20_000)))

    def settle_isr(self) -> None:
        error = self.random.choice((ErrorCode.NONE, ErrorCode.NONE, ErrorCode.INELIGIBLE_REPLICA))
        sent, self.network.sent[:] = list(self.network.sent), []
        for one in sent:
            if isinstance(one.request, AlterPartitionRequest):
                one.done(_isr_answer(one.request, error))

    def _assign(self, leader: int) -> None:
        index = self.any_partition()
        self.epochs[index] += 1
        isr = self.random.choice(((1, 2), (1,)))
        self.each(
            lambda broker: broker.tell(index, leader=leader, epoch=self.epochs[index], isr=isr)
        )

    def lead(self) -> None:
        self._assign(1)

    def follow_elsewhere(self) -> None:
        self._assign(2)

    def delete(self) -> None:
        index = self.any_partition()
        self.each(lambda broker: broker.delete([index]))
        self.scheduler.advance(2)  # a worker thread makes it last

    def delete_records(self) -> None:
        index = self.any_partition()
        self.each(
            lambda broker: broker.replicas.deletions.delete(
                [("orders", index, -1)], 0, lambda _deleted: None
            )
        )

    def restart_follower(self) -> None:
        """Its sessions of before may still come to ask, from packets on their way."""
        keeps_session = self.random.random() < 0.5
        for twin in self.twins:
            known = twin.readers[FOLLOWER]
            known.replica_epoch += self.random.choice((1,))
            if not keeps_session:
                known.session = (0, 0)

    def change_live(self) -> None:
        live = self.random.choice(((1, 2), (1,)))
        self.each(lambda broker: broker.see_live(*live))


def _isr_answer(request: AlterPartitionRequest, error: ErrorCode) -> AlterPartitionResponse:
    return AlterPartitionResponse(
        topics=[
            AlterPartitionResponseTopicData(
                topic_id=topic.topic_id,
                partitions=[
                    AlterPartitionResponsePartitionData(
                        partition_index=asked.partition_index,
                        error_code=error,
                        leader_epoch=asked.leader_epoch,
                        isr=[member.broker_id for member in asked.new_isr_with_epochs],
                        partition_epoch=asked.partition_epoch + 1,
                    )
                    for asked in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


BATCHES: list[bytes] = []


@pytest.fixture(autouse=True)
def _batches(batch: Callable[..., memoryview]) -> None:
    BATCHES[:] = [bytes(batch(b"v")), bytes(batch(b"a" * 90, b"b"))]


@pytest.mark.parametrize("seed", range(40))
def test_a_session_answers_as_a_walk_over_all_of_it_would(
    start: Callable[[MemoryDisk], OneBroker],
    scheduler: ManualScheduler,
    network: ScriptedNetwork,
    seed: int,
) -> None:
    def readers() -> dict[int, Fetching]:
        return {reader: Fetching(reader) for reader in (FOLLOWER, CONSUMER)}

    twins = [Twin(start(MemoryDisk()), walks, readers()) for walks in (False, True)]
    life = Life(twins, seed, scheduler, network)
    for index in range(PARTITIONS):
        life.each(methodcaller("lead", index))
    for number in range(STEPS):
        done = life.step()
        rests, walks = (twin.state() for twin in twins)
        assert rests == walks, f"seed {seed}, step {number}: {done}"


def _follow(
    broker: OneBroker, session: tuple[int, int], *, broker_epoch: int = 70
) -> tuple[FetchContext, FetchAnswer]:
    """A Fetch of the follower that has everything: what it looks at, and the answer."""
    params = FetchParams(FOLLOWER, broker_epoch, 0, 1, 1 << 20, Isolation.LOG_END)
    named = [
        FetchPartition((TOPIC_ID, index), "orders", TOPIC_ID, index, 0, 1 << 20)
        for index in range(PARTITIONS)
    ]
    context = broker.replicas.sessions.open(
        *session,
        params,
        by_topic_id=True,
        partitions=() if session[0] else named,
        forgotten=(),
    )
    answers: list[FetchAnswer] = []
    broker.replicas.fetches.fetch(
        params, context, lambda reads: answers.append(context.answer(reads))
    )
    return context, answers[0]


def _begin(broker: OneBroker, *, broker_epoch: int = 70) -> int:
    return _follow(broker, (0, 0), broker_epoch=broker_epoch)[1].session_id


@pytest.fixture
def followed(broker: OneBroker) -> OneBroker:
    for index in range(PARTITIONS):
        broker.lead(index)
    return broker


def test_only_partitions_that_changed_are_looked_at(
    followed: OneBroker, batch: Callable[..., memoryview]
) -> None:
    session = _begin(followed)
    assert not _follow(followed, (session, 1))[0].partitions
    entry = ProduceEntry("orders", 3, batch(b"v"))
    followed.replicas.appends.add([entry], 1, 1_000, lambda _results: None)
    followed.replicas.end_of_pass()
    assert [asked.partition for asked in _follow(followed, (session, 2))[0].partitions] == [3]


def test_a_follower_stays_in_sync_by_fetches_that_look_at_nothing(
    followed: OneBroker, scheduler: ManualScheduler, batch: Callable[..., memoryview]
) -> None:
    session = _begin(followed)
    for epoch in range(1, 5):
        scheduler.advance(20_000)
        _follow(followed, (session, epoch))
    entry = ProduceEntry("orders", 0, batch(b"v"))
    followed.replicas.appends.add([entry], 1, 1_000, lambda _results: None)
    followed.replicas.end_of_pass()
    scheduler.advance(29_000)
    partition = followed.partition()
    assert partition.leader is not None
    assert partition.leader.isr.maximal == partition.isr == (1, 2)
    scheduler.advance(20_000)
    assert isinstance(partition.leader.isr, PendingShrink)


def test_a_session_that_is_gone_leaves_nothing_at_its_partitions(followed: OneBroker) -> None:
    session = _begin(followed)
    _follow(followed, (session, FINAL_EPOCH))
    partitions = followed.replicas.partitions()
    assert not any(partition._resting for partition in partitions)


def _wait(broker: OneBroker, session: tuple[int, int]) -> list[FetchAnswer]:
    """A consumer's Fetch that names every partition, and is answered a second later."""
    params = FetchParams(CONSUMER, -1, 1_000, 1, 1 << 20, Isolation.HIGH_WATERMARK)
    named = [
        FetchPartition((TOPIC_ID, index), "orders", TOPIC_ID, index, 0, 1 << 20)
        for index in range(PARTITIONS)
    ]
    context = broker.replicas.sessions.open(
        *session, params, by_topic_id=True, partitions=named, forgotten=()
    )
    answers: list[FetchAnswer] = []
    broker.replicas.fetches.fetch(
        params, context, lambda reads: answers.append(context.answer(reads))
    )
    return answers


def test_a_fetch_that_outlasts_its_session_leaves_nothing_at_its_partitions(
    followed: OneBroker, scheduler: ManualScheduler
) -> None:
    session = _begin(followed)
    answers = _wait(followed, (session, 1))
    _follow(followed, (session, FINAL_EPOCH))
    scheduler.advance(1_000)
    assert [answer.error for answer in answers] == [ErrorCode.NONE]
    partitions = followed.replicas.partitions()
    assert not any(partition._resting for partition in partitions)


def test_a_fetch_whose_session_its_reader_left_looks_at_nothing_more(followed: OneBroker) -> None:
    """After a leader change a follower leaves one of thousands of partitions."""
    session = _begin(followed)
    sessions = followed.replicas.sessions
    params = FetchParams(FOLLOWER, 70, 1_000, 1, 1 << 20, Isolation.LOG_END)
    context = sessions.open(session, 1, params, by_topic_id=True, partitions=(), forgotten=())
    due: list[FetchPartition] = []
    context.watch(due.append)
    _follow(followed, (session, FINAL_EPOCH))
    assert due == []


def test_a_fetch_whose_session_is_emptied_meanwhile_is_refused(
    followed: OneBroker, scheduler: ManualScheduler
) -> None:
    session = _begin(followed)
    answers = _wait(followed, (session, 1))
    followed.replicas.sessions.open(
        session,
        2,
        FetchParams(CONSUMER, -1, 0, 1, 1 << 20, Isolation.HIGH_WATERMARK),
        by_topic_id=True,
        partitions=(),
        forgotten=[(TOPIC_ID, index) for index in range(PARTITIONS)],
    )
    scheduler.advance(1_000)
    assert [answer.error for answer in answers] == [ErrorCode.INVALID_FETCH_SESSION_EPOCH]


def test_what_rests_for_an_earlier_life_of_the_follower_is_refused(followed: OneBroker) -> None:
    session = _begin(followed)
    _begin(followed, broker_epoch=71)
    _, answer = _follow(followed, (session, 1))
    errors = [result.error for _, result in answer.partitions]
    assert errors == [ErrorCode.NOT_LEADER_OR_FOLLOWER] * PARTITIONS
