"""Throttled replicas are held back while their broker is over its rate; those in sync are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from logquake.node.replication.fetch_sessions import FetchContext
from logquake.node.replication.settings import ReplicationSettings, TopicConfig
from logquake.node.replication.throttling import NOBODY, ThrottledReplicas
from logquake.node.replication.values import (
    FetchParams,
    FetchPartition,
    Isolation,
    PartitionRead,
    ProduceEntry,
)
from logquake.wire.uuids import ZERO_UUID
from tests.doubles.network import ScriptedNetwork
from tests.doubles.scheduler import ManualScheduler
from tests.unit.node.replication.one_broker import BROKER_ID, OneBroker
from tests.unit.node.replication.test_fetcher import answer, data, named

Batch = Callable[..., memoryview]
ALL = ThrottledReplicas(None)
RATE = 1_000


@pytest.mark.parametrize(
    ("text", "included"),
    [
        ("", []),
        ("*", [(0, 1), (0, 2), (1, 1)]),
        (" 0:1 ", [(0, 1)]),
        ("0:1,1:1", [(0, 1), (1, 1)]),
    ],
)
def test_which_replicas_a_topic_throttles(text: str, included: list[tuple[int, int]]) -> None:
    throttled = ThrottledReplicas.parse(text)
    asked = [(0, 1), (0, 2), (1, 1)]
    assert [each for each in asked if throttled.includes(*each)] == included


@pytest.fixture
def settings() -> ReplicationSettings:
    return ReplicationSettings(leader_max_bytes_per_second=RATE, follower_max_bytes_per_second=RATE)


class TestFollower:
    """What it fetches is over the rate for three seconds, of which it takes notice each second."""

    @pytest.fixture
    def following(self, broker: OneBroker) -> OneBroker:
        broker.config = TopicConfig(throttled_followers=ThrottledReplicas.parse(f"0:{BROKER_ID}"))
        broker.assign(leader=2)
        return broker

    def fetch(self, network: ScriptedNetwork, batch: Batch, high_watermark: int) -> None:
        records = batch(b"x" * 2_900, leader_epoch=0)
        assert len(records) < 3 * RATE
        answer(network, data(records=records, high_watermark=high_watermark))

    @pytest.mark.usefixtures("following")
    def test_it_is_left_out_until_the_rate_has_fallen(
        self, network: ScriptedNetwork, scheduler: ManualScheduler, batch: Batch
    ) -> None:
        self.fetch(network, batch, high_watermark=9)
        assert named(network) == []
        answer(network)
        scheduler.advance(2_999)
        assert named(network) == []
        scheduler.advance(1)
        assert named(network) == [(0, 1)]

    @pytest.mark.usefixtures("following")
    def test_who_is_in_sync_goes_on(self, network: ScriptedNetwork, batch: Batch) -> None:
        self.fetch(network, batch, high_watermark=1)
        assert named(network) == [(0, 1)]

    def test_others_go_on(self, broker: OneBroker, network: ScriptedNetwork, batch: Batch) -> None:
        broker.config = TopicConfig(throttled_followers=ThrottledReplicas.parse("0:2,1:1"))
        broker.assign(leader=2)
        self.fetch(network, batch, high_watermark=9)
        assert named(network) == [(0, 1)]

    def test_a_rate_that_is_raised_counts_soon(
        self,
        following: OneBroker,
        network: ScriptedNetwork,
        scheduler: ManualScheduler,
        settings: ReplicationSettings,
        batch: Batch,
    ) -> None:
        self.fetch(network, batch, high_watermark=9)
        raised = replace(settings, follower_max_bytes_per_second=100 * RATE)
        following.replicas.reconfigure(raised, lambda _topic: following.config)
        answer(network)
        scheduler.advance(1_000)
        assert named(network) == [(0, 1)]


class TestLeader:
    @pytest.fixture
    def leading(self, broker: OneBroker, batch: Batch) -> OneBroker:
        """Three batches of some 900 bytes; broker 2 is not in sync."""
        broker.config = TopicConfig(throttled_leaders=ALL)
        broker.lead(isr=(BROKER_ID,))
        for _ in range(3):
            entry = ProduceEntry("orders", 0, batch(b"x" * 900))
            broker.replicas.appends.add([entry], 1, 0, lambda _results: None)
            broker.replicas.end_of_pass()
        return broker

    def sent(self, broker: OneBroker, offset: int, replica_id: int = 2) -> int:
        """Bytes of the answer to a follower that fetches from there; one batch a time."""
        key = ("orders", 0)
        asked = FetchPartition(key, "orders", ZERO_UUID, 0, offset, 100)
        params = FetchParams(
            replica_id=replica_id,
            replica_epoch=-1,
            max_wait_ms=0,
            min_bytes=1,
            max_bytes=10_000,
            isolation=Isolation.LOG_END,
        )
        answers: list[PartitionRead] = []
        broker.replicas.fetches.fetch(params, FetchContext([asked]), answers.extend)
        (read,) = answers
        return len(read.result.records or b"")

    def test_who_is_not_in_sync_gets_nothing_until_the_rate_has_fallen(
        self, leading: OneBroker, scheduler: ManualScheduler
    ) -> None:
        assert [self.sent(leading, offset) > 0 for offset in range(3)] == [True, True, False]
        scheduler.advance(2_000)
        assert self.sent(leading, 2) > 0

    def test_consumers_and_replicas_that_are_not_named_get_all(
        self, leading: OneBroker, settings: ReplicationSettings
    ) -> None:
        for offset in (0, 1):
            self.sent(leading, offset)
        assert self.sent(leading, 2, replica_id=-1) > 0
        leading.replicas.reconfigure(settings, lambda _topic: TopicConfig(throttled_leaders=NOBODY))
        assert self.sent(leading, 2) > 0

    def test_who_is_in_sync_gets_all(self, leading: OneBroker) -> None:
        leading.lead(isr=(BROKER_ID, 2), epoch=1)
        assert all(self.sent(leading, offset) > 0 for offset in (0, 1, 2))
