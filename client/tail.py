"""Records of several partitions, from wherever each is on: turn by turn, a leader a turn.

While there is much to read nobody waits; a leader that has nothing is given a moment once all have
had nothing. Partitions whose leader cannot be asked do not hold up the others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from logquake.client.cursor import PartitionCursor, ReadBatch, ReadOptions
from logquake.client.fetching import fetch
from logquake.client.routing import Router
from logquake.wire.topic_partition import TopicPartition


class Found(NamedTuple):
    place: TopicPartition
    batch: ReadBatch


class Tail:
    def __init__(
        self, router: Router, cursors: Iterable[PartitionCursor], options: ReadOptions
    ) -> None:
        self._router = router
        self._options = options
        self._waiting = deque(cursors)  # whoever was asked about longest ago is first
        self._cursors = {cursor.place: cursor for cursor in self._waiting}
        self._turns_without_records = 0

    @property
    def is_at_end(self) -> bool:
        return all(cursor.is_at_end for cursor in self._waiting)

    def positions(self) -> dict[TopicPartition, int]:
        """The offset that is read next in each; what was before it has been returned."""
        return {place: cursor.position for place, cursor in self._cursors.items()}

    def turn(self) -> list[Found]:
        """What one leader has, possibly nothing.

        Raises ClientError: OffsetOutOfRangeError, or a retriable one if for stall_timeout_ms no
        leader could be asked.
        """
        found = self._router.with_retries(self._ask_one, self._options.stall_timeout_ms)
        self._turns_without_records = 0 if found else self._turns_without_records + 1
        return found

    def _ask_one(self) -> list[Found]:
        asked, leader_id = self._next_asked()
        answers = fetch(self._router, leader_id, asked, self._options, self._max_wait_ms())
        for cursor in asked:
            if cursor.place in answers:
                cursor.check(answers[cursor.place])
        return [
            Found(cursor.place, batch)
            for cursor in asked
            if cursor.place in answers
            for batch in cursor.take(answers[cursor.place])
        ]

    def _next_asked(self) -> tuple[list[PartitionCursor], int]:
        """Those of one leader. They go to the end of the queue, whatever comes of it."""
        first = next(cursor for cursor in self._waiting if not cursor.is_at_end)
        self._to_the_end([first])  # asking for its leader may fail
        leader_id = self._router.leader(*first.place).broker_id
        others = [
            cursor
            for cursor in self._waiting
            if cursor is not first
            and not cursor.is_at_end
            and self._router.known_leader(cursor.place) == leader_id
        ]
        self._to_the_end(others)
        return [first, *others], leader_id

    def _to_the_end(self, asked: list[PartitionCursor]) -> None:
        for cursor in asked:
            self._waiting.remove(cursor)
            self._waiting.append(cursor)

    def _max_wait_ms(self) -> int:
        leaders = {self._router.known_leader(place) for place in self._cursors}
        had_nothing = self._turns_without_records >= len(leaders)
        return self._options.fetch_max_wait_ms if had_nothing else 0
