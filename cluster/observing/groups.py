"""Groups of consumers as an administrator sees them, in plain values: they go out as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from logquake.client import Admin
from logquake.client.admin import (
    ByBroker,
    ConsumerGroupDescription,
    ConsumerGroupListing,
    MemberDescription,
)
from logquake.wire.topic_partition import TopicPartition

# As Kafka spells the states of groups; nobody has heard of one that is dead.
STABLE, DEAD = "Stable", "Dead"
_WITHOUT_MEMBERS = ("Empty", DEAD)


class ListedGroup(NamedTuple):
    group_id: str
    protocol_type: str  # "" of a group that only commits
    state: str  # "" of a broker from before KIP-518
    coordinator: int


@dataclass(frozen=True, slots=True)
class Member:
    member_id: str
    instance_id: str | None  # of a static member
    client_id: str
    host: str
    assigned: tuple[TopicPartition, ...]  # in order


@dataclass(frozen=True, slots=True)
class Group:
    group_id: str
    state: str
    protocol_type: str
    protocol: str  # the assignor's name; "" between two generations
    coordinator: int
    members: tuple[Member, ...]  # by their clients' names

    @property
    def is_active(self) -> bool:
        """Has members, or is about to: then nobody else may commit for it."""
        return self.state not in _WITHOUT_MEMBERS


def listed_groups(told: ByBroker[ConsumerGroupListing]) -> list[ListedGroup]:
    """Of those brokers that answered, in the order of names."""
    return sorted(
        ListedGroup(each.group_id, _protocol_type(each), each.state, broker_id)
        for broker_id, listed in told.found.items()
        for each in listed
    )


def described_groups(admin: Admin, group_ids: Iterable[str]) -> list[Group]:
    """In this order. Raises ClientError."""
    asked = admin.describe_consumer_groups(group_ids)
    return [_group(told.result()) for told in asked.values()]


def described_group(admin: Admin, group_id: str) -> Group:
    """Raises ClientError."""
    (group,) = described_groups(admin, [group_id])
    return group


def _group(told: ConsumerGroupDescription) -> Group:
    members = sorted(map(_member, told.members), key=lambda one: (one.client_id, one.member_id))
    return Group(
        told.group_id,
        told.state,
        _protocol_type(told),
        told.partition_assignor,
        told.coordinator.id,
        tuple(members),
    )


def _member(told: MemberDescription) -> Member:
    return Member(
        told.member_id,
        told.group_instance_id,
        told.client_id,
        told.host,
        tuple(sorted(told.assignment)),
    )


def _protocol_type(group: ConsumerGroupListing | ConsumerGroupDescription) -> str:
    return "" if group.is_simple_consumer_group else "consumer"
