"""The coordinator of a group is killed with -9 at each step of a rebalance; the next one goes on
with what members were told, and with nothing that they were not.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from logquake.client.errors import ClientError
from logquake.cluster.api import Cluster
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_membership import SyncGroupResponse
from tests.one_group import Group
from tests.unit.node.requests.group_members import sync


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    # What is stored late is stored: a group whose assignment is not rebalances.
    config = {"offsets.topic.num.partitions": 1, "offsets.commit.timeout.ms": 60_000}
    with Cluster(brokers=3, config=config, data_dir=folder / "data") as kafka:
        yield kafka


@pytest.fixture
def group(cluster: Cluster) -> Iterator[Group]:
    group = Group(cluster)
    group.look_up()
    yield group
    group.close()


@pytest.fixture
def first(group: Group) -> str:
    """A member that has an assignment, in generation 1."""
    member_id = str(group.join().member_id)
    assigned = group.ask(
        sync(member_id, 1, {member_id: b"all"}, group=group.name), SyncGroupResponse, 5
    )
    assert assigned.assignment == b"all"
    return member_id


def kill_coordinator(cluster: Cluster, group: Group) -> None:
    """Until the next one has the group's log, and the killed one is back."""
    with cluster.kill(group.broker):
        group.look_up()
    cluster.wait_isr("__consumer_offsets", 0, size=3)


def join_both(group: Group, first: str) -> tuple[str, int]:
    """A second member joins, and the first again; the second's id and the generation."""
    waiting = group.join_later()
    group.wait_for_members(2)
    joined = group.join(first)
    assert not joined.error_code
    return str(waiting.result().member_id), int(joined.generation_id)


def test_killed_while_a_member_waits_to_join(cluster: Cluster, group: Group, first: str) -> None:
    """The others' generation goes on; who waited asks again."""
    waiting = group.join_later()
    group.wait_for_members(2)
    assert group.beat(first, 1) == ErrorCode.REBALANCE_IN_PROGRESS
    kill_coordinator(cluster, group)
    with pytest.raises(ClientError):
        waiting.result()
    assert group.beat(first, 1) == ErrorCode.NONE
    assert group.describe().members[0].member_assignment == b"all"
    assert join_both(group, first)[1] == 2


def test_killed_while_members_wait_for_their_assignment(
    cluster: Cluster, group: Group, first: str
) -> None:
    """Nobody was told of that generation's assignment: it is as if it had not been."""
    second, generation = join_both(group, first)
    assert generation == 2
    waiting = group.ask_later(sync(second, 2, group=group.name), SyncGroupResponse, 5)
    kill_coordinator(cluster, group)
    with pytest.raises(ClientError):
        waiting.result()
    assert group.beat(first, 2) == ErrorCode.ILLEGAL_GENERATION
    assert group.beat(second, 2) == ErrorCode.UNKNOWN_MEMBER_ID
    assert group.beat(first, 1) == ErrorCode.NONE
    assert join_both(group, first)[1] == 2


def test_killed_after_an_assignment_was_told(cluster: Cluster, group: Group, first: str) -> None:
    """The next coordinator knows it, and that generation fences the one before."""
    second, generation = join_both(group, first)
    given = {first: b"one", second: b"two"}
    told = group.ask(sync(first, generation, given, group=group.name), SyncGroupResponse, 5)
    assert told.assignment == b"one"
    kill_coordinator(cluster, group)
    asked = group.ask(sync(second, generation, group=group.name), SyncGroupResponse, 5)
    assert asked.assignment == b"two"
    assert group.beat(first, generation) == ErrorCode.NONE
    assert group.beat(first, generation - 1) == ErrorCode.ILLEGAL_GENERATION
