"""Consumer groups: listed and deleted, and members removed.

ListConsumerGroups asks every broker; the others are handlers of calls by group, sent to its
coordinator: DescribeConsumerGroupsHandler, DeleteConsumerGroupsHandler and
RemoveMembersFromConsumerGroupHandler.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from logquake.client.admin.asking.asks import Ask, Asks, Broker, Terms, fixed
from logquake.client.admin.asking.by_broker import ByBroker, ask_every_broker
from logquake.client.admin.asking.coordinators import Coordinators
from logquake.client.admin.asking.keyed import Answered, Outcome
from logquake.client.admin.asking.refusals import if_it_passes, refusal
from logquake.client.admin.asking.results import Results
from logquake.client.consumer.assignors.subscriptions import CONSUMERS
from logquake.client.errors import (
    ClientError,
    UnsupportedVersionError,
    broker_error,
    check,
)
from logquake.client.network.coordinator_lookups import COORDINATOR_MOVED
from logquake.wire.coordinator_type import CoordinatorType
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_admin import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    ListedGroup,
    ListGroupsRequest,
    ListGroupsResponse,
)
from logquake.wire.messages.group_membership import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from logquake.wire.schema import Message

_STATES_SINCE = 4  # KIP-518
_TYPES_SINCE = 5  # KIP-848
_SEVERAL_LEAVE_SINCE = 3  # KIP-345
_LOADING = (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE)


@dataclass(frozen=True, slots=True)
class ConsumerGroupListing:
    """``state`` and ``type`` ("Classic", "Consumer") are "" if the broker reports none."""

    group_id: str
    is_simple_consumer_group: bool  # a group without members that only commits
    state: str
    type: str


def list_consumer_groups(
    states: Collection[str],
    types: Collection[str],
    results: Results[None, ByBroker[ConsumerGroupListing]],
) -> Asks:
    """Groups in these states, and of these types; empty means any."""

    def request(terms: Terms) -> Message:
        if states and terms.version < _STATES_SINCE:
            raise UnsupportedVersionError("the broker does not tell the states of groups (KIP-518)")
        if types and terms.version < _TYPES_SINCE and set(map(str.lower, types)) != {"classic"}:
            raise UnsupportedVersionError("the broker has no groups but classic ones (KIP-848)")
        of_types = list(types) if terms.version >= _TYPES_SINCE else []
        return ListGroupsRequest(states_filter=list(states), types_filter=of_types)

    def ask(broker: Broker) -> Ask[ListGroupsResponse]:
        return Ask(broker, ListGroupsResponse, request, _is_loaded)

    return ask_every_broker("listConsumerGroups", ask, _listings, results)


def _is_loaded(answer: ListGroupsResponse) -> None:
    if_it_passes(answer.error_code, "the broker's groups", _LOADING)


def _listings(answer: ListGroupsResponse) -> tuple[ConsumerGroupListing, ...]:
    check(answer.error_code, "the broker's groups")
    return tuple(_listing(each) for each in answer.groups if each.protocol_type in ("", CONSUMERS))


def _listing(told: ListedGroup) -> ConsumerGroupListing:
    is_simple, kind = not told.protocol_type, told.group_type.capitalize()
    return ConsumerGroupListing(told.group_id, is_simple, told.group_state, kind)


def sort_out(outcome: Outcome[str, Any], group_id: str, code: int, message: str | None) -> None:
    """Handle an error of a whole group: its coordinator has moved, it fails for good, or it is
    being loaded, and is requested again.
    """
    known = ErrorCode.of_peer(code)
    if known in COORDINATOR_MOVED:
        outcome.moved.append(group_id)
    elif known is not ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        outcome.failed[group_id] = broker_error(code, message or f"group {group_id}")


class DeleteConsumerGroups:
    name = "deleteConsumerGroups"

    def __init__(self) -> None:
        self.lookup = Coordinators(CoordinatorType.GROUP)

    def asks(self, broker_id: int, keys: list[str]) -> Iterator[tuple[Ask[Message], list[str]]]:
        request = DeleteGroupsRequest(groups_names=keys)
        yield Ask(Broker(broker_id), DeleteGroupsResponse, fixed(request)), keys

    def outcome(self, reply: Answered[DeleteGroupsResponse, str]) -> Outcome[str, None]:
        outcome: Outcome[str, None] = Outcome()
        for told in reply.answer.results:
            if told.error_code == ErrorCode.NONE:
                outcome.completed[told.group_id] = None
            else:
                sort_out(outcome, told.group_id, told.error_code, None)
        return outcome

    def unsupported(
        self, keys: list[str], error: UnsupportedVersionError
    ) -> dict[str, ClientError]:
        return dict.fromkeys(keys, error)


@dataclass(frozen=True, slots=True)
class MemberToRemove:
    """A static member has an instance id, any other a member id."""

    group_instance_id: str | None = None
    member_id: str = ""


class RemoveMembers:
    """The outcome is an error, or None, for each member."""

    name = "leaveGroup"

    def __init__(self, members: Sequence[MemberToRemove], reason: str) -> None:
        self.lookup = Coordinators(CoordinatorType.GROUP)
        self._members = members
        self._reason = reason

    def asks(self, broker_id: int, keys: list[str]) -> Iterator[tuple[Ask[Message], list[str]]]:
        (group_id,) = keys
        identities = [
            MemberIdentity(
                member_id=each.member_id,
                group_instance_id=each.group_instance_id,
                reason=self._reason,
            )
            for each in self._members
        ]

        def request(terms: Terms) -> Message:
            if terms.version >= _SEVERAL_LEAVE_SINCE:
                return LeaveGroupRequest(group_id=group_id, members=identities)
            if len(identities) != 1:
                raise UnsupportedVersionError("the broker removes one member at a time (KIP-345)")
            return LeaveGroupRequest(group_id=group_id, member_id=identities[0].member_id)

        yield Ask(Broker(broker_id), LeaveGroupResponse, request), keys

    def outcome(
        self, reply: Answered[LeaveGroupResponse, str]
    ) -> Outcome[str, dict[MemberToRemove, ClientError | None]]:
        answer = reply.answer
        outcome: Outcome[str, dict[MemberToRemove, ClientError | None]] = Outcome()
        (group_id,) = reply.keys
        if answer.error_code != ErrorCode.NONE:
            sort_out(outcome, group_id, answer.error_code, None)
            return outcome
        outcome.completed[group_id] = {
            asked: refusal(told.error_code, str(asked))
            for told in answer.members or _alone(self._members)
            for asked in self._members
            if _is_same(asked, MemberToRemove(told.group_instance_id, told.member_id))
        }
        return outcome

    def unsupported(
        self, keys: list[str], error: UnsupportedVersionError
    ) -> dict[str, ClientError]:
        return dict.fromkeys(keys, error)


def _alone(members: Sequence[MemberToRemove]) -> list[MemberResponse]:
    """In versions for a single member, the response is about that one."""
    return [MemberResponse(member_id=members[0].member_id)] if len(members) == 1 else []


def _is_same(asked: MemberToRemove, told: MemberToRemove) -> bool:
    if asked.group_instance_id is not None:
        return asked.group_instance_id == told.group_instance_id
    return asked.member_id == told.member_id
