"""Which brokers hold the partitions of a new topic: pure, given a random source.

The rules are Kafka's (AdminUtils.assignReplicasToBrokers). First replicas go round the brokers
from a random start; the others follow at a shift that grows by one each time round, so that two
brokers do not share all their partitions. If brokers name racks, the round alternates between
racks, and a partition takes a second replica of a rack only once every rack has one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from random import Random

from logquake.wire.errors import ErrorCode


class AssignmentError(Exception):
    """No assignment is possible: ``code`` is what the client is told."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Start:
    """Where the round begins, and how far from the first replica the second is."""

    index: int
    shift: int

    @staticmethod
    def random(random: Random, broker_count: int) -> Start:
        return Start(random.randrange(broker_count), random.randrange(broker_count))


def assign_replicas(
    racks: Mapping[int, str | None],
    partition_count: int,
    replication_factor: int,
    start: Start,
    *,
    first_partition: int = 0,
) -> dict[int, tuple[int, ...]]:
    """Brokers of every partition from ``first_partition`` on. ``racks`` is keyed by broker id.

    Raises AssignmentError.
    """
    check_counts(partition_count, replication_factor, len(racks))
    named = {broker: rack for broker, rack in racks.items() if rack is not None}
    if named and len(named) < len(racks):
        raise AssignmentError(
            ErrorCode.UNKNOWN_SERVER_ERROR,
            "Not all brokers have rack information for replica rack aware assignment.",
        )
    brokers = rack_alternated(named) if named else sorted(racks)
    placed = {}
    shift = start.shift
    for partition in range(first_partition, first_partition + partition_count):
        if partition > 0 and partition % len(brokers) == 0:
            shift += 1
        first = (partition + start.index) % len(brokers)
        placed[partition] = _replicas(brokers, named, first, shift, replication_factor)
    return placed


def check_counts(partition_count: int, replication_factor: int, broker_count: int) -> None:
    """Raises AssignmentError."""
    if partition_count <= 0:
        raise AssignmentError(
            ErrorCode.INVALID_PARTITIONS, "Number of partitions must be larger than 0."
        )
    if replication_factor <= 0:
        raise AssignmentError(
            ErrorCode.INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0."
        )
    if replication_factor > broker_count:
        raise AssignmentError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Replication factor: {replication_factor} larger than available brokers: "
            f"{broker_count}.",
        )


def rack_alternated(racks: Mapping[int, str]) -> list[int]:
    """Brokers in rounds over the racks in name order: of each rack its next broker id."""
    by_rack: defaultdict[str, list[int]] = defaultdict(list)
    for broker, rack in sorted(racks.items()):
        by_rack[rack].append(broker)
    rounds = zip_longest(*(by_rack[rack] for rack in sorted(by_rack)))
    return [broker for broker in chain.from_iterable(rounds) if broker is not None]


def _replicas(
    brokers: Sequence[int], racks: Mapping[int, str], first: int, shift: int, wanted: int
) -> tuple[int, ...]:
    rack_count = len(set(racks.values()))
    replicas = [brokers[first]]
    step = 0
    while len(replicas) < wanted:
        offset = shift * max(rack_count, 1) + step
        broker = brokers[(first + 1 + offset % (len(brokers) - 1)) % len(brokers)]
        step += 1
        if broker not in replicas and _rack_is_open(broker, replicas, racks, rack_count):
            replicas.append(broker)
    return tuple(replicas)


def _rack_is_open(
    broker: int, replicas: Sequence[int], racks: Mapping[int, str], rack_count: int
) -> bool:
    used = {racks[replica] for replica in replicas if replica in racks}
    return len(used) == rack_count or racks.get(broker) not in used
