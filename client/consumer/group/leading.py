"""What the leader of a group does for all its members (ConsumerCoordinator.onLeaderElected)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from logquake.client.arguments import check_places, check_text
from logquake.client.consumer.assignors.assignor import (
    Assignment,
    Assignor,
    RebalanceProtocol,
    Subscriptions,
)
from logquake.client.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from logquake.client.consumer.assignors.range import RangeAssignor
from logquake.client.consumer.assignors.round_robin import RoundRobinAssignor
from logquake.client.consumer.assignors.sticky import StickyAssignor
from logquake.client.consumer.assignors.subscriptions import (
    decode_subscription,
    encode_assignment,
)
from logquake.client.errors import AssignorError
from logquake.wire.messages.group_membership import JoinGroupResponse

# These take owned partitions, and their generations, into account themselves.
_SAFE = (CooperativeStickyAssignor.name,)
# These assign only topics to which a member subscribes.
_OF_SUBSCRIBED_TOPICS = (
    RangeAssignor.name,
    RoundRobinAssignor.name,
    StickyAssignor.name,
    CooperativeStickyAssignor.name,
)


def protocol_of(assignors: Sequence[Assignor]) -> RebalanceProtocol:
    """The best that all of them support. Raises ValueError if they have none in common."""
    common = [
        protocol
        for protocol in RebalanceProtocol
        if all(protocol in assignor.protocols for assignor in assignors)
    ]
    if not assignors or not common:
        names = ", ".join(assignor.name for assignor in assignors)
        raise ValueError(f"no rebalance protocol that all assignors have: {names or 'none at all'}")
    return max(common, key=lambda protocol: protocol.value)


def by_name(assignors: Sequence[Assignor]) -> dict[str, Assignor]:
    """Assignors by name, on which members agree. Raises ValueError if two have the same name
    (ConsumerPartitionAssignor.getAssignorInstances).
    """
    found: dict[str, Assignor] = {}
    for assignor in assignors:
        if assignor.name in found:
            raise ValueError(f"more than one assignor is called {assignor.name}")
        found[assignor.name] = assignor
    return found


def members_of(joined: JoinGroupResponse) -> Subscriptions:
    """Raises MalformedResponseError."""
    return {
        member.member_id: decode_subscription(member.metadata, member.group_instance_id)
        for member in joined.members
    }


def topics_of(members: Subscriptions) -> frozenset[str]:
    return frozenset(topic for said in members.values() for topic in said.topics)


def topics_assigned(assignor: Assignor, given: Assignment) -> frozenset[str]:
    """Topics to check for additions, since a program's assignor may assign any topic."""
    if assignor.name in _OF_SUBSCRIBED_TOPICS:
        return frozenset()
    return frozenset(place.topic for places in given.values() for place in places)


def encoded(given: Assignment) -> dict[str, bytes]:
    """Raises TypeError or ValueError for an invalid member or partition."""
    for member_id, places in given.items():
        check_text(member_id, "member")
        check_places(places)
    return {member_id: encode_assignment(places) for member_id, places in given.items()}


def check_cooperation(assignor: Assignor, members: Subscriptions, given: Assignment) -> None:
    """No member may get a partition that another still owns. Raises AssignorError."""
    if assignor.name in _SAFE:
        return
    added, revoked = set(), set()
    for member_id, said in members.items():
        now = set(given.get(member_id, ()))
        added |= now.difference(said.owned)
        revoked |= set(said.owned) - now
    torn = added & revoked
    if torn:
        raise AssignorError(
            f"{assignor.name} gives away what its owners have not given up: {_named(torn)}"
        )


def _named(places: Iterable[object]) -> str:
    return ", ".join(sorted(map(str, places)))
