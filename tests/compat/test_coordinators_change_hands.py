"""Groups with live members and open transactions, coordinated by ours and Kafka's in turn.

One broker of each kind holds the coordinators' topics. The one that leads is killed amid a
rebalance and amid transactions that are begun, prepared to commit and prepared to abort; the other
one goes on with what members were told, and completes what was prepared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from logquake.chaos.workloads.readback import read_committed
from logquake.client.errors import ClientError
from logquake.cluster.api import Cluster
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_membership import JoinGroupResponse, SyncGroupResponse
from logquake.wire.messages.transaction_admin import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from tests.compat.adapters.librdkafka import transactional_producer
from tests.compat.coordinated_in_turns import (
    COORDINATED,
    LEADS_RECORDS,
    OURS,
    cluster_of_ours,
    coordinated_by_both,
)
from tests.compat.joining_kafka import KAFKA_ID, kill
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.new_topics import create
from tests.one_group import LONG, Group
from tests.unit.node.requests.group_members import join, sync
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [pytest.mark.maven, pytest.mark.slow]

JOIN_VERSION, SYNC_VERSION = 9, 5
INSTANCE = "static"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster_of_ours(tmp_path_factory.mktemp("cluster")) as kafka:
        yield kafka


class StableGroup:
    """A leader, and a static member beside it, that have their assignments."""

    def __init__(self, cluster: Cluster) -> None:
        self.group = Group(cluster)
        self.group.look_up()
        self.leader = str(self.group.join().member_id)
        self.group.ask(self._sync(self.leader, 1, {}), SyncGroupResponse, SYNC_VERSION)
        waiting = self.group.ask_later(self._join_static(), JoinGroupResponse, JOIN_VERSION)
        self.group.wait_for_members(2)
        self.generation = int(self.group.join(self.leader).generation_id)
        self.static = str(waiting.result().member_id)
        given = {self.leader: b"one", self.static: b"two"}
        asked = self._sync(self.leader, self.generation, given)
        self.group.ask(asked, SyncGroupResponse, SYNC_VERSION)
        self._told = self._describe()

    def check_next_coordinator(self) -> None:
        """It knows everything; a static member that is started anew disturbs nobody (KIP-345)."""
        group, generation = self.group, self.generation
        group.look_up()
        assert self._describe() == self._told
        assert group.beat(self.leader, generation) == ErrorCode.NONE
        assert group.beat(self.static, generation) == ErrorCode.NONE
        assert group.beat(self.leader, generation - 1) == ErrorCode.ILLEGAL_GENERATION
        asked = self._sync(self.leader, generation, {})
        assert group.ask(asked, SyncGroupResponse, SYNC_VERSION).assignment == b"one"
        again = group.ask(self._join_static(), JoinGroupResponse, JOIN_VERSION)
        assert (again.error_code, again.generation_id) == (ErrorCode.NONE, generation)
        assert again.member_id != self.static
        assert group.beat(again.member_id, generation) == ErrorCode.NONE
        assert group.beat(self.leader, generation) == ErrorCode.NONE
        assert group.describe().group_state == "Stable"
        group.close()

    def _describe(self) -> Any:
        told = self.group.describe()
        told.members.sort(key=lambda member: member.member_id)
        return told

    def _join_static(self) -> Any:
        return join("", group=self.group.name, group_instance_id=INSTANCE, **LONG)

    def _sync(self, member_id: str, generation: int, given: dict[str, bytes]) -> Any:
        return sync(member_id, generation, given, group=self.group.name)


class RebalancingGroup:
    """One member with its assignment, and another one that waits to join."""

    def __init__(self, cluster: Cluster) -> None:
        self.group = Group(cluster)
        self.group.look_up()
        self.first = str(self.group.join().member_id)
        asked = sync(self.first, 1, {self.first: b"all"}, group=self.group.name)
        self.group.ask(asked, SyncGroupResponse, SYNC_VERSION)
        self._waiting = self.group.join_later()
        self.group.wait_for_members(2)
        assert self.group.beat(self.first, 1) == ErrorCode.REBALANCE_IN_PROGRESS

    def check_next_coordinator(self) -> None:
        """The generation that was told goes on; who waited to join asks again, and then may."""
        group = self.group
        group.look_up()
        with pytest.raises(ClientError):
            self._waiting.result()
        assert group.beat(self.first, 1) == ErrorCode.NONE
        (member,) = group.describe().members
        assert (member.member_id, member.member_assignment) == (self.first, b"all")
        waiting = group.join_later()
        group.wait_for_members(2)
        assert group.join(self.first).generation_id == 2
        assert waiting.result().generation_id == 2
        group.close()


class Transactions:
    """One begun, one prepared to commit, one prepared to abort, in a topic nobody leads by then."""

    def __init__(self, cluster: Cluster, topic: str) -> None:
        self._cluster = cluster
        self._topic = topic
        create(cluster.bootstrap_servers, NewTopic(topic, 1, replica_assignment=[[LEADS_RECORDS]]))
        self._names = [f"{topic}-{what}" for what in ("begun", "committed", "aborted")]
        self._begun, committed, aborted = (self._producer(name) for name in self._names)
        cluster.kill(LEADS_RECORDS)
        committed.commit_transaction(PATIENCE_S)
        aborted.abort_transaction(PATIENCE_S)

    def states(self, group: Group) -> list[str]:
        """As whoever coordinates says; ``group`` is one that the same broker coordinates."""
        asked = DescribeTransactionsRequest(transactional_ids=self._names)
        told = group.ask(asked, DescribeTransactionsResponse, 0).transaction_states
        return [each.transaction_state or error_of(each) for each in told]

    def check_next_coordinator(self, group: Group) -> None:
        prepared = ["Ongoing", "PrepareCommit", "PrepareAbort"]
        wait_for("log", lambda: self.states(group), lambda states: states == prepared)
        self._cluster.start(LEADS_RECORDS)
        completed = ["Ongoing", "CompleteCommit", "CompleteAbort"]
        wait_for("markers", lambda: self.states(group), lambda states: states == completed)
        self._begun.commit_transaction(PATIENCE_S)
        wanted = {name.encode() for name in self._names[:2]}
        wait_for("committed records", self._read, lambda read: read == wanted)

    def _read(self) -> set[bytes | None]:
        servers = self._cluster.bootstrap_servers
        return {each.value for each in read_committed(servers, self._topic, timeout_s=PATIENCE_S)}

    def _producer(self, name: str) -> Producer:
        """Amid a transaction with one record, which is there."""
        servers = self._cluster.bootstrap_servers
        producer = transactional_producer(servers, name, {"log_level": 0})
        producer.begin_transaction()
        producer.produce(self._topic, name.encode(), partition=0)
        assert producer.flush(PATIENCE_S) == 0
        return producer


def error_of(state: Any) -> str:
    return ErrorCode(state.error_code).name


class AmidAll:
    def __init__(self, cluster: Cluster, topic: str) -> None:
        self._stable, self._rebalancing = StableGroup(cluster), RebalancingGroup(cluster)
        self._transactions = Transactions(cluster, topic)
        states = self._transactions.states(self._stable.group)
        assert states == ["Ongoing", "PrepareCommit", "PrepareAbort"]

    def check_next_coordinator(self, broker_id: int) -> None:
        self._rebalancing.check_next_coordinator()
        self._stable.check_next_coordinator()
        assert self._stable.group.broker == broker_id
        self._transactions.check_next_coordinator(self._stable.group)


def test_kafka_goes_on_where_ours_was_killed_and_ours_where_kafka_was(
    kafka_programs: KafkaPrograms, cluster: Cluster
) -> None:
    with coordinated_by_both(kafka_programs, cluster) as kafka:
        amid = AmidAll(cluster, "from-ours")
        with cluster.kill(OURS):
            amid.check_next_coordinator(KAFKA_ID)
        for topic in COORDINATED:
            cluster.wait_isr(topic, 0, size=2, timeout=PATIENCE_S)
        amid = AmidAll(cluster, "from-kafka")
        kill(kafka, cluster)
        amid.check_next_coordinator(OURS)
