"""The members of a group, and what all of them have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from logquake.node.coordinators.groups.membership.values import (
    Join,
    JoinReply,
    Protocol,
    SyncReply,
)
from logquake.storage.invariants import asserted_after, must_hold


@dataclass(slots=True, eq=False)
class Member:
    """One member (Kafka's MemberMetadata).

    ``join`` and ``sync`` are requests of its that wait. ``is_new`` until its first generation: it
    does not know its id yet, or has just learned it, and sends no heartbeats. ``expires_ms`` is
    when its session ends unless it shows itself; None: a deadline passed while it was waited with.
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: tuple[Protocol, ...]
    assignment: bytes = b""
    is_new: bool = False
    join: JoinReply | None = None
    sync: SyncReply | None = None
    expires_ms: int | None = None

    @property
    def is_static(self) -> bool:
        return self.group_instance_id is not None

    @property
    def is_waiting(self) -> bool:
        """Whether it is the group that it waits for: then its silence means nothing."""
        return not self.is_new and (self.join is not None or self.sync is not None)

    def metadata(self, protocol_name: str | None) -> bytes:
        """What it says in that protocol, which it must know."""
        return next(known.metadata for known in self.protocols if known.name == protocol_name)


def joining_member(join: Join, member_id: str) -> Member:
    return Member(
        member_id,
        join.group_instance_id,
        join.client_id,
        join.client_host,
        join.session_timeout_ms,
        join.rebalance_timeout_ms,
        join.protocols,
        is_new=True,
    )


@asserted_after("add", "remove", "rename", "update", "let_join", "take_join", "elect_joined_leader")
class Members:
    """The members in the order in which they came, and who of them leads.

    Invariants:
    - A group with members has one of them for its leader.
    - An instance id belongs to one member, the one that is known by it.
    - Counts of who waits to join and of who knows each protocol are those of the members.
    """

    def __init__(self, leader_id: str | None = None) -> None:
        self.leader_id = leader_id
        self.joined = 0  # how many wait for the next generation
        self._by_id: dict[str, Member] = {}
        self._ids_of_instances: dict[str, str] = {}
        self._knowing: Counter[str] = Counter()

    def check_invariants(self) -> None:
        """Raises InvariantError; called where invariants are asserted (storage/invariants.py)."""
        if self._by_id:
            must_hold(self.leader_id in self._by_id, "a member leads", self.leader_id)
        instances = {each.group_instance_id: each.member_id for each in self if each.is_static}
        must_hold(instances == self._ids_of_instances, "instances are members'", instances)
        joined = sum(member.join is not None for member in self)
        must_hold(joined == self.joined, "who joined is counted", joined, self.joined)
        knowing = Counter(known.name for member in self for known in member.protocols)
        must_hold(knowing == self._knowing, "protocols are counted", knowing, self._knowing)

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, member_id: str) -> bool:
        return member_id in self._by_id

    def __getitem__(self, member_id: str) -> Member:
        return self._by_id[member_id]

    def __iter__(self) -> Iterator[Member]:
        return iter(self._by_id.values())

    def ids(self) -> tuple[str, ...]:
        return tuple(self._by_id)

    def id_of_instance(self, instance_id: str | None) -> str | None:
        return None if instance_id is None else self._ids_of_instances.get(instance_id)

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest that any of them asks for."""
        return max((member.rebalance_timeout_ms for member in self), default=0)

    def add(self, member: Member) -> None:
        """The first to come leads."""
        self._by_id[member.member_id] = member
        if member.group_instance_id is not None:
            self._ids_of_instances[member.group_instance_id] = member.member_id
        if self.leader_id is None:
            self.leader_id = member.member_id
        self._count_protocols(member, +1)
        self.joined += member.join is not None

    def remove(self, member: Member) -> None:
        """Who has been there longest leads after a leader."""
        del self._by_id[member.member_id]
        if member.group_instance_id is not None:
            del self._ids_of_instances[member.group_instance_id]
        if self.leader_id == member.member_id:
            self.leader_id = next(iter(self._by_id), None)
        self._count_protocols(member, -1)
        self.joined -= member.join is not None

    def rename(self, member: Member, member_id: str) -> None:
        """A static member came back under another id; it leads on if it led."""
        del self._by_id[member.member_id]
        if self.leader_id == member.member_id:
            self.leader_id = member_id
        member.member_id = member_id
        self._by_id[member_id] = member
        if member.group_instance_id is not None:
            self._ids_of_instances[member.group_instance_id] = member_id

    def update(self, member: Member, join: Join) -> None:
        """What it says of itself now."""
        self._count_protocols(member, -1)
        member.protocols = join.protocols
        self._count_protocols(member, +1)
        member.rebalance_timeout_ms = join.rebalance_timeout_ms
        member.session_timeout_ms = join.session_timeout_ms

    def let_join(self, member: Member, reply: JoinReply) -> None:
        self.joined += member.join is None
        member.join = reply

    def take_join(self, member: Member) -> JoinReply | None:
        """Its request that waits, which waits no longer."""
        reply, member.join = member.join, None
        self.joined -= reply is not None
        return reply

    def elect_joined_leader(self) -> bool:
        """Let one lead who waits for the next generation; whether there is one."""
        if self.leader_id is None or self._by_id[self.leader_id].join is not None:
            return self.leader_id is not None
        joined = next((each for each in self if each.join is not None), None)
        if joined is not None:
            self.leader_id = joined.member_id
        return joined is not None

    # Protocols

    def know_one_of(self, names: set[str]) -> bool:
        """Whether one of these is known to all; of nobody that is true of each."""
        return any(self._knowing[name] == len(self._by_id) for name in names)

    def choose_protocol(self) -> str:
        """What most of them like best of what all know; there must be members.

        Among equals it is what the one likes that has been there longest.
        """
        common = {name for name, count in self._knowing.items() if count == len(self._by_id)}
        votes = Counter(
            next(known.name for known in member.protocols if known.name in common)
            for member in self
        )
        return votes.most_common(1)[0][0]

    def _count_protocols(self, member: Member, by: int) -> None:
        for known in member.protocols:
            self._knowing[known.name] += by
            if not self._knowing[known.name]:
                del self._knowing[known.name]
