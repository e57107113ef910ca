"""Guarded writes against the model of ZooKeeper: conflicts, lost answers, a newer controller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from logquake.controller.office.candidacy import Mandate, stand
from logquake.controller.rules.partitions import LeaderAndIsr
from logquake.controller.zookeeper.guarded_zk import ControllerMoved, GuardedZk
from logquake.controller.zookeeper.set_aside import SetAside
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.model import ZooKeeperModel
from logquake.zk.operations import Create, Delete, Failed, Multi, Operation, SetData, ZkError
from logquake.zk.procedure import Procedure, ZkFailure, run
from logquake.zk.znodes.control import CONTROLLER_EPOCH_PATH, CONTROLLER_PATH
from logquake.zk.znodes.parents import create_parents
from logquake.zk.znodes.topics import PartitionState
from tests.doubles.journal import MemoryJournal

T = TypeVar("T")
P0, P1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
FIRST = LeaderAndIsr(1, leader_epoch=0, isr=(1, 2), partition_epoch=0)


class ModelZk:
    """One session of the model. ``repeat`` performs every write twice, as a lost answer would."""

    def __init__(self) -> None:
        self.model = ZooKeeperModel()
        self.session_id = self.model.open_session()
        self.repeat = False
        self.multis: list[Multi] = []
        for create in create_parents():
            self.apply(create)
        self.apply(Create("/brokers/topics/orders", b"{}"))

    def apply(self, operation: Operation[Any]) -> Any:
        return self.model.apply(self.session_id, operation)[0]

    def submit(self, operation: Operation[Any], done: Callable[[Any], None]) -> None:
        if isinstance(operation, Multi):
            self.multis.append(operation)
            if self.repeat:
                self.apply(operation)
        done(self.apply(operation))

    def close(self) -> None: ...

    def run(self, procedure: Procedure[T]) -> T:
        results: list[T | ZkFailure] = []
        run(self, procedure, results.append)
        (result,) = results
        if isinstance(result, ZkFailure):
            raise result
        return result


@pytest.fixture
def zk() -> ModelZk:
    return ModelZk()


@pytest.fixture
def journal() -> MemoryJournal:
    return MemoryJournal()


@pytest.fixture
def guarded(zk: ModelZk, journal: MemoryJournal) -> GuardedZk:
    mandate = zk.run(stand(1, timestamp_ms=0))
    set_aside = SetAside(journal, mandate.epoch)
    return GuardedZk(mandate.epoch, mandate.epoch_version, set_aside)


def test_states_are_created_read_and_written_by_version(zk: ModelZk, guarded: GuardedZk) -> None:
    assert zk.run(guarded.create_states({P0: FIRST, P1: FIRST})).done == {P0: FIRST, P1: FIRST}
    after = FIRST.succeeded_by(2, (2,))
    written = zk.run(guarded.write_states({P0: after}))
    assert written.done == {P0: replace(after, partition_epoch=1)}
    states = zk.run(guarded.read_states([P0, P1]))
    assert {each: one.state for each, one in states.items()} == {P0: written.done[P0], P1: FIRST}


def test_a_conflict_and_a_missing_znode_are_told_apart(zk: ModelZk, guarded: GuardedZk) -> None:
    zk.run(guarded.create_states({P0: FIRST}))
    zk.apply(SetData(PartitionState.path(*P0), PartitionState(2, 0, (2,), 1).encode()))
    written = zk.run(guarded.write_states({P0: FIRST.succeeded_by(1, (1,)), P1: FIRST}))
    assert (written.done, written.conflicts, written.missing) == ({}, [P0], [P1])


def test_a_write_whose_answer_was_lost_counts_as_done(zk: ModelZk, guarded: GuardedZk) -> None:
    zk.repeat = True
    assert zk.run(guarded.create_states({P0: FIRST})).done == {P0: FIRST}
    after = FIRST.succeeded_by(2, (2,))
    written = zk.run(guarded.write_states({P0: after}))
    assert (written.done, written.conflicts) == ({P0: replace(after, partition_epoch=1)}, [])


def test_an_election_whose_answer_was_lost_is_won(zk: ModelZk) -> None:
    zk.repeat = True
    assert zk.run(stand(1, timestamp_ms=0)) == Mandate(epoch=1, epoch_version=1)


def test_an_election_that_another_won_is_lost(zk: ModelZk, guarded: GuardedZk) -> None:
    assert guarded.epoch == 1
    with pytest.raises(ControllerMoved, match="broker 1 was elected in epoch 1"):
        zk.run(stand(2, timestamp_ms=0))


def test_a_newer_controller_stops_every_write(zk: ModelZk, guarded: GuardedZk) -> None:
    zk.run(guarded.create_states({P0: FIRST}))
    zk.apply(Delete(CONTROLLER_PATH))
    zk.run(stand(2, timestamp_ms=0))
    for procedure in (
        guarded.write_states({P0: FIRST}),
        guarded.create_states({P1: FIRST}),
        guarded.write_each([Create("/anything")]),
        guarded.delete_each(["/anything"]),
    ):
        with pytest.raises(ControllerMoved):
            zk.run(procedure)
    assert isinstance(zk.apply(Delete("/anything")), Failed)


def test_a_state_of_a_newer_controller_is_not_worked_on(zk: ModelZk, guarded: GuardedZk) -> None:
    zk.run(guarded.create_states({P0: FIRST}))
    zk.apply(Delete(CONTROLLER_PATH))
    zk.run(stand(2, timestamp_ms=0))
    zk.apply(SetData(PartitionState.path(*P0), PartitionState(2, 3, (2,), 2).encode()))
    with pytest.raises(ControllerMoved):
        zk.run(guarded.read_states([P0]))


@pytest.mark.parametrize(
    "data", [b"garbage", PartitionState(2, 3, (2,), 7).encode()], ids=["no state", "a later epoch"]
)
def test_a_state_that_makes_no_sense_is_set_aside_and_told_once(
    zk: ModelZk, guarded: GuardedZk, journal: MemoryJournal, data: bytes
) -> None:
    zk.run(guarded.create_states({P0: FIRST, P1: FIRST}))
    path = PartitionState.path(*P0)
    zk.apply(SetData(path, data))
    for _ in range(3):
        assert list(zk.run(guarded.read_states([P0, P1]))) == [P1]
    assert [(event.what, event.subject) for event in journal.events] == [
        ("znode-set-aside", "orders-0")
    ]
    zk.apply(SetData(path, PartitionState(2, 3, (2,), 1).encode()))
    assert list(zk.run(guarded.read_states([P0, P1]))) == [P0, P1]
    assert [event.what for event in journal.events] == ["znode-set-aside", "znode-taken-up"]


def test_refusals_about_the_node_are_values_and_others_end_the_procedure(
    zk: ModelZk, guarded: GuardedZk
) -> None:
    (exists,) = zk.run(guarded.write_each([Create("/brokers")]))
    assert isinstance(exists, Failed)
    assert exists.error is ZkError.NODE_EXISTS
    zk.model.close_session(zk.session_id)
    with pytest.raises(ZkFailure) as failure:
        zk.run(guarded.write_each([Create("/later")]))
    assert failure.value.failed.error is ZkError.SESSION_EXPIRED


def test_many_writes_go_in_few_multis_each_under_the_guard(zk: ModelZk, guarded: GuardedZk) -> None:
    partitions = [TopicPartition("orders", number) for number in range(1000)]
    zk.multis.clear()
    states = zk.run(guarded.create_states(dict.fromkeys(partitions, FIRST))).done
    zk.run(guarded.write_states(states))
    assert len(zk.multis) == 1 + 4 + 2
    assert all(multi.operations[0].path == CONTROLLER_EPOCH_PATH for multi in zk.multis)
    assert list(zk.run(guarded.read_states(partitions))) == partitions


def test_one_refused_write_leaves_its_neighbours_alone(zk: ModelZk, guarded: GuardedZk) -> None:
    partitions = [TopicPartition("orders", number) for number in range(10)]
    states = zk.run(guarded.create_states(dict.fromkeys(partitions, FIRST))).done
    zk.apply(SetData(PartitionState.path(*partitions[3]), PartitionState(2, 0, (2,), 1).encode()))
    zk.apply(Delete(PartitionState.path(*partitions[5])))
    written = zk.run(guarded.write_states(states))
    assert (written.conflicts, written.missing) == ([partitions[3]], [partitions[5]])
    assert len(written.done) == 8
    after = zk.run(guarded.read_states(partitions))
    assert {one.state.partition_epoch for each, one in after.items() if each in written.done} == {1}
