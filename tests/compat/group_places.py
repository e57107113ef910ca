"""Topics and groups that nobody else has, on one of two brokers, and waiting for their members."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from confluent_kafka import Producer

from logquake.client.consumer.group.statistics import GroupEvent
from logquake.client.sync.consumer import Consumer
from logquake.wire.topic_partition import TopicPartition
from tests.compat.group_members import GroupMember
from tests.compat.our_members import OurMember
from tests.compat.releases import make_topic
from tests.compat.twins import Twin
from tests.waiting import PATIENCE_S, wait_for

PARTITIONS = 4
PROPERTIES = {
    "auto.create.topics.enable": "false",
    "offsets.topic.replication.factor": 1,
    "offsets.topic.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
}


@dataclass(frozen=True)
class Place:
    """A topic and a group that nobody else has."""

    twin: Twin
    topic: str
    group: str

    @property
    def servers(self) -> str:
        return f"127.0.0.1:{self.twin.port}"

    @property
    def places(self) -> list[TopicPartition]:
        return [TopicPartition(self.topic, partition) for partition in range(PARTITIONS)]

    def write(self, *values: str, topic: str | None = None) -> None:
        """One to each partition in turn."""
        producer = Producer({"bootstrap.servers": self.servers})
        for index, value in enumerate(values):
            producer.produce(topic or self.topic, value, partition=index % PARTITIONS)
        assert producer.flush(PATIENCE_S) == 0

    def consumer(
        self, on_event: Callable[[GroupEvent], object] | None = None, **keys: object
    ) -> Consumer:
        given = {
            "bootstrap_servers": self.servers,
            "group_id": self.group,
            "auto_offset_reset": "earliest",
            "heartbeat_interval_ms": 300,
            "enable_auto_commit": False,
        }
        return Consumer({**given, **keys}, on_event=on_event)

    def ours(self, kind: type[OurMember] = OurMember, instance_id: str | None = None) -> OurMember:
        return kind(self.servers, self.group, [self.topic], instance_id=instance_id)


def place_of(twin: Twin, number: int) -> Place:
    place = Place(twin, f"orders-{number}", f"group-{number}")
    make_topic(twin, place.topic, PARTITIONS)
    return place


def wait_until_shared(place: Place, *sharing: GroupMember) -> None:
    """Until each partition is one member's, and each member has one."""

    def shares() -> list[set[tuple[str, int]]]:
        return [set(member.assigned) for member in sharing]

    def is_shared(shares: list[set[tuple[str, int]]]) -> bool:
        return all(shares) and sorted(each for share in shares for each in share) == place.places

    wait_for(f"{place.topic} shared by {len(sharing)}", shares, is_shared)


def wait_until_read(place: Place, sharing: list[GroupMember], values: list[str]) -> None:
    """Each value by one of them."""
    place.write(*values)
    wanted = sorted(value.encode() for value in values)
    wait_for(
        "each value with one member",
        lambda: sorted(value for member in sharing for value in member.read),
        lambda read: read == wanted,
    )


def polled_until(consumer: Consumer, what: str, is_so: Callable[[], bool]) -> None:
    def look() -> bool:
        consumer.poll(100)
        return is_so()

    wait_for(what, look)
