"""Groups: their members and their offsets."""

from __future__ import annotations

from random import Random
from typing import Any
from uuid import UUID

from logquake.node.composition.parts import Parts
from logquake.node.requests.consumer_group_describe import ConsumerGroupDescribe
from logquake.node.requests.consumer_group_heartbeat import ConsumerGroupHeartbeat
from logquake.node.requests.delete_groups import DeleteGroups
from logquake.node.requests.describe_groups import DescribeGroups
from logquake.node.requests.handler import Handler
from logquake.node.requests.heartbeat import Heartbeat
from logquake.node.requests.join_group import JoinGroup
from logquake.node.requests.leave_group import LeaveGroup
from logquake.node.requests.list_groups import ListGroups
from logquake.node.requests.offset_commit import OffsetCommit
from logquake.node.requests.offset_delete import OffsetDelete
from logquake.node.requests.offset_fetch import OffsetFetch
from logquake.node.requests.sync_group import SyncGroup
from logquake.node.requests.zookeeper_offsets import ZooKeeperOffsets


def group_handlers(parts: Parts) -> list[Handler[Any]]:
    return [
        *_of_members(parts),
        *_of_offsets(parts),
        ConsumerGroupHeartbeat(),
        ConsumerGroupDescribe(),
    ]


def _of_members(parts: Parts) -> list[Handler[Any]]:
    members, authorizer = parts.groups.members, parts.authorizer
    return [
        JoinGroup(members, lambda: _new_uuid(parts.outside.random)),
        SyncGroup(members),
        Heartbeat(members),
        LeaveGroup(members),
        DescribeGroups(members, authorizer),
        ListGroups(members, authorizer),
        DeleteGroups(members, authorizer),
    ]


def _of_offsets(parts: Parts) -> list[Handler[Any]]:
    offsets, cache, authorizer = parts.groups.offsets, parts.metadata, parts.authorizer
    in_zookeeper = ZooKeeperOffsets(parts.session, parts.settings.offsets.max_metadata_size)
    return [
        OffsetCommit(offsets, in_zookeeper, cache, parts.outside.scheduler, authorizer),
        OffsetFetch(offsets, in_zookeeper, cache, authorizer),
        OffsetDelete(parts.groups.removal, cache, authorizer),
    ]


def _new_uuid(random: Random) -> str:
    return str(UUID(bytes=random.randbytes(16), version=4))
