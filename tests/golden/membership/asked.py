"""What brokers are asked, in short."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from logquake.client.consumer.assignors.subscriptions import (
    Subscription,
    decode_assignment,
    decode_subscription,
)
from logquake.wire.messages.group_membership import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    SyncGroupRequest,
)
from logquake.wire.messages.group_offsets import OffsetCommitRequest, OffsetFetchRequest
from logquake.wire.schema import Message


def shown(request: Message) -> str:
    match request:
        case JoinGroupRequest():
            return _join(request)
        case SyncGroupRequest():
            return _sync(request)
        case HeartbeatRequest():
            return f"beats as {_member(request)}"
        case LeaveGroupRequest():
            return _leave(request)
        case OffsetCommitRequest():
            return _commit(request)
        case OffsetFetchRequest():
            return _fetch(request)
    raise AssertionError(f"nobody expects {type(request).__name__}")


def _join(request: JoinGroupRequest) -> str:
    wishes = " ".join(f"{one.name}({_wish(one.metadata)})" for one in request.protocols)
    because = f" because: {request.reason}" if request.reason else ""
    return f"joins as {request.member_id or '?'}{_instance(request)}: {wishes}{because}"


def _wish(metadata: bytes) -> str:
    said: Subscription = decode_subscription(metadata)
    owned = f"; has {' '.join(map(str, said.owned))} of {said.generation}" if said.owned else ""
    return " ".join(said.topics) + owned


def _sync(request: SyncGroupRequest) -> str:
    given = [
        f"{one.member_id}: {' '.join(map(str, decode_assignment(one.assignment))) or 'nothing'}"
        for one in request.assignments
    ]
    return f"syncs as {_member(request)}" + (f" and gives {', '.join(given)}" if given else "")


def _leave(request: LeaveGroupRequest) -> str:
    if not request.members:
        return f"leaves as {request.member_id}"
    return f"leaves as {request.members[0].member_id} because: {request.members[0].reason}"


def _commit(request: OffsetCommitRequest) -> str:
    offsets = [
        f"{topic.name}-{one.partition_index}={one.committed_offset}"
        for topic in request.topics
        for one in topic.partitions
    ]
    member = request.member_id or "nobody"
    who = f"{member}/{request.generation_id_or_member_epoch}{_instance(request)}"
    return f"commits as {who}: {' '.join(offsets)}"


def _fetch(request: OffsetFetchRequest) -> str:
    grouped = [topic for group in request.groups for topic in group.topics or []]
    topics: list[Any] = [*(request.topics or []), *grouped]
    places = [f"{topic.name}-{at}" for topic in topics for at in topic.partition_indexes]
    stable = " stable" if request.require_stable else ""
    return f"fetches{stable} committed offsets: {' '.join(places)}"


def _member(request: SyncGroupRequest | HeartbeatRequest) -> str:
    return f"{request.member_id}/{request.generation_id}{_instance(request)}"


def _instance(request: Any) -> str:
    return f" ({request.group_instance_id})" if request.group_instance_id else ""


def options(given: Mapping[str, str], *known: str) -> tuple[dict[str, str], dict[str, str]]:
    """Those that are known by name, and the others."""
    named = {name: value for name, value in given.items() if name in known}
    return named, {name: value for name, value in given.items() if name not in known}
