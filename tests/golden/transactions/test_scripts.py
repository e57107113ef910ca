"""What a transaction coordinator does, command by command.

A producer is written as id/epoch. What is appended is committed with the command that brings it
about, unless the script said "hold".
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from logquake.node.coordinators.transactions.listing import TransactionFilter, unknown_states
from logquake.node.coordinators.transactions.metadata import Producer
from logquake.node.coordinators.transactions.rules import Initialization
from logquake.node.coordinators.transactions.states import Partitions, state_name
from logquake.seams.network import Disconnected
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.znodes.admin import delete_topic_path
from logquake.zk.znodes.topics import TopicAssignment
from tests.golden.player import Player, check_script, scripts_beside
from tests.golden.transactions.world import World, answer_of, metadata_line


@pytest.mark.parametrize("script", scripts_beside(__file__), ids=lambda path: path.stem)
def test_script(script: Path) -> None:
    check_script(script, TransactionPlayer())


class TransactionPlayer(Player):
    """Begins as the coordinator in epoch 1, with orders-0 and -1 led by broker 2, -2 by 3."""

    def __init__(self) -> None:
        self.world = World()
        self._labels = count(1)
        self.do_leaders(**{"orders-0": "2", "orders-1": "2", "orders-2": "3"})
        self.do_elect("1")

    def outcome(self) -> list[str]:
        self.world.settle()
        return [*self.world.take_log(), *self.world.take_sent()]

    # --- the surroundings

    def do_elect(self, epoch: str) -> None:
        self.world.elect(int(epoch))

    def do_resign(self, stays: str = "no") -> None:
        self.world.resign(stays=stays == "yes")

    def do_load(self) -> None:
        self.world.partitions.loads = True

    def do_leaders(self, alive: str = "2,3", **leaders: str) -> None:
        self.world.set_leaders(
            {_partition(name): int(leader) for name, leader in leaders.items()},
            tuple(int(each) for each in alive.split(",")),
        )

    def do_delete(self, name: str) -> None:
        self.world.delete(_partition(name))

    def do_stored(self, topic: str) -> None:
        """ZooKeeper has it, which its brokers need not have been told."""
        self.world.store(TopicAssignment.path(topic))

    def do_to_be_deleted(self, topic: str) -> None:
        self.world.store(delete_topic_path(topic))

    def do_removed(self, topic: str) -> None:
        self.world.unstore(TopicAssignment.path(topic))

    def do_pass(self, time: str) -> None:
        unit_ms = {"ms": 1, "s": 1000, "h": 3_600_000}
        number = time.rstrip("msh")
        self.world.scheduler.advance(int(number) * unit_ms[time.removeprefix(number)])

    def do_producer_ids(self, state: str) -> None:
        self.world.has_producer_ids = state == "there"

    def do_batches(self, max_bytes: str) -> None:
        self.world.max_batch_bytes = int(max_bytes)

    # --- the log

    def do_hold(self) -> None:
        self.world.holds = True

    def do_release(self) -> None:
        self.world.holds = False

    def do_fail(self, error: str, stays: str = "no") -> None:
        """The oldest append that is held."""
        self.world.answer_write(ErrorCode[error], stays=stays == "yes")

    def do_log(self) -> None:
        for line in self.world.written():
            self.world.log(line)

    def do_exhaust(self, transactional_id: str) -> None:
        """Its producer gets the last epoch that a producer may have."""
        self.world.exhaust(transactional_id)

    # --- the leaders of the partitions

    def do_marked(self, broker: str, **errors: str) -> None:
        """A broker answers its oldest request; partitions that are not named have no error."""
        sent = self.world.unanswered(int(broker))
        sent.done(answer_of(sent, {_partition(k): ErrorCode[v] for k, v in errors.items()}))

    def do_lose(self, broker: str) -> None:
        self.world.unanswered(int(broker)).done(Disconnected("reset"))

    # --- clients

    def do_init(self, transactional_id: str, timeout: str = "60000", was: str = "") -> None:
        label = f"init#{next(self._labels)}"
        asked = Initialization(int(timeout), _producer(was) if was else None)

        def done(initialized: Producer | ErrorCode) -> None:
            if isinstance(initialized, Producer):
                self.world.log(f"{label} {initialized.id}/{initialized.epoch}")
            else:
                self.world.log(f"{label} {initialized.name}")

        self.world.coordinator.init_producer_id(transactional_id, asked, done)

    def do_add(self, transactional_id: str, producer: str, *partitions: str) -> None:
        self.world.coordinator.add_partitions(
            transactional_id, _producer(producer), _partitions(partitions), self._answer("add")
        )

    def do_verify(self, transactional_id: str, producer: str, *partitions: str) -> None:
        verified = self.world.coordinator.verify_partitions(
            transactional_id, _producer(producer), _partitions(partitions)
        )
        if isinstance(verified, ErrorCode):
            self.world.log(verified.name)
        else:
            for each in sorted(verified):
                self.world.log(f"{each} {verified[each].name}")

    def do_commit(self, transactional_id: str, producer: str) -> None:
        self._end(transactional_id, producer, committed=True)

    def do_abort(self, transactional_id: str, producer: str) -> None:
        self._end(transactional_id, producer, committed=False)

    def _end(self, transactional_id: str, producer: str, *, committed: bool) -> None:
        answer = self._answer("commit" if committed else "abort")
        self.world.coordinator.end(
            transactional_id, _producer(producer), committed=committed, done=answer
        )

    def do_describe(self, transactional_id: str) -> None:
        found = self.world.coordinator.describe(transactional_id)
        if isinstance(found, ErrorCode):
            self.world.log(found.name)
        else:
            self.world.log(metadata_line(found.metadata))

    def do_list(self, *states: str, producers: str = "", longer: str = "-1") -> None:
        wanted = TransactionFilter(
            frozenset(int(each) for each in producers.split(",") if each),
            frozenset(states),
            int(longer),
        )
        found = self.world.coordinator.list_those(wanted)
        if isinstance(found, ErrorCode):
            self.world.log(found.name)
            return
        for each in found:
            self.world.log(f"{each.transactional_id} {each.producer.id} {state_name(each.state)}")
        for name in unknown_states(states):
            self.world.log(f"no state is called {name}")

    def _answer(self, verb: str) -> Callable[[ErrorCode], None]:
        label = f"{verb}#{next(self._labels)}"
        return lambda error: self.world.log(f"{label} {error.name}")


def _producer(text: str) -> Producer:
    producer_id, epoch = text.split("/")
    return Producer(int(producer_id), int(epoch))


def _partition(name: str) -> TopicPartition:
    topic, _, index = name.rpartition("-")
    return TopicPartition(topic, int(index))


def _partitions(names: tuple[str, ...]) -> Partitions:
    return frozenset(map(_partition, names))
