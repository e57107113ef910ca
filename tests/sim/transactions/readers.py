"""Readers of what transactional producers write: of all of it, and of what is committed."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from logquake.node.coordinators.transactions.metadata import Producer
from logquake.wire.messages.fetch import AbortedTransaction
from logquake.wire.records import BatchHeader, ControlType, read_end_marker
from logquake.wire.topic_partition import TopicPartition
from tests.sim.clients import Consumer
from tests.sim.network import Fabric
from tests.sim.transactions.ledger import Ledger
from tests.sim.world import World


class LedgerReader(Consumer):
    """Reads everything, markers too, and tells the ledger."""

    def __init__(
        self,
        name: str,
        partition: TopicPartition,
        fabric: Fabric,
        world: World,
        rng: Random,
        ledger: Ledger,
    ) -> None:
        super().__init__(name, partition, fabric, world, rng)
        self._ledger = ledger

    def _take(self, records: memoryview, position: int, header: BatchHeader) -> None:
        if header.is_control:
            marker = read_end_marker(records, position, header)
            assert marker is not None
            producer = Producer(header.producer_id, header.producer_epoch)
            commits = marker.control_type is ControlType.COMMIT
            self._ledger.see_marker(self.partition, producer, commits=commits)
        elif header.is_transactional:
            self._ledger.see(self.partition, header.producer_id, header.crc)


class CommittedReader(Consumer):
    """read_committed, as consumers do it: the answer says from where on whose records are aborted,
    until their marker. ``values`` are the batches that count.
    """

    isolation_level = 1

    def __init__(
        self, name: str, partition: TopicPartition, fabric: Fabric, world: World, rng: Random
    ) -> None:
        super().__init__(name, partition, fabric, world, rng)
        self.values: list[int] = []
        self._aborted: list[AbortedTransaction] = []
        self._skipped_producers: set[int] = set()

    def _note_aborted(self, aborted: Sequence[AbortedTransaction]) -> None:
        self._aborted = sorted(aborted, key=lambda each: each.first_offset)
        self._skipped_producers = set()

    def _take(self, _records: memoryview, _position: int, header: BatchHeader) -> None:
        while self._aborted and self._aborted[0].first_offset < header.next_offset:
            self._skipped_producers.add(self._aborted.pop(0).producer_id)
        if header.is_control:
            self._skipped_producers.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in self._skipped_producers):
            self.values.append(header.crc)
