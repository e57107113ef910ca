"""A run with transactions: producers that commit, abort and die, under the faults of every run."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import ClassVar

from logquake.node.metadata.topic_names import TRANSACTION_STATE_TOPIC
from tests.sim.simulation import PARTITIONS, Simulation
from tests.sim.transactions.invariants import decided_first, only_committed, whole
from tests.sim.transactions.ledger import Ledger
from tests.sim.transactions.program import TransactionalProgram
from tests.sim.transactions.readers import CommittedReader, LedgerReader
from tests.sim.world import Committed

PRODUCERS = 3
STATE_ASSIGNMENT = {0: (1, 2, 3), 1: (2, 3, 1)}


class TransactionalSimulation(Simulation):
    """Nobody deletes records, so that all can be judged. One producer dies at the end, and whatever
    it had begun must time out.
    """

    PROPERTIES: ClassVar[Mapping[str, str]] = {
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "300",
        "transaction.state.log.num.partitions": str(len(STATE_ASSIGNMENT)),
        "transaction.state.log.load.buffer.size": "400",  # some batches
    }

    def __init__(self, seed: int, *, keep_all: bool = False) -> None:
        super().__init__(seed, keep_all=keep_all)
        rng = Random(f"transactions {seed}")
        self.ledger = Ledger()
        self.invariants[decided_first] = ("appended",)
        self.transactional = [
            TransactionalProgram(f"t{index}", PARTITIONS, self.fabric, self.world, rng, self.ledger)
            for index in range(PRODUCERS)
        ]
        self.consumers = [
            LedgerReader(f"l{each.partition}", each, self.fabric, self.world, rng, self.ledger)
            for each in PARTITIONS
        ]
        self.committed = [
            CommittedReader(f"r{each.partition}", each, self.fabric, self.world, rng)
            for each in PARTITIONS
        ]
        self.producers = self.producers[:1]  # of records that are part of no transaction
        self.clients = [
            *self.producers,
            *self.transactional,
            *self.consumers,
            *self.committed,
        ]

    def _begin(self) -> None:
        self._create_topic(TRANSACTION_STATE_TOPIC, STATE_ASSIGNMENT)
        super()._begin()

    def _step(self) -> None:
        super()._step()
        self._require("transactions", Ledger.__doc__, self.ledger.take_problems())

    def _heal(self) -> None:
        super()._heal()
        abandoned, *others = self.transactional
        abandoned.die()
        for producer in others:
            producer.is_stopped = True

    def _is_quiet(self) -> bool:
        return (
            super()._is_quiet()
            and all(producer.is_finished for producer in self.transactional)
            and not self.ledger.open_values()
            and all(self._is_read(reader) for reader in self.committed)
        )

    def _is_read(self, reader: CommittedReader) -> bool:
        """The last stable offset is the high watermark, and the reader came there."""
        return reader.position == self.world.committed[reader.partition].end

    def _judge_the_end(self) -> None:
        super()._judge_the_end()
        self._require("whole", whole.__doc__, whole(self.ledger))
        for reader in self.committed:
            found = only_committed(self.world, self.ledger, reader)
            self._require("only_committed", only_committed.__doc__, found)

    def _sent(self) -> set[int]:
        return super()._sent().union(*(producer.sent for producer in self.transactional))

    def _condition(self) -> str:
        lines = [f"{p.name} is not over" for p in self.transactional if not p.is_finished]
        lines += [f"no marker ends {key}: {v}" for key, v in self.ledger.open_values().items()]
        for reader in self.committed:
            end = self.world.committed.get(reader.partition, Committed()).end
            lines.append(f"{reader.name} read up to {reader.position} of {end}")
        return "\n".join([super()._condition(), *lines])
