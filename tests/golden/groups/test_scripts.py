"""What the members of a group are told, command by command."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path

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
from logquake.node.coordinators.groups.membership.description import describe
from logquake.node.coordinators.groups.membership.effects import (
    AnswerJoin,
    AnswerSync,
    Effect,
    StateChanged,
    Store,
)
from logquake.node.coordinators.groups.membership.group import ClassicGroup
from logquake.node.coordinators.groups.membership.record import group_of
from logquake.node.coordinators.groups.membership.settings import GroupSettings
from logquake.node.coordinators.groups.membership.values import (
    JoinResult,
    Leaver,
    Moment,
    Protocol,
    Sync,
    SyncResult,
)
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.consumer_protocol import ConsumerProtocolSubscription
from logquake.wire.messages.coordinator_records import GroupMetadataValue
from logquake.wire.versioned import decode_versioned, encode_versioned
from tests.doubles.joins import join_of
from tests.golden.player import Chronicle, Player, check_script, scripts_beside

WALL_CLOCK_START_MS = 1_700_000_000_000
WRITTEN_VERSION = 3
REASON = "for a reason"


@pytest.mark.parametrize("script", scripts_beside(__file__), ids=lambda path: path.stem)
def test_script(script: Path) -> None:
    check_script(script, GroupPlayer())


class GroupPlayer(Player):
    """One group and its clock. Requests are numbered; a member's id ends with its request's.

    ``store at-once`` answers each append when it is made; else ``stored`` does.
    """

    def __init__(self) -> None:
        self.chronicle = Chronicle()
        self.group = ClassicGroup("g", GroupSettings())
        self._now_ms = 0
        self._labels = count(1)
        self._stores: list[Store] = []
        self._stores_at_once = False
        self._last_record = b""
        self._stored_record = b""

    def outcome(self) -> list[str]:
        self._perform()
        return self.chronicle.take_log()

    # --- the surroundings

    def do_settings(self, delay: str = "3000", max_size: str = "100") -> None:
        self.group.settings = GroupSettings(
            initial_rebalance_delay_ms=int(delay), max_size=int(max_size)
        )

    def do_store(self, how: str) -> None:
        self._stores_at_once = how == "at-once"

    def do_stored(self, error: str = "NONE") -> None:
        """What became of the eldest append that is not answered yet."""
        store = self._stores.pop(0)
        if not ErrorCode[error]:
            self._stored_record = _record_of(store)
        storing.stored(self.group, store.purpose, ErrorCode[error], self._at)

    def do_pass(self, duration_ms: str) -> None:
        """Let time pass; what is due is done at its own time."""
        end_ms = self._now_ms + int(duration_ms)
        while self.group.wake_ms is not None and self.group.wake_ms <= end_ms:
            self._now_ms = max(self._now_ms, self.group.wake_ms)
            deadlines.pass_deadlines(self.group, self._at)
            self._perform()
        self._now_ms = end_ms

    def do_unload(self) -> None:
        ending.unload(self.group, self._at)

    def do_load(self) -> None:
        """Another coordinator reads the last record."""
        self._load(self._last_record)

    def do_kill(self, unanswered: str = "lost") -> None:
        """The coordinator dies, and nobody is told. What it appended and had no answer of is in the
        next one's log if it ``stays``.
        """
        self._stores.clear()
        if unanswered == "stays":
            self._stored_record = self._last_record
        self._load(self._stored_record)

    def _load(self, record: bytes) -> None:
        settings = self.group.settings
        if record:
            self.group = group_of("g", decode_versioned(GroupMetadataValue, record), settings)
        else:
            self.group = ClassicGroup("g", settings)
        deadlines.begin_sessions(self.group, self._at)

    # --- requests

    def do_join(
        self,
        client: str,
        id: str = "",
        instance: str | None = None,
        session: str = "10000",
        rebalance: str = "60000",
        type: str = "consumer",
        protocols: str = "range",
        consumes: str = "",
        v: str = "9",
    ) -> None:
        """``protocols`` in order of preference, each perhaps with what is said: range/a,sticky.

        Who ``consumes`` topics says so in the protocol range, as consumers do.
        """
        number = next(self._labels)
        version = int(v)
        known = [each.partition("/") for each in protocols.split(",") if each]
        said = tuple(Protocol(name, text.encode()) for name, _, text in known)
        subscription = ConsumerProtocolSubscription(topics=consumes.split(","))
        asked = join_of(
            id,
            lambda result: self.chronicle.log(f"join#{number} {_joined(result)}"),
            unique=f"{number}",
            group_instance_id=instance,
            client_id=client,
            session_timeout_ms=int(session),
            rebalance_timeout_ms=int(rebalance),
            protocol_type=type,
            protocols=(Protocol("range", encode_versioned(subscription, 3)),) if consumes else said,
            needs_member_id=version >= 4 and instance is None,
            can_skip_assignment=version >= 9,
        )
        joining.join(self.group, asked, self._at)

    def do_sync(
        self,
        id: str,
        *assignments: str,
        generation: str,
        instance: str | None = None,
        type: str | None = "consumer",
        protocol: str | None = None,
    ) -> None:
        """A leader's has assignments: a-1:p0 gives p0 to member a-1."""
        number = next(self._labels)
        given = dict(each.rsplit(":", 1) for each in assignments)
        asked = Sync(
            id,
            instance,
            int(generation),
            type,
            protocol,
            {member: assignment.encode() for member, assignment in given.items()},
            lambda result: self.chronicle.log(f"sync#{number} {_synced(result)}"),
        )
        syncing.sync(self.group, asked, self._at)

    def do_heartbeat(self, id: str, generation: str, instance: str | None = None) -> None:
        error = heartbeats.heartbeat(self.group, id, instance, int(generation), self._at)
        self.chronicle.log(error.name)

    def do_leave(self, *leavers: str) -> None:
        """Each a member id, an instance id as @i, or both as a-1@i."""
        for leaver in leavers:
            member_id, at, instance_id = leaver.partition("@")
            known = Leaver(member_id, instance_id if at else None, REASON)
            error = leaving.leave(self.group, known, self._at)
            self._perform()
            self.chronicle.log(f"{leaver}: {error.name}")

    def do_commit(
        self, id: str = "", generation: str = "-1", instance: str | None = None, txn: str = "no"
    ) -> None:
        """Whether offsets might be committed."""
        transactional = txn == "yes"
        error = heartbeats.commit_error(
            self.group, id, instance, int(generation), transactional=transactional
        )
        if not error and not transactional:
            heartbeats.note_commit(self.group, id, self._at)
        self.chronicle.log(error.name)

    def do_describe(self) -> None:
        described = describe(self.group)
        protocol = f"{described.protocol_type}/{described.protocol_data}"
        self.chronicle.log(f"{described.group_state} {protocol}")
        for each in described.members:
            instance = "" if each.group_instance_id is None else f"@{each.group_instance_id}"
            said = _text(each.member_metadata)
            given = each.member_assignment.decode()
            self.chronicle.log(f"  {each.member_id}{instance} said '{said}' has '{given}'")

    def do_subscribed(self, *topics: str) -> None:
        for topic in topics:
            self.chronicle.log(f"{topic}: {'yes' if self.group.is_subscribed_to(topic) else 'no'}")

    # --- what comes of them

    @property
    def _at(self) -> Moment:
        return Moment(self._now_ms, WALL_CLOCK_START_MS + self._now_ms)

    def _perform(self) -> None:
        while effects := self.group.take_effects():
            for effect in effects:
                self._carry_out(effect)

    def _carry_out(self, effect: Effect) -> None:
        if isinstance(effect, AnswerJoin | AnswerSync):
            effect.answer()
        elif isinstance(effect, StateChanged):
            change = f"{effect.before} -> {effect.after}"
            self.chronicle.log(f"{change} (generation {effect.generation_id}): {effect.why}")
        else:
            self._take_store(effect)

    def _take_store(self, store: Store) -> None:
        self._last_record = _record_of(store)
        if self._stores_at_once:
            self._stored_record = self._last_record
            storing.stored(self.group, store.purpose, ErrorCode.NONE, self._at)
            return
        self._stores.append(store)
        value = store.value
        members = [f"{each.member_id}:{each.assignment.decode()}" for each in value.members]
        written = f"generation {value.generation} {value.protocol} leader {value.leader}"
        self.chronicle.log(f"store {written} members {','.join(members)}")


def _record_of(store: Store) -> bytes:
    return encode_versioned(store.value, WRITTEN_VERSION)


def _joined(result: JoinResult) -> str:
    if result.error and result.generation_id < 0:
        return f"{result.error.name} '{result.member_id}'"
    members = ",".join(f"{each.member_id}/{_text(each.metadata)}" for each in result.members)
    generation = f"generation {result.generation_id} {result.protocol_name}"
    skip = " skip-assignment" if result.skip_assignment else ""
    leads = f" members {members}" if members else ""
    leader = f"leader {result.leader_id}"
    return f"{result.error.name} '{result.member_id}' {generation} {leader}{skip}{leads}"


def _synced(result: SyncResult) -> str:
    if result.error:
        return result.error.name
    return f"NONE {result.protocol_name} '{result.assignment.decode()}'"


def _text(said: bytes) -> str:
    """What of it can be read."""
    return re.sub(r"[^ -~]+", " ", said.decode(errors="replace")).strip()
