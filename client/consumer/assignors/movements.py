"""What one assignment has moved, by topic (AbstractStickyAssignor.PartitionMovements)."""

from __future__ import annotations

from typing import NamedTuple

from logquake.wire.topic_partition import TopicPartition


class Move(NamedTuple):
    source: str
    target: str


class Movements:
    """Of a topic nothing moves from A to B after something from B to A: that one goes back."""

    def __init__(self) -> None:
        self._moves: dict[TopicPartition, Move] = {}
        self._by_topic: dict[str, dict[Move, set[TopicPartition]]] = {}

    def record(self, place: TopicPartition, source: str, target: str) -> None:
        before = self._moves.pop(place, None)
        if before is not None:
            self._by_topic[place.topic][before].discard(place)
            source = before.source
        if source != target:
            move = Move(source, target)
            self._moves[place] = move
            self._by_topic.setdefault(place.topic, {}).setdefault(move, set()).add(place)

    def better_one(self, place: TopicPartition, source: str, target: str) -> TopicPartition:
        """Which to move instead: one that has come the other way, if there is any."""
        before = self._moves.get(place)
        origin = before.source if before is not None else source
        came = self._by_topic.get(place.topic, {}).get(Move(target, origin))
        return min(came) if came else place
