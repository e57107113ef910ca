"""A consumer's coordination, its program, and brokers that answer as the script says."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from logquake.client.consumer.assignors.assignor import Assignor
from logquake.client.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from logquake.client.consumer.assignors.range import RangeAssignor
from logquake.client.consumer.assignors.round_robin import RoundRobinAssignor
from logquake.client.consumer.assignors.sticky import StickyAssignor
from logquake.client.consumer.assignors.subscriptions import (
    CONSUMERS,
    Subscription,
    encode_assignment,
    encode_subscription,
)
from logquake.client.consumer.group.coordination import Coordination
from logquake.client.consumer.group.settings import GroupSettings
from logquake.client.consumer.group.topic_watch import known_topics
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.consumer.position import FetchPosition
from logquake.client.consumer.settings import OffsetReset
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.driving.steps import Steps
from logquake.client.network.effects import Write
from logquake.client.network.links import Links
from logquake.client.network.network_client import NetworkClient
from logquake.client.network.settings import NetworkSettings
from logquake.client.telling import Telling
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.header import RequestHeader
from logquake.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from logquake.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from logquake.wire.messages.group_membership import (
    HeartbeatResponse,
    JoinGroupResponse,
    JoinGroupResponseMember,
    LeaveGroupResponse,
    SyncGroupResponse,
)
from logquake.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.even_random import EvenRandom
from tests.doubles.link_bytes import asked, tell
from tests.doubles.topics_told import NODES, PORT, TopicsTold
from tests.golden.core_player import CorePlayer
from tests.golden.membership.asked import options, shown
from tests.golden.membership.odd_assignors import (
    FailingAssignor,
    FailingWishes,
    GivesNoPartition,
    OneGetsAll,
    OneGetsAllAtOnce,
    ThinksOfMore,
)
from tests.golden.membership.program import Program

ASSIGNORS: dict[str, Assignor] = {
    each.name: each
    for each in (
        RangeAssignor(),
        RoundRobinAssignor(),
        StickyAssignor(),
        CooperativeStickyAssignor(),
        FailingAssignor(),
        FailingWishes(),
        OneGetsAll(),
        OneGetsAllAtOnce(),
        ThinksOfMore(),
        GivesNoPartition("no-number", TopicPartition("t", None)),  # type: ignore[arg-type]
        GivesNoPartition("too-high", TopicPartition("t", 2**31)),
        GivesNoPartition("no-topic", TopicPartition(None, 0)),  # type: ignore[arg-type]
        GivesNoPartition("no-pair", "t-0"),
        GivesNoPartition("no-member", TopicPartition("t", 0), member=5),
    )
}


class MembershipPlayer(CorePlayer):
    """Connections are made at once, versions told at once, and the coordinator is told at once:
    broker 1, or what `coordinator` says. Metadata comes when a script has `topics`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._program = Program(self._chronicle)
        self._asked: defaultdict[ApiKey, list[tuple[int, RequestHeader, Any]]] = defaultdict(list)
        self._coordinates = "1"
        self._newest: dict[ApiKey, int] = {}
        self._awaited = False
        self._events: list[str] = []
        self._telling = Telling()
        self._pondered: list[Callable[[], object]] | None = None
        self.do_group()

    def outcome(self) -> list[str]:
        self._go_on()
        if self._coordination.awaits_program and not self._awaited:
            self._log("the program has to poll")
        self._awaited = self._coordination.awaits_program
        return self._chronicle.take_log()

    # What the consumer is

    def do_group(
        self,
        assignors: str = "range",
        auto: str = "no",
        reset: str = "latest",
        instance: str = "",
        rack: str = "",
        reconnect: str = "50",
        **settings: str,
    ) -> None:
        self._asked.clear()
        random = EvenRandom()
        network = NetworkSettings(max_in_flight_requests=100, reconnect_backoff_ms=int(reconnect))
        self._links = Links(network, random)
        self._cluster = TopicsTold(self._log)
        self._subscriptions = Subscriptions(OffsetReset(reset))
        self._coordination = Coordination(
            GroupSettings(
                "g",
                instance or None,
                rack=rack or None,
                auto_commit_interval_ms=None if auto == "no" else int(auto),
                **{name: int(value) for name, value in settings.items()},
            ),
            NetworkClient(network, self._links, self._cluster, random),
            self._cluster,
            self._subscriptions,
            [ASSIGNORS[name] for name in assignors.split(",")],
            self._clock,
            random,
            beside=self._ponder,
            on_commit=self._program.intercept,
            on_event=lambda event: self._events.append(f"{event.kind.value}: {event.cause}"),
        )

    def do_ponder(self) -> None:
        """Assignors are at work from now on, until they have `pondered`."""
        self._pondered = []

    def do_pondered(self) -> None:
        pondered, self._pondered = self._pondered or [], None
        for function in pondered:
            self._telling.add(function)

    def _ponder(self, function: Callable[[], object]) -> None:
        if self._pondered is None:
            self._telling.add(function)
        else:
            self._pondered.append(function)

    def do_listener(self, fails: str = "", woken: str = "") -> None:
        """In the method of that name."""
        self._program.failing, self._program.woken = fails, woken

    def do_topics(self, racks: str = "both", **topics: str) -> None:
        """Metadata comes."""
        self._cluster.tell({name: int(count) for name, count in topics.items()}, racks)

    # What the program does

    def do_subscribe(self, *topics: str) -> None:
        self._subscriptions.subscribe(topics)

    def do_subscribe_pattern(self, pattern: str) -> None:
        self._subscriptions.subscribe_pattern(
            re.compile(pattern), known_topics(self._cluster.snapshot)
        )

    def do_assign(self, *places: str) -> None:
        self._coordination.reassigning()
        self._subscriptions.assign(list(map(_place, places)))

    def do_poll(self) -> None:
        self._program.call("poll", self._poll())

    def _poll(self) -> Steps[None]:
        self._coordination.polled(self._clock.now)
        yield from self._coordination.attend(self._program)

    def do_unsubscribe(self) -> None:
        self._program.call("unsubscribe", self._coordination.leave(self._program, "unsubscribed"))
        self._subscriptions.unsubscribe()

    def do_rejoin(self, reason: str) -> None:
        self._coordination.enforce_rebalance(reason)

    def do_consumed(self, **offsets: str) -> None:
        """Up to there."""
        for place, offset in offsets.items():
            self._subscriptions.of(_place(place)).seek(FetchPosition(int(offset)))

    def do_commit(self, within: str = "60000", **offsets: str) -> None:
        """Of what was consumed, if none are named."""
        steps = self._coordination.commit(_offsets(offsets) or None, self._clock.now + int(within))
        self._program.call("commit", steps)

    def do_commit_none(self) -> None:
        self._program.call("commit", self._coordination.commit({}, self._clock.now + 60_000))

    def do_commit_async(self, name: str, **offsets: str) -> None:
        callback = self._program.callback(name)
        steps = self._coordination.commit_async(_offsets(offsets) or None, callback)
        self._program.call("commit_async", steps)

    def do_committed(self, *places: str, within: str = "60000") -> None:
        deadline_ms = self._clock.now + int(within)
        steps = self._coordination.committed(list(map(_place, places)), deadline_ms)
        self._program.call("committed", steps)

    def do_close(self, within: str = "30000") -> None:
        steps = self._coordination.close(self._program, self._clock.now + int(within))
        self._program.call("close", steps)

    def do_show(self) -> None:
        """Who it is, and where it reads what."""
        who = self._coordination.group_metadata()
        self._log(f"{who.member_id or 'nobody'} in generation {who.generation_id}")
        for place in sorted(self._subscriptions.assigned):
            self._log(f"{place}: {_state(self._subscriptions.of(place).fetch_state)}")

    def do_metrics(self) -> None:
        for name, value in self._coordination.metrics().items():
            self._log(f"{name} {value:g}")

    def do_events(self) -> None:
        """Since they were last asked for."""
        for event in self._events:
            self._log(event)
        self._events.clear()

    # What brokers do

    def do_coordinator(self, who: str) -> None:
        """A broker, or an error, from now on."""
        self._coordinates = who

    def do_speaks(self, **newest: str) -> None:
        """The newest versions that brokers know, by API key."""
        self._newest = {ApiKey[name]: int(version) for name, version in newest.items()}

    def do_joined(self, generation: str, member: str = "", leader: str = "", **given: str) -> None:
        """``m2=t,u/t-0,t-1@3``: it wants t and u, and has two partitions of generation 3."""
        named, members = options(given, "protocol", "type", "skip")
        answer = JoinGroupResponse(
            error_code=ErrorCode.NONE,
            generation_id=int(generation),
            protocol_type=named.get("type", CONSUMERS),
            protocol_name=named.get("protocol", "range"),
            leader=leader,
            skip_assignment="skip" in named,
            member_id=member,
            members=[
                JoinGroupResponseMember(member_id=name, metadata=encode_subscription(_wish(said)))
                for name, said in members.items()
            ],
        )
        self._tell(ApiKey.JOIN_GROUP, answer)

    def do_not_joined(self, code: str, member: str = "") -> None:
        answer = JoinGroupResponse(
            error_code=ErrorCode[code], protocol_name="", member_id=member, leader=""
        )
        self._tell(ApiKey.JOIN_GROUP, answer)

    def do_synced(self, *places: str, protocol: str = "") -> None:
        given = b"" if places == ("no-bytes",) else encode_assignment(sorted(map(_place, places)))
        answer = SyncGroupResponse(
            error_code=ErrorCode.NONE, protocol_name=protocol or None, assignment=given
        )
        self._tell(ApiKey.SYNC_GROUP, answer)

    def do_not_synced(self, code: str) -> None:
        self._tell(ApiKey.SYNC_GROUP, SyncGroupResponse(error_code=ErrorCode[code], assignment=b""))

    def do_beaten(self, code: str = "NONE") -> None:
        self._tell(ApiKey.HEARTBEAT, HeartbeatResponse(error_code=ErrorCode[code]))

    def do_left(self) -> None:
        self._tell(ApiKey.LEAVE_GROUP, LeaveGroupResponse(error_code=ErrorCode.NONE))

    def do_answer_commit(self, throttle: str = "0", **codes: str) -> None:
        """All is well but what is named."""
        _, _, request = self._asked[ApiKey.OFFSET_COMMIT][0]
        assert isinstance(request, OffsetCommitRequest)
        topics = [
            OffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetCommitResponsePartition(
                        partition_index=one.partition_index,
                        error_code=ErrorCode[
                            codes.get(f"{topic.name}-{one.partition_index}", "NONE")
                        ],
                    )
                    for one in topic.partitions
                ],
            )
            for topic in request.topics
        ]
        self._tell(
            ApiKey.OFFSET_COMMIT,
            OffsetCommitResponse(throttle_time_ms=int(throttle), topics=topics),
        )

    def do_fetched(self, error: str = "NONE", **offsets: str) -> None:
        """``t-0=5``, with its epoch ``t-0=5@7``, ``t-0=nothing``, or an error's name."""
        new = [
            OffsetFetchResponseTopics(
                name=topic, partitions=[OffsetFetchResponsePartitions(**_fetched(at, told))]
            )
            for (topic, at), told in ((_place(place), told) for place, told in offsets.items())
        ]
        old = [
            OffsetFetchResponseTopic(
                name=topic, partitions=[OffsetFetchResponsePartition(**_fetched(at, told))]
            )
            for (topic, at), told in ((_place(place), told) for place, told in offsets.items())
        ]
        group = OffsetFetchResponseGroup(group_id="g", topics=new, error_code=ErrorCode[error])
        _, header, _ = self._asked[ApiKey.OFFSET_FETCH][0]
        answer = (
            OffsetFetchResponse(groups=[group])
            if header.api_version >= 8
            else OffsetFetchResponse(topics=old, error_code=ErrorCode[error])
        )
        self._tell(ApiKey.OFFSET_FETCH, answer)

    def do_break(self) -> None:
        """The connection to the coordinator."""
        link = max(link for asked in self._asked.values() for link, _, _ in asked)
        self._links.lost(link, "reset", self._clock.now)
        self._asked.clear()

    # The network

    def _next_due_ms(self) -> int | None:
        due = [
            self._links.next_due_ms(self._clock.now),
            self._coordination.next_due_ms(self._clock.now),
            self._program.next_due_ms(),
        ]
        return min((each for each in due if each is not None), default=None)

    def _pass(self) -> bool:
        self._links.poll(self._clock.now)
        self._coordination.poll(self._clock.now)
        effects = self._links.take_effects()
        self._telling.tell()
        due_ms = self._coordination.next_due_ms(self._clock.now)
        has_gone_on = self._program.go_on(self._clock.now)
        self._perform(effects)
        return bool(effects) or has_gone_on or (due_ms is not None and due_ms <= self._clock.now)

    def _write(self, effect: Write) -> None:
        header, request = asked(effect)
        self._links.written(effect.link)
        if header.api_key == ApiKey.API_VERSIONS:
            tell(self._links, effect.link, header, self._versions(), self._clock.now)
        elif isinstance(request, FindCoordinatorRequest):
            answer = self._told_coordinator(header.api_version)
            tell(self._links, effect.link, header, answer, self._clock.now)
        else:
            self._log(shown(request))
            self._asked[ApiKey(header.api_key)].append((effect.link, header, request))

    def _versions(self) -> Message:
        newest = {
            ApiKey.API_VERSIONS: 3,
            ApiKey.FIND_COORDINATOR: 4,
            ApiKey.JOIN_GROUP: 9,
            ApiKey.SYNC_GROUP: 5,
            ApiKey.HEARTBEAT: 4,
            ApiKey.LEAVE_GROUP: 5,
            ApiKey.OFFSET_COMMIT: 8,
            ApiKey.OFFSET_FETCH: 8,
            **self._newest,
        }
        return ApiVersionsResponse(
            api_keys=[
                ApiVersion(api_key=key, min_version=0, max_version=last)
                for key, last in newest.items()
            ]
        )

    def _told_coordinator(self, version: int) -> Message:
        self._log(f"looks for the coordinator, and is told {self._coordinates}")
        if not self._coordinates.isdigit():
            code = ErrorCode[self._coordinates]
            found = Coordinator(key="g", node_id=-1, host="", port=-1, error_code=code)
        else:
            host = NODES[int(self._coordinates)].host
            node_id = int(self._coordinates)
            found = Coordinator(key="g", node_id=node_id, host=host, port=PORT)
        if version >= 4:
            return FindCoordinatorResponse(coordinators=[found])
        return FindCoordinatorResponse(
            error_code=found.error_code, node_id=found.node_id, host=found.host, port=found.port
        )

    def _tell(self, key: ApiKey, answer: Message) -> None:
        link, header, _ = self._asked[key].pop(0)
        tell(self._links, link, header, answer, self._clock.now)


def _place(text: str) -> TopicPartition:
    topic, partition = text.rsplit("-", 1)
    return TopicPartition(topic, int(partition))


def _offsets(told: dict[str, str]) -> dict[TopicPartition, OffsetAndMetadata]:
    return {_place(place): OffsetAndMetadata(int(offset)) for place, offset in told.items()}


def _fetched(partition: int, told: str) -> dict[str, Any]:
    """The fields of a partition in an answer to OffsetFetch, of any version."""
    is_error = told in ErrorCode.__members__
    offset, _, epoch = told.partition("@")
    return {
        "partition_index": partition,
        "committed_offset": -1 if is_error or told == "nothing" else int(offset),
        "committed_leader_epoch": int(epoch or -1),
        "metadata": "",
        "error_code": ErrorCode[told] if is_error else ErrorCode.NONE,
    }


def _wish(said: str) -> Subscription:
    topics, _, has = said.partition("/")
    owned, _, generation = has.partition("@")
    places = tuple(map(_place, filter(None, owned.split(","))))
    return Subscription(tuple(topics.split(",")), places, int(generation or -1))


def _state(state: object) -> str:
    offset = getattr(getattr(state, "position", None), "offset", None)
    return type(state).__name__ + ("" if offset is None else f" at {offset}")
