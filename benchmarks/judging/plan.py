"""A sound run, by arithmetic: in each stretch of a second every partition gets the same records.

A partition's part of a stretch, by offset: records of four idempotent producers, twelve a batch in
turn; eight of a mover's transaction and its marker; eight of another transaction and its marker,
which aborts it now and then. Each send and each record follows from its number alone, so that
nobody has to remember any of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from logquake.chaos.evidence.clients import Column
from logquake.chaos.history.numbers import number_at

BROKERS = (1, 2, 3)
PRODUCERS = tuple(f"producer-{ordinal}" for ordinal in range(4))
MOVER, TRANSACTOR = "mover", "transactor"
MEMBERS = ("member-1", "member-2")
FINAL_READER, HARNESS = "final-reader", "harness"

IN_A_BATCH = 12
BATCHES = 4  # of each producer, to each partition
OF_PRODUCER = BATCHES * IN_A_BATCH
PLAIN = len(PRODUCERS) * OF_PRODUCER
IN_A_TRANSACTION = 8
MOVED = PLAIN  # where the mover's records begin, and so on
MOVED_END = MOVED + IN_A_TRANSACTION
ENDED = MOVED_END + 1
ENDED_END = ENDED + IN_A_TRANSACTION
LENGTH = ENDED_END + 1

STRETCH_US = 1_000_000
BEGAN_US = 1_700_000_000_000_000
_STRETCHES_OF_AN_EPOCH = 8
_STRETCHES_OF_A_GENERATION = 64


@dataclass(frozen=True, slots=True)
class Loss:
    """One record that was acked and read, and is nowhere any more."""

    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Plan:
    rows: int  # at least
    partitions: int = 48
    seed: int = 1

    @property
    def stretches(self) -> int:
        """Sends and their answers alone are as many rows; there are some more."""
        return -(-self.rows // (2 * self.sends_of_a_stretch))

    @property
    def sends_of_a_stretch(self) -> int:
        return self.partitions * (PLAIN + 2 * IN_A_TRANSACTION)

    @property
    def end_us(self) -> int:
        return self.begins_us(self.stretches)

    @property
    def end(self) -> int:
        """Of every partition's log."""
        return self.stretches * LENGTH

    @property
    def loss(self) -> Loss:
        """In the middle of the run."""
        return Loss(self.partitions // 2, self.stretches // 2 * LENGTH + PLAIN // 2)

    def name(self, partition: int) -> str:
        return f"orders-{partition}"

    @property
    def names(self) -> list[str]:
        return [self.name(partition) for partition in range(self.partitions)]

    def begins_us(self, stretch: int) -> int:
        return BEGAN_US + stretch * STRETCH_US

    def epoch(self, stretch: int) -> int:
        """Of every partition's leader, which changes at the beginning of a stretch."""
        return stretch // _STRETCHES_OF_AN_EPOCH

    def elects(self, stretch: int) -> bool:
        return stretch > 0 and stretch % _STRETCHES_OF_AN_EPOCH == 0

    def has_fault(self, stretch: int) -> bool:
        return stretch % _STRETCHES_OF_AN_EPOCH == _STRETCHES_OF_AN_EPOCH // 2

    def aborts(self, stretch: int) -> bool:
        """Whether the second transaction does."""
        return stretch % _STRETCHES_OF_AN_EPOCH == _STRETCHES_OF_AN_EPOCH - 1

    def leader(self, partition: int, stretch: int) -> int:
        return BROKERS[(partition + self.epoch(stretch)) % len(BROKERS)]

    def generation(self, stretch: int) -> int:
        return stretch // _STRETCHES_OF_A_GENERATION + 1

    def rebalances(self, stretch: int) -> bool:
        return stretch % _STRETCHES_OF_A_GENERATION == 0

    def owner(self, partition: int, generation: int) -> str:
        return MEMBERS[(partition + generation) % len(MEMBERS)]

    def offsets(self, stretch: int) -> Column:
        """Of a partition's records in that stretch, without markers."""
        within = np.arange(LENGTH - 1)
        found: Column = stretch * LENGTH + within[within != MOVED_END]
        return found

    def numbers(self, partition: int, offsets: Column) -> Column:
        """The sends' that wrote these records; no marker is among them."""
        stretch, within = np.divmod(offsets, LENGTH)
        batch, place = np.divmod(within, IN_A_BATCH)
        turn, producer = np.divmod(batch, len(PRODUCERS))
        plain = self._number(producer, stretch, OF_PRODUCER, IN_A_BATCH * turn + place, partition)
        found = np.where(within < PLAIN, plain, 0)
        for process, begin in ((len(PRODUCERS), MOVED), (len(PRODUCERS) + 1, ENDED)):
            mine = (within >= begin) & (within < begin + IN_A_TRANSACTION)
            written = self._number(process, stretch, IN_A_TRANSACTION, within - begin, partition)
            found = np.where(mine, written, found)
        return found

    def _number(
        self, process: Column | int, stretch: Column, count: int, place: Column, partition: int
    ) -> Column:
        """Of the send by that process, which sends ``count`` to each partition in each stretch."""
        index = (stretch * count + place) * self.partitions + partition
        number: Column = np.asarray(process, np.int64) * number_at(1, 0) + index
        return number
