"""A group whose members, log and coordinators do anything at any time: what holds all the same.

- Nothing is answered twice, and everything is once nobody coordinates the group here any more.
- No partition has two owners in one generation, and none an owner before that is stored.
- The group is woken before a deadline of its passes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

import pytest

from logquake.node.coordinators.groups.membership import (
    deadlines,
    ending,
    heartbeats,
    joining,
    leaving,
    storing,
    syncing,
)
from logquake.node.coordinators.groups.membership.effects import (
    AnswerJoin,
    AnswerSync,
    Assigned,
    Store,
)
from logquake.node.coordinators.groups.membership.group import ClassicGroup
from logquake.node.coordinators.groups.membership.record import group_of
from logquake.node.coordinators.groups.membership.settings import GroupSettings
from logquake.node.coordinators.groups.membership.states import PreparingRebalance
from logquake.node.coordinators.groups.membership.values import (
    JoinResult,
    Leaver,
    Moment,
    Protocol,
    Sync,
    SyncResult,
)
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.coordinator_records import GroupMetadataValue
from tests.doubles.joins import join_of

EVENTS = 600
INSTANCES = ["i", "j", None, None]
PROTOCOLS = ["range", "sticky"]
APPENDS_END = [
    *[ErrorCode.NONE] * 6,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.NOT_ENOUGH_REPLICAS,
]


class Life:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.settings = GroupSettings(max_size=4, initial_rebalance_delay_ms=500)
        self.group = ClassicGroup("g", self.settings)
        self.now_ms = 0
        self.requests = 0
        self.answered: dict[int, int] = {}
        self.known: list[tuple[str, str | None]] = [("", None)]  # ids that somebody was told
        self.told: dict[str, int] = {}  # the generation that each was told last
        self.stores: list[Store] = []
        self.record: GroupMetadataValue | None = None
        self.assigned: dict[int, dict[str, bytes]] = {}  # by generation, what is in the log
        self.owners: dict[tuple[int, bytes], str] = {}
        self.generations = 0

    @property
    def at(self) -> Moment:
        return Moment(self.now_ms, self.now_ms)

    # Events

    def step(self) -> None:
        events: list[Callable[[], None]] = [
            *[self.join] * 6,
            *[self.sync] * 6,
            *[self.heartbeat] * 3,
            *[self.pass_time] * 4,
            *[self.end_append] * 4,
            self.leave,
        ]
        if self.random.random() < 0.01:
            events = [self.change_coordinator]
        self.random.choice(events)()
        self.perform()
        self.check_wake()

    def _member(self) -> tuple[str, str | None]:
        return self.random.choice(self.known[-8:])

    def join(self) -> None:
        member_id, instance_id = self._member()
        if self.random.random() < 0.3:
            member_id, instance_id = "", self.random.choice(INSTANCES)
        names = self.random.choice([PROTOCOLS, PROTOCOLS[:1], PROTOCOLS[::-1]])
        said = self.random.choice([b"one", b"one", b"two"])
        number = self._new_request()
        asked = join_of(
            member_id,
            partial(self._joined, number, instance_id),
            unique=f"{number}",
            group_instance_id=instance_id,
            session_timeout_ms=self.random.choice([1_000, 4_000]),
            rebalance_timeout_ms=self.random.choice([2_000, 3_000]),
            protocols=tuple(Protocol(name, said) for name in names),
            needs_member_id=instance_id is None and self.random.random() < 0.5,
            can_skip_assignment=self.random.random() < 0.5,
        )
        joining.join(self.group, asked, self.at)

    def sync(self) -> None:
        member_id, instance_id = self._member()
        generation = self.told.get(member_id, 0)
        number = self._new_request()
        given = {
            each: b"p%d of %d" % (i, number) for i, each in enumerate(self.group.members.ids())
        }
        reply = partial(self._synced, number, member_id, instance_id, generation)
        asked = Sync(member_id, instance_id, generation, None, None, given, reply)
        syncing.sync(self.group, asked, self.at)

    def heartbeat(self) -> None:
        member_id, instance_id = self._member()
        generation = self.told.get(member_id, 0)
        heartbeats.heartbeat(self.group, member_id, instance_id, generation, self.at)

    def leave(self) -> None:
        member_id, instance_id = self._member()
        leaving.leave(self.group, Leaver(member_id, instance_id, ""), self.at)

    def pass_time(self) -> None:
        self.now_ms += self.random.choice([1, 100, 300, 900])
        while self.group.wake_ms is not None and self.group.wake_ms <= self.now_ms:
            deadlines.pass_deadlines(self.group, self.at)
            self.perform()

    def end_append(self) -> None:
        if not self.stores:
            return
        store, error = self.stores.pop(0), self.random.choice(APPENDS_END)
        in_log = error is not ErrorCode.NOT_ENOUGH_REPLICAS  # after a time-out it may be
        if in_log:
            self.record = store.value
        if in_log and isinstance(store.purpose, Assigned):
            self.assigned.setdefault(store.value.generation, {}).update(
                {each.member_id: each.assignment for each in store.value.members}
            )
        storing.stored(self.group, store.purpose, error, self.at)

    def change_coordinator(self) -> None:
        """The next one knows what is in the log."""
        for store in self.stores:
            storing.stored(self.group, store.purpose, ErrorCode.NOT_LEADER_OR_FOLLOWER, self.at)
        self.stores.clear()
        self.perform()
        ending.unload(self.group, self.at)
        self.perform()
        assert len(self.answered) == self.requests
        self.group = ClassicGroup("g", self.settings)
        if self.record is not None:
            self.group = group_of("g", self.record, self.settings)
        deadlines.begin_sessions(self.group, self.at)

    # What comes of them

    def perform(self) -> None:
        while effects := self.group.take_effects():
            for effect in effects:
                if isinstance(effect, AnswerJoin | AnswerSync):
                    effect.answer()
                elif isinstance(effect, Store):
                    self.stores.append(effect)

    def _new_request(self) -> int:
        self.requests += 1
        return self.requests

    def _note_answer(self, number: int) -> None:
        assert number not in self.answered, "answered twice"
        self.answered[number] = self.now_ms

    def _joined(self, number: int, instance_id: str | None, result: JoinResult) -> None:
        self._note_answer(number)
        if result.member_id:
            self.known.append((result.member_id, instance_id))
        if not result.error:
            self.told[result.member_id] = result.generation_id
            self.generations = max(self.generations, result.generation_id)

    def _synced(
        self,
        number: int,
        member_id: str,
        instance_id: str | None,
        generation: int,
        result: SyncResult,
    ) -> None:
        self._note_answer(number)
        if result.error or not result.assignment:
            return
        assert result.assignment in self.assigned[generation].values(), "told before it is stored"
        owner = self.owners.setdefault((generation, result.assignment), instance_id or member_id)
        assert owner == (instance_id or member_id), "two owners in a generation"

    def check_wake(self) -> None:
        group = self.group
        pending_ms = group.pending.next_deadline_ms
        ends = [] if pending_ms is None else [pending_ms]
        ends += [each.expires_ms for each in group.members if each.expires_ms is not None]
        if isinstance(group.state, PreparingRebalance):
            ends.append(group.state.wait.deadline_ms)
        if group.syncing is not None and group.syncing.missing:
            ends.append(group.syncing.deadline_ms)
        if ends:
            assert group.wake_ms is not None
            assert group.wake_ms <= min(ends)


def live(seed: int) -> Life:
    life = Life(seed)
    for _ in range(EVENTS):
        life.step()
    life.change_coordinator()
    return life


@pytest.mark.parametrize("seed", range(40))
def test_whatever_happens_to_a_group(seed: int) -> None:
    assert live(seed).generations > 3


def test_there_is_something_to_be_told() -> None:
    assert sum(len(live(seed).owners) for seed in range(10)) > 10


def test_two_hundred_members_wake_nobody_with_their_heartbeats() -> None:
    """Once in a session time-out the group is looked at, whatever its members say meanwhile."""
    group = ClassicGroup("g", GroupSettings(initial_rebalance_delay_ms=0))
    ids: list[str] = []
    for number in range(200):
        asked = join_of(
            "",
            lambda result: ids.append(result.member_id),
            unique=f"{number}",
            session_timeout_ms=45_000,
            rebalance_timeout_ms=300_000,
        )
        joining.join(group, asked, Moment(0, 0))
    while group.wake_ms == 0:
        deadlines.pass_deadlines(group, Moment(0, 0))
    for effect in group.take_effects():
        if isinstance(effect, AnswerJoin):
            effect.answer()
    wakes: set[int | None] = {group.wake_ms}
    for now_ms in range(0, 135_000, 100):
        if group.wake_ms is not None and group.wake_ms <= now_ms:
            deadlines.pass_deadlines(group, Moment(now_ms, 0))
        member_id = ids[now_ms // 100 % len(ids)]
        assert not heartbeats.heartbeat(group, member_id, None, 1, Moment(now_ms, 0))
        wakes.add(group.wake_ms)
    assert len(wakes) <= 8
