"""Kafka's RoundRobinAssignor: all partitions in order, to one member after the other.

Where all want the same topics, nobody has more than one partition more than another.
"""

from __future__ import annotations

from logquake.client.consumer.assignors.assignor import (
    Assignment,
    Held,
    PartitionsByTopic,
    RebalanceProtocol,
    Subscriptions,
    in_order,
    places_of,
)


class RoundRobinAssignor:
    name = "roundrobin"
    protocols = (RebalanceProtocol.EAGER,)

    def user_data(self, _held: Held | None, /) -> bytes | None:
        return None  # neither heeds what was before

    def assign(self, partitions: PartitionsByTopic, members: Subscriptions) -> Assignment:
        assigned: Assignment = {member: [] for member in sorted(members)}
        circle = in_order(members)
        wishes = {member: frozenset(said.topics) for member, said in members.items()}
        turn = 0
        for topic in sorted(frozenset[str]().union(*wishes.values())):
            for place in places_of(topic, partitions):
                while topic not in wishes[circle[turn]]:
                    turn = (turn + 1) % len(circle)
                assigned[circle[turn]].append(place)
                turn = (turn + 1) % len(circle)
        return assigned
