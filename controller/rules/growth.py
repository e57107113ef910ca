"""By which partitions a topic grows, and when it may not: pure.

ZkAdminManager.createPartitions and AdminZkClient.createNewPartitionsAssignment, wording included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from logquake.controller.rules.assignment import AssignmentError, Start, assign_replicas
from logquake.controller.rules.topic_rules import TopicRefused
from logquake.wire.errors import ErrorCode

Replicas = Mapping[int, tuple[int, ...]]


def new_partitions(
    topic: str,
    existing: Replicas,
    count: int,
    assigned: Sequence[tuple[int, ...]] | None,
    racks: Mapping[int, str | None],
) -> dict[int, tuple[int, ...]]:
    """Those that bring the topic to ``count``, as ``assigned`` or by the rule.

    ``racks`` is keyed by live broker. Raises TopicRefused.
    """
    _check_count(len(existing), count)
    if 0 not in existing:
        raise TopicRefused(
            ErrorCode.UNKNOWN_SERVER_ERROR,
            f"Unexpected existing replica assignment for topic '{topic}', partition id 0 is "
            "missing.",
        )
    if assigned is None:
        return _by_rule(existing, count, racks)
    _check_brokers(assigned, racks)
    _check_number(len(assigned), count - len(existing))
    proposed = dict(enumerate(assigned, start=len(existing)))
    _check_replicas(proposed, len(existing[0]))
    return proposed


def _check_count(existing: int, wanted: int) -> None:
    if wanted < existing:
        reason = (
            f"Topic currently has {existing} partitions, which is higher than the requested "
            f"{wanted}."
        )
    elif wanted == existing:
        reason = f"Topic already has {existing} partitions."
    else:
        return
    raise TopicRefused(ErrorCode.INVALID_PARTITIONS, reason)


def _by_rule(
    existing: Replicas, count: int, racks: Mapping[int, str | None]
) -> dict[int, tuple[int, ...]]:
    """The round goes on from the first broker that partition 0 prefers."""
    brokers = sorted(racks)
    begun = next((at for at, each in enumerate(brokers) if each >= existing[0][0]), 0)
    try:
        return assign_replicas(
            racks,
            count - len(existing),
            len(existing[0]),
            Start(begun, begun),
            first_partition=len(existing),
        )
    except AssignmentError as error:
        raise TopicRefused(error.code, str(error)) from error


def _check_brokers(assigned: Sequence[tuple[int, ...]], racks: Mapping[int, str | None]) -> None:
    named = dict.fromkeys(broker for replicas in assigned for broker in replicas)
    unknown = [str(broker) for broker in named if broker not in racks]
    if unknown:
        raise _misassigned(f"Unknown broker(s) in replica assignment: {', '.join(unknown)}.")


def _check_number(assigned: int, added: int) -> None:
    if assigned != added:
        raise _misassigned(
            f"Increasing the number of partitions by {added} but {assigned} assignments provided."
        )


def _check_replicas(proposed: Replicas, factor: int) -> None:
    for partition, replicas in proposed.items():
        if not replicas:
            raise _misassigned(f"Cannot have replication factor of 0 for partition id {partition}.")
        if len(set(replicas)) != len(replicas):
            raise _misassigned(
                "Duplicate brokers not allowed in replica assignment: "
                f"{_listed(replicas)} for partition id {partition}."
            )
    others = {each: len(replicas) for each, replicas in proposed.items() if len(replicas) != factor}
    if others:
        raise _misassigned(
            f"Inconsistent replication factor between partitions, partition 0 has {factor} while "
            f"partitions [{_listed(others)}] have replication factors "
            f"[{_listed(others.values())}], respectively."
        )


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _misassigned(reason: str) -> TopicRefused:
    return TopicRefused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason)
