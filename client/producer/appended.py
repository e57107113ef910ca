"""What the accumulator's append returns, and the two ways into batches: records and runs."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Generic, NamedTuple, TypeVar

from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.delivery import Delivery
from logquake.client.producer.filling import Filling, Form
from logquake.client.producer.runs import Run, RunDelivery, RunFilling
from logquake.wire.records import Record, size_bound
from logquake.wire.topic_partition import TopicPartition

D = TypeVar("D")
Item = TypeVar("Item")


class Appended(NamedTuple, Generic[D]):
    """``wakes``: wake the sender, which may have something to send now."""

    place: TopicPartition
    delivery: D
    wakes: bool


class Way(NamedTuple, Generic[Item, D]):
    """How an item gets into a batch. ``bound_bytes``: the size of a batch of this item alone."""

    try_append: Callable[[ProducerBatch, Item], D | None]
    bound_bytes: Callable[[Item], int]
    new_filling: Callable[[Form], Filling | RunFilling]

    def add_first(self, batch: ProducerBatch, item: Item) -> D:
        """A first item always fits, whatever its size."""
        delivery = self.try_append(batch, item)
        if delivery is None:
            raise RuntimeError(f"{batch!r} takes no first record")
        return delivery


RECORDS: Way[Record, Delivery] = Way(ProducerBatch.try_append, size_bound, Filling)
RUNS: Way[Run, RunDelivery] = Way(
    ProducerBatch.try_append_run, attrgetter("next_bytes"), RunFilling
)
