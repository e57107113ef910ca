"""Assignors of a program's own, as they should not be, or may."""

from __future__ import annotations

from typing import Any

from logquake.client.consumer.assignors.assignor import (
    Assignment,
    Held,
    PartitionsByTopic,
    RebalanceProtocol,
    Subscriptions,
    places_of,
)


class FailingAssignor:
    name = "failing"
    protocols: tuple[RebalanceProtocol, ...] = (RebalanceProtocol.EAGER,)

    def user_data(self, _held: Held | None, /) -> bytes | None:
        return None

    def assign(self, partitions: PartitionsByTopic, members: Subscriptions) -> Assignment:
        raise KeyError(f"{len(partitions)} topics for {len(members)}")


class FailingWishes(FailingAssignor):
    name = "wishing"

    def user_data(self, _held: Held | None, /) -> bytes | None:
        raise KeyError("the program's own")


class OneGetsAll(FailingAssignor):
    """The last member does, whoever had it."""

    name = "one-gets-all"

    def assign(self, partitions: PartitionsByTopic, members: Subscriptions) -> Assignment:
        everything = [place for topic in partitions for place in places_of(topic, partitions)]
        *others, last = sorted(members)
        return {**{member: [] for member in others}, last: everything}


class OneGetsAllAtOnce(OneGetsAll):
    """And says that it need not be given up first."""

    name = "one-gets-all-at-once"
    protocols = (RebalanceProtocol.COOPERATIVE,)


class ThinksOfMore(FailingAssignor):
    """The first member gets a topic that nobody wants."""

    name = "thinks-of-more"

    def assign(self, partitions: PartitionsByTopic, members: Subscriptions) -> Assignment:
        first, *others = sorted(members)
        thought_of = {"t": partitions.get("t", [frozenset()])}
        return {first: places_of("t", thought_of), **{each: [] for each in others}}


class GivesNoPartition(FailingAssignor):
    """Each member gets the same, which is none."""

    def __init__(self, name: str, place: Any, member: Any = None) -> None:
        self.name = name
        self._place = place
        self._member = member

    def assign(self, _: PartitionsByTopic, members: Subscriptions) -> Assignment:
        return {self._member or each: [self._place] for each in members}
