"""Members of a group that are watched: what their coordinator tells them.

They are programs as any with the client's own consumer, some of them static (KIP-345), some that
subscribe to a pattern, and their ways to brokers are cut, one way or both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random

from logquake.client.consumer.assignors.subscriptions import decode_assignment
from logquake.node.metadata.topic_names import GROUP_METADATA_TOPIC
from logquake.seams.network import Disconnected
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_membership import SyncGroupRequest, SyncGroupResponse
from logquake.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition
from tests.sim.group_history import Commit, GroupHistory
from tests.sim.network import Fabric
from tests.sim.programs.member import CommitWatch, Member, Wish
from tests.sim.programs.reading import Reading
from tests.sim.world import World

COORDINATED_BY = TopicPartition(GROUP_METADATA_TOPIC, 0)
STATIC_SHARE = 0.3
PATTERN_SHARE = 0.3
LONGEST_CUT_US = 1_500_000

Note = Callable[[Iterator[str]], None]

_STALE = {
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.ILLEGAL_GENERATION,
}


class GroupMember(Member):
    """A static one is the same member in all of its lives."""

    def __init__(
        self,
        name: str,
        group: str,
        topic: str,
        strategy: str,
        fabric: Fabric,
        world: World,
        rng: Random,
        reading: Reading,
        history: GroupHistory,
        note: Note,
    ) -> None:
        super().__init__(name, group, topic, strategy, fabric, world, rng, reading)
        self._history = history
        self._note = note
        self._is_static = rng.random() < STATIC_SHARE
        self._wish: Wish = re.compile(f"{topic[:3]}.*") if rng.random() < PATTERN_SHARE else [topic]

    def be_cut_off(self) -> None:
        """From a broker, in one direction or both, for a while."""
        broker = self.rng.choice(sorted(self._world.machines.values(), key=lambda m: m.broker_id))
        ways = [(self.name, broker.host.name), (broker.host.name, self.name)]
        for source, target in self.rng.sample(ways, self.rng.randint(1, len(ways))):
            self._fabric.cut(source, target)
            self._heal_later(source, target)

    def _heal_later(self, source: str, target: str) -> None:
        delay_us = self.rng.randint(20_000, LONGEST_CUT_US)
        self._fabric.clock.after(
            delay_us, f"{source} reaches {target}", lambda: self._fabric.heal(source, target)
        )

    def _identity(self) -> str:
        return self.name if self._is_static else super()._identity()

    def _keys(self, name: str) -> dict[str, object]:
        static = {"group_instance_id": self.name} if self._is_static else {}
        return {**super()._keys(name), **static}

    def _new_watch(self, name: str) -> CommitWatch:
        return GroupWatch(name, self._reading, self._world, self._history, self._note)


class GroupWatch(CommitWatch):
    """Of one life."""

    def __init__(
        self, name: str, reading: Reading, world: World, history: GroupHistory, note: Note
    ) -> None:
        super().__init__(name, reading)
        self._world = world
        self._history = history
        self._note = note
        self._commits: list[tuple[Message, Commit]] = []
        self._looks: list[tuple[Message, int | None, dict[TopicPartition, tuple[int, int]]]] = []

    def asked(self, broker: str, request: Message) -> None:
        super().asked(broker, request)
        match request:
            case OffsetCommitRequest():
                who = request.group_instance_id or request.member_id
                generation = request.generation_id_or_member_epoch
                offsets = dict(_committed_by(request))
                commit = self._history.commit_sent(who, generation, offsets)
                self._commits.append((request, commit))
            case OffsetFetchRequest():
                acked = {place: self._history.last_acked(place) for place in _asked_of(request)}
                self._looks.append((request, self._term_of(broker), acked))

    def answered(self, broker: str, request: Message, answer: Message | Disconnected) -> None:
        super().answered(broker, request, answer)
        match request:
            case SyncGroupRequest() if isinstance(answer, SyncGroupResponse):
                if not answer.error_code:
                    who = request.group_instance_id or request.member_id
                    mine = frozenset(decode_assignment(bytes(answer.assignment)))
                    self._note(self._history.assigned(who, request.generation_id, mine))
            case OffsetCommitRequest():
                commit = next(commit for asked, commit in self._commits if asked is request)
                self._on_commit(commit, answer)
            case OffsetFetchRequest() if isinstance(answer, OffsetFetchResponse):
                self._on_offsets(broker, request, answer)

    def _on_commit(self, commit: Commit, answer: Message | Disconnected) -> None:
        if not isinstance(answer, OffsetCommitResponse):
            self._history.commit_abandoned(commit)
            return
        errors = {told.error_code for topic in answer.topics for told in topic.partitions}
        if errors == {ErrorCode.NONE}:
            ends = {place: self._world.end(place) for place in commit.offsets}
            self._note(self._history.commit_acked(commit, ends))
        elif errors & _STALE:
            self._history.commit_refused(commit)
        else:
            self._history.commit_abandoned(commit)

    def _on_offsets(self, broker: str, request: Message, answer: OffsetFetchResponse) -> None:
        """A deposed coordinator that does not know it yet may tell what was, as Kafka's does."""
        asked = next(look for look in self._looks if look[0] is request)
        self._looks.remove(asked)
        _, term, acked = asked
        if term is None or term != self._term_of(broker):
            return
        for place, offset in _told_by(answer):
            self._note(self._history.fetched(place, offset, acked[place]))

    def _term_of(self, broker: str) -> int | None:
        """The epoch in which ZooKeeper says that it leads the group's partition."""
        history = self._world.decisions.partitions.get(COORDINATED_BY)
        state = history.state if history else None
        leads = state is not None and self._world.machines[state.leader].host.name == broker
        return state.leader_epoch if state is not None and leads else None


def _committed_by(request: OffsetCommitRequest) -> Iterator[tuple[TopicPartition, int]]:
    for topic in request.topics:
        for each in topic.partitions:
            yield TopicPartition(topic.name, each.partition_index), each.committed_offset


def _asked_of(request: OffsetFetchRequest) -> Iterator[TopicPartition]:
    for group in request.groups:
        for topic in group.topics or ():
            for index in topic.partition_indexes:
                yield TopicPartition(topic.name, index)


def _told_by(answer: OffsetFetchResponse) -> Iterator[tuple[TopicPartition, int]]:
    for group in answer.groups:
        for topic in group.topics if not group.error_code else ():
            for each in topic.partitions:
                if not each.error_code:
                    yield TopicPartition(topic.name, each.partition_index), each.committed_offset
