"""The remaining records of a poll while a program loops over them one by one.

The position follows the record that the program got last: that is what it commits, and where
reading continues if it leaves its loop. Kafka's clients have no such loop; kafka-python's iterator
behaves like this.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Self

from logquake.client.consumer.partition_state import PartitionState
from logquake.client.consumer.records import ConsumerRecord
from logquake.client.consumer.subscription import Subscriptions
from logquake.wire.topic_partition import TopicPartition


class OneByOne:
    """An iterator that ends when another poll is due, and continues after it.

    It takes a record without the core's lock: only the program's own calls assign, seek or pause
    partitions.
    """

    def __init__(self, subscriptions: Subscriptions) -> None:
        self._subscriptions = subscriptions
        self._shares: deque[_Share] = deque()

    def take_in(self, records: Iterable[ConsumerRecord]) -> None:
        """Take over a poll's records; the positions are already past them."""
        of: dict[TopicPartition, list[ConsumerRecord]] = {}
        for record in records:
            of.setdefault(record.place, []).append(record)
        for place, of_place in of.items():
            self._shares.append(_Share(of_place, self._subscriptions.find(place)))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> ConsumerRecord:
        while self._shares:
            share = self._shares[0]
            record = share.next(self._subscriptions)
            if record is not None:
                return record
            share.give_back()  # does nothing, unless a signal handler cut the last round short
            self._shares.popleft()
        raise StopIteration

    def give_back(self) -> None:
        """Have the remaining records read again."""
        for share in self._shares:
            share.give_back()
        self._shares.clear()

    def forget(self) -> None:
        self._shares.clear()


class _Share:
    """One partition's records; ``state`` is None if an interceptor made the partition up."""

    def __init__(self, records: Sequence[ConsumerRecord], state: PartitionState | None) -> None:
        self._state = state
        self._records = records
        self._given = 0
        self._mark(0)

    def next(self, subscriptions: Subscriptions) -> ConsumerRecord | None:
        """None at the end, and if the program sought or paused it, or it is no longer assigned."""
        if self._given == len(self._records):
            return None
        record = self._records[self._given]
        state = self._state
        if state is not None and (
            state.unseen != record.offset or subscriptions.find(record.place) is not state
        ):
            return None
        self._mark(self._given + 1)
        return record

    def give_back(self) -> None:
        if self._state is not None:
            self._state.give_back()

    def _mark(self, given: int) -> None:
        """Note how many were given. Commits depend on ``unseen`` alone, so it is set last: a signal
        handler may interrupt at any point.
        """
        unseen = None if given == len(self._records) else self._records[given].offset
        self._given = given
        if self._state is not None:
            self._state.unseen = unseen
