"""Members of a group come, go and lose their sessions in any order: in the end each partition is
one member's, and meanwhile never two members fetch it who both have their sessions.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from random import Random
from threading import Event
from typing import Any

import pytest

from logquake.client.classic.consuming import group as znodes
from logquake.client.classic.consuming.offsets import OffsetsInZooKeeper
from logquake.client.classic.consuming.rebalancer import Rebalancer
from logquake.client.classic.consuming.registering import Registering
from logquake.client.classic.consuming.registration import StaticTopics
from logquake.client.classic.consuming.statistics import ConsumerStatistics
from logquake.client.classic.consuming.stream import PartitionTopicInfo, StreamBuffer
from logquake.client.classic.coordination import nodes
from logquake.client.classic.coordination.client import ZkClient
from logquake.client.classic.errors import NotRegisteredError, RebalanceFailedError
from logquake.client.classic.settings.consumer import ConsumerConfig
from logquake.client.errors import broker_error
from logquake.client.settings.reading import read
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.znodes.topics import TopicAssignment
from tests.unit.client.classic.conftest import NewZk
from tests.unit.client.classic.model_zookeeper import SharedZooKeeper
from tests.unit.client.cluster_in_memory import FakeClock
from tests.waiting import wait_for

WANTED = StaticTopics({"t": 2})
_ROUNDS = 30


class Fetching:
    """Nothing is fetched: each partition is read by one message as soon as it is owned."""

    def __init__(self) -> None:
        self.infos: dict[TopicPartition, PartitionTopicInfo] = {}
        self.began_at: dict[TopicPartition, int] = {}

    def start(self, infos: Iterable[PartitionTopicInfo]) -> None:
        self.infos = {info.place: info for info in infos}
        self.began_at = {place: info.consumed_offset for place, info in self.infos.items()}
        for info in self.infos.values():
            info.consumed_offset = max(0, info.consumed_offset) + 1

    def stop(self) -> None:
        self.infos = {}


class MemberOfGroup:
    """It acts when it is told to, and not by itself."""

    def __init__(self, name: str, config: ConsumerConfig, new_zk: NewZk) -> None:
        self.told: list[str] = []
        self.zk: ZkClient = new_zk(self.told)
        self.name = name
        self.fetching = Fetching()
        statistics = ConsumerStatistics()
        self.offsets = OffsetsInZooKeeper(self.zk, "g", statistics)
        self._registering = Registering(name, config, FakeClock())
        self.rebalancer = Rebalancer(
            name, config, self.zk, self.offsets, self.fetching, Event(), statistics
        )
        self._buffers = [StreamBuffer(1), StreamBuffer(1)]
        self.register()
        self.is_settled = self._tries(
            lambda: self.rebalancer.start(
                self._buffers, lambda _topic, thread: self._buffers[thread.number]
            )
        )

    def register(self) -> None:
        self._registering.register(self.zk, WANTED, Event())

    def act(self) -> None:
        """On what it was told since the last time."""
        told, self.told[:] = set(self.told), []
        if "a new session" in told:
            self.rebalancer.forget()
            self.register()
        if told or not self.is_settled:
            self.is_settled = self._tries(self.rebalancer.rebalance)

    def leave(self) -> None:
        """In order: what it has read is committed."""
        self.rebalancer.stop()
        self.offsets.commit(self.rebalancer.consumed())
        self.zk.close()

    def _tries(self, rebalance: object) -> bool:
        assert callable(rebalance)
        try:
            rebalance()
        except RebalanceFailedError:
            return False
        return True


class GroupOfMembers:
    def __init__(self, seed: int, new_zk: NewZk, zookeeper: SharedZooKeeper) -> None:
        self.members: list[MemberOfGroup] = []
        self.partitions = 0
        self._random = Random(seed)
        self._new_zk = new_zk
        self._zookeeper = zookeeper
        self._zk = new_zk()
        self._names = count()
        self._config = read(
            ConsumerConfig,
            {
                "zookeeper.connect": "model",
                "group.id": "g",
                "rebalance.backoff.ms": 0,
                "rebalance.max.retries": 1,
                "partition.assignment.strategy": self._random.choice(["range", "roundrobin"]),
            },
        )
        self._zk.run(nodes.put("/brokers/ids/1", b"{}"))
        self.grow()

    def grow(self) -> None:
        self.partitions += self._random.randint(1, 3)
        assignment = TopicAssignment(None, dict.fromkeys(range(self.partitions), (1,)))
        self._zk.run(nodes.put(TopicAssignment.path("t"), assignment.encode()))

    def join(self) -> None:
        name = f"member-{next(self._names)}"
        self.members.append(MemberOfGroup(name, self._config, self._new_zk))

    def leave(self) -> None:
        if self.members:
            self.members.pop(self._random.randrange(len(self.members))).leave()

    def lose_a_session(self) -> None:
        """Whoever had it is told; until then it goes on as if nothing had happened."""
        if self.members:
            victim = self._random.choice(self.members)
            ended = victim.zk.session_id
            self._zookeeper.expire(ended)
            wait_for("session", lambda: victim.zk.session_id != ended and victim.told)

    def act(self) -> None:
        if self.members:
            self._random.choice(self.members).act()

    def step(self) -> None:
        self._random.choice(
            [self.join, self.leave, self.lose_a_session, self.grow, *[self.act] * 8]
        )()
        self.check()

    def settle(self) -> None:
        """Everybody acts until nobody has anything to do."""

        def are_all_settled() -> bool:
            for each in self.members:
                each.act()
                self.check()
            return all(each.is_settled and not each.told for each in self.members)

        wait_for("settled group", lambda: are_all_settled() and self.owned() == self.owners())

    def check(self) -> None:
        """Whoever lost its session, and has not heard of it, may fetch what another one owns."""
        sound = [each for each in self.members if "a new session" not in each.told]
        fetched = [place for each in sound for place in each.fetching.infos]
        assert len(fetched) == len(set(fetched))

    def places(self) -> list[TopicPartition]:
        return [TopicPartition("t", number) for number in range(self.partitions)]

    def owned(self) -> dict[TopicPartition, str]:
        """As members see it."""
        return {place: each.name for each in self.members for place in each.fetching.infos}

    def owners(self) -> dict[TopicPartition, str]:
        """As ZooKeeper has it; of a group without members nothing."""
        found = {}
        for number in range(self.partitions if self.members else 0):
            place = TopicPartition("t", number)
            there = self._zk.run(nodes.read(znodes.owner_path("g", place)))
            found[place] = "" if there is None else there.data.decode().rpartition("-")[0]
        return found

    def offsets(self) -> dict[TopicPartition, int]:
        return self._zk.run(znodes.offsets_of("g", self.places()))

    def commit(self, offset: int) -> None:
        """As somebody would who owned all of it for a while."""
        self._zk.run(znodes.put_offsets("g", dict.fromkeys(self.places(), offset)))


@pytest.mark.parametrize("seed", range(12))
def test_each_partition_is_one_members(
    seed: int, new_zk: NewZk, zookeeper: SharedZooKeeper
) -> None:
    group = GroupOfMembers(seed, new_zk, zookeeper)
    group.join()
    for _ in range(_ROUNDS):
        group.step()
    group.settle()


def test_what_one_has_read_the_next_does_not_read_again(
    new_zk: NewZk, zookeeper: SharedZooKeeper
) -> None:
    group = GroupOfMembers(1, new_zk, zookeeper)
    for _ in range(2):
        group.join()
        group.settle()
    before = group.offsets()
    group.leave()
    group.settle()
    (left,) = group.members
    assert all(offset >= before[place] for place, offset in group.offsets().items())
    assert {place: info.consumed_offset - 1 for place, info in left.fetching.infos.items()} == (
        group.offsets()
    )


def test_a_change_that_does_not_matter_stops_nobody(
    new_zk: NewZk, zookeeper: SharedZooKeeper
) -> None:
    group = GroupOfMembers(1, new_zk, zookeeper)
    group.join()
    group.settle()
    (member,) = group.members
    infos = member.fetching.infos
    member.told.append("/brokers/topics/t")
    member.act()
    assert member.fetching.infos is infos


def test_what_went_with_a_session_is_claimed_in_the_next(
    new_zk: NewZk, zookeeper: SharedZooKeeper
) -> None:
    """Though the group looks as before."""
    group = GroupOfMembers(1, new_zk, zookeeper)
    group.join()
    group.settle()
    group.lose_a_session()
    assert set(group.owners().values()) == {""}
    group.settle()
    assert set(group.owners().values()) == {"member-0"}


def test_what_was_read_in_a_session_that_is_over_is_not_committed_over_what_others_have(
    new_zk: NewZk, zookeeper: SharedZooKeeper
) -> None:
    group = GroupOfMembers(1, new_zk, zookeeper)
    group.join()
    group.settle()
    group.lose_a_session()
    group.commit(500)
    group.settle()
    assert set(group.offsets().values()) == {500}
    (member,) = group.members
    assert {info.consumed_offset for info in member.fetching.infos.values()} == {501}


def test_offsets_are_asked_for_once_others_commit_no_more(
    new_zk: NewZk, zookeeper: SharedZooKeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has to give partitions up may do so at any time, also while somebody asks."""
    group = GroupOfMembers(1, new_zk, zookeeper)
    for _ in range(2):
        group.join()
        group.settle()
    first, second = group.members
    claim = znodes.claim

    async def the_other_goes_before_the_claim(*args: Any) -> bool:
        monkeypatch.setattr(znodes, "claim", claim)
        for place in second.fetching.infos:
            await nodes.put(f"/consumers/g/offsets/t/{place.partition}", b"700")
            await nodes.give_up(znodes.owner_path("g", place), second.zk.session_id)
        return await claim(*args)

    moved = set(second.fetching.infos)
    second.zk.run(nodes.give_up("/consumers/g/ids/member-1", second.zk.session_id))
    monkeypatch.setattr(znodes, "claim", the_other_goes_before_the_claim)
    wait_for("change", lambda: first.told)
    first.act()
    assert moved < set(first.fetching.infos)
    assert {first.fetching.began_at[place] for place in moved} == {700}


def test_what_is_claimed_in_vain_is_given_up(
    new_zk: NewZk, zookeeper: SharedZooKeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others may be told where the group was."""
    group = GroupOfMembers(1, new_zk, zookeeper)

    def fetch(_store: OffsetsInZooKeeper, _places: object) -> dict[TopicPartition, int]:
        raise broker_error(ErrorCode.COORDINATOR_NOT_AVAILABLE, "offsets")

    with monkeypatch.context() as patched:
        patched.setattr(OffsetsInZooKeeper, "fetch", fetch)
        group.join()
    assert set(group.owners().values()) == {""}
    group.settle()


def test_what_went_with_a_session_is_owned_no_more_though_nobody_acted_on_it_yet(
    new_zk: NewZk, zookeeper: SharedZooKeeper
) -> None:
    group = GroupOfMembers(1, new_zk, zookeeper)
    group.join()
    group.settle()
    (member,) = group.members
    assert len(member.rebalancer.consumed()) == group.partitions
    group.lose_a_session()
    assert member.rebalancer.consumed() == {}
    with pytest.raises(NotRegisteredError):
        member.rebalancer.rebalance()
    assert set(group.offsets().values()) == {-1}
