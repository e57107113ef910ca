"""A group as __consumer_offsets keeps it, and as it is made of that again."""

from __future__ import annotations

from collections.abc import Mapping

from logquake.node.coordinators.groups.membership.group import ClassicGroup
from logquake.node.coordinators.groups.membership.members import Member, Members
from logquake.node.coordinators.groups.membership.settings import GroupSettings
from logquake.node.coordinators.groups.membership.states import Stable
from logquake.node.coordinators.groups.membership.values import Protocol
from logquake.wire.compression import Codec
from logquake.wire.errors import ProtocolError
from logquake.wire.messages.coordinator_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
)
from logquake.wire.records import Record, encode_batch
from logquake.wire.versioned import encode_versioned

NO_TIMESTAMP = -1
_KEY_VERSION = 2
_VERSION = 3
_NOT_TOLD = -1  # of a rebalance time-out: version 0 has none


def value_of(group: ClassicGroup, assignments: Mapping[str, bytes]) -> GroupMetadataValue:
    """Its present generation, each member with what it is assigned (groupMetadataValue)."""
    changed_ms = group.state_changed_ms
    return GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation_id,
        protocol=group.protocol_name,
        leader=group.members.leader_id,
        current_state_timestamp=NO_TIMESTAMP if changed_ms is None else changed_ms,
        members=[
            MemberMetadata(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout=member.rebalance_timeout_ms,
                session_timeout=member.session_timeout_ms,
                subscription=member.metadata(group.protocol_name),
                assignment=assignments[member.member_id],
            )
            for member in group.members
        ],
    )


def group_batch(group_id: str, value: GroupMetadataValue, now_ms: int, codec: Codec) -> bytearray:
    """The batch of a group's record; now_ms is the Unix time."""
    key = encode_versioned(GroupMetadataKey(group=group_id), _KEY_VERSION)
    return encode_batch([Record(0, now_ms, key, encode_versioned(value, _VERSION))], codec=codec)


def group_of(group_id: str, value: GroupMetadataValue, settings: GroupSettings) -> ClassicGroup:
    """The group that wrote it: Stable, or Empty where it had no members (readGroupMessageValue).

    No deadline runs yet; `deadlines.begin_sessions` is what its coordinator does first.
    ProtocolError for two members with one instance id.
    """
    changed_ms = value.current_state_timestamp
    group = ClassicGroup(group_id, settings)
    group.state_changed_ms = None if changed_ms == NO_TIMESTAMP else changed_ms
    group.generation_id = value.generation
    group.protocol_type = value.protocol_type or None
    group.protocol_name = value.protocol
    group.members = Members()
    for kept in value.members:
        if group.members.id_of_instance(kept.group_instance_id) is not None:
            raise ProtocolError(f"group {group_id}: two members are {kept.group_instance_id}")
        group.members.add(_member_of(kept, value.protocol or ""))
    if not value.members or (value.leader is not None and value.leader in group.members):
        group.members.leader_id = value.leader
    if value.members:
        group.protocol_type, group.protocol_name = value.protocol_type, value.protocol or ""
        group.state = Stable(None)
    group.note_subscriptions()
    return group


def _member_of(kept: MemberMetadata, protocol_name: str) -> Member:
    told = kept.rebalance_timeout != _NOT_TOLD
    return Member(
        kept.member_id,
        kept.group_instance_id,
        kept.client_id,
        kept.client_host,
        kept.session_timeout,
        kept.rebalance_timeout if told else kept.session_timeout,
        (Protocol(protocol_name, kept.subscription),),
        assignment=kept.assignment,
    )
