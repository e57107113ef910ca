"""Groups at random, shared out by the Java assignors of Kafka 3.9.1: a line of JSON each.

Members have ids of one letter from `a` on: of these a Java HashMap goes in their order, which is
ours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from logquake.client.consumer.assignors.assignor import Assignor
from logquake.client.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from logquake.client.consumer.assignors.range import RangeAssignor
from logquake.client.consumer.assignors.round_robin import RoundRobinAssignor
from logquake.client.consumer.assignors.sticky import StickyAssignor
from logquake.client.consumer.assignors.subscriptions import Subscription
from logquake.wire.topic_partition import TopicPartition

VECTORS = Path(__file__).parents[1] / "vectors" / "assignors-3.9.1.jsonl"
ASSIGNORS: tuple[Assignor, ...] = (
    RangeAssignor(),
    RoundRobinAssignor(),
    StickyAssignor(),
    CooperativeStickyAssignor(),
)


def place(name: str) -> TopicPartition:
    topic, number = name.rsplit("-", 1)
    return TopicPartition(topic, int(number))


def subscription(said: Mapping[str, Any]) -> Subscription:
    return Subscription(
        topics=tuple(said["topics"]),
        owned=tuple(place(name) for name in said.get("owned", ())),
        generation=said["generation"],
        rack=said.get("rack"),
        instance_id=said.get("instance_id"),
        user_data=bytes.fromhex(said["user_data"]) if "user_data" in said else None,
    )


@pytest.mark.parametrize("assignor", ASSIGNORS, ids=lambda each: each.name)
def test_each_member_gets_what_it_gets_of_kafka(assignor: Assignor) -> None:
    vectors = [json.loads(line) for line in VECTORS.read_text().splitlines()]
    mine = [vector for vector in vectors if vector["assignor"] == assignor.name]
    assert mine
    for vector in mine:
        partitions = {
            topic: [frozenset(racks) for racks in of_topic]
            for topic, of_topic in vector["partitions"].items()
        }
        members = {member: subscription(said) for member, said in vector["members"].items()}
        assigned = assignor.assign(partitions, members)
        assert {member: sorted(map(str, given)) for member, given in assigned.items()} == vector[
            "assigned"
        ], vector
