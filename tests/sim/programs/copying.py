"""A run of programs that copy a topic exactly once, whoever dies, sleeps or is fenced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Protocol

from logquake.node.metadata.topic_names import TRANSACTION_STATE_TOPIC
from logquake.wire.topic_partition import TopicPartition
from tests.sim.clients import Consumer
from tests.sim.programs.copier import COPIES, Copier, copy_of, places_of_copies
from tests.sim.programs.member import Member
from tests.sim.programs.simulation import ProgramsSimulation
from tests.sim.simulation import PARTITIONS
from tests.sim.transactions.readers import CommittedReader
from tests.sim.world import Committed, World

STATE_ASSIGNMENT = {0: (1, 2, 3)}
COPIES_ASSIGNMENT = {0: (2, 3, 1), 1: (3, 1, 2)}


class ReaderOfCopies(Protocol):
    """``values`` are the batches that it read of a partition, in order."""

    @property
    def partition(self) -> TopicPartition: ...

    @property
    def values(self) -> Sequence[int]: ...


def exactly_once(world: World, readers: Iterable[ReaderOfCopies]) -> Iterator[str]:
    """Who reads what is committed finds each record's copy once, in the order of the records."""
    for reader in readers:
        source = TopicPartition(PARTITIONS[0].topic, reader.partition.partition)
        written = _values(world, [batch.value for batch in world.committed[source].batches])
        expected = [copy_of(value) for value in written]
        found = _values(world, reader.values)
        if found != expected[: len(found)]:
            yield f"{reader.partition} has {found}, {source} has {written}"


def _values(world: World, batches: Iterable[int]) -> list[bytes]:
    return [value for batch in batches for value in world.records.contents.get(batch, ())]


class CopyingSimulation(ProgramsSimulation):
    PROPERTIES: ClassVar[Mapping[str, str]] = {
        **ProgramsSimulation.PROPERTIES,
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "300",
        "transaction.state.log.num.partitions": str(len(STATE_ASSIGNMENT)),
    }
    KIND: ClassVar[type[Member]] = Copier

    def __init__(self, seed: int, *, keep_all: bool = False) -> None:
        super().__init__(seed, keep_all=keep_all)
        places = places_of_copies(len(COPIES_ASSIGNMENT))
        rng = self._rng
        self.consumers += [
            Consumer(f"k{place.partition}", place, self.fabric, self.world, rng) for place in places
        ]
        self.readers = [
            CommittedReader(f"r{place.partition}", place, self.fabric, self.world, rng)
            for place in places
        ]
        self.clients = [*self.producers, *self.consumers, *self.readers]

    def _begin(self) -> None:
        self._create_topic(TRANSACTION_STATE_TOPIC, STATE_ASSIGNMENT)
        self._create_topic(COPIES, COPIES_ASSIGNMENT)
        super()._begin()

    def _sent(self) -> set[int]:
        return (
            super()
            ._sent()
            .union(*(watch.sent for member in self.members for watch in member.watches))
        )

    def _is_quiet(self) -> bool:
        return super()._is_quiet() and all(map(self._is_copied, self.readers))

    def _is_copied(self, reader: CommittedReader) -> bool:
        end = self.world.committed.get(reader.partition, Committed()).end
        source = TopicPartition(PARTITIONS[0].topic, reader.partition.partition)
        raw = self.consumers[2 + reader.partition.partition]
        copies = len(_values(self.world, reader.values))
        return reader.position == raw.position == end and copies >= self.reading.up_to[source]

    def _judge_the_end(self) -> None:
        super()._judge_the_end()
        found = exactly_once(self.world, self.readers)
        self._require("exactly_once", exactly_once.__doc__, found)

    def _condition(self) -> str:
        copied = {each.partition: len(_values(self.world, each.values)) for each in self.readers}
        return f"{super()._condition()}\ncopied {copied}"
