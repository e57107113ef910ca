"""What a consumer asks brokers behind the program's back, and what the program hears of it."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from logquake.client.consumer.callers import Threads
from logquake.client.consumer.composing import ConsumerParts
from logquake.client.consumer.fetch.taken import Taken
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.consumer.records import ConsumerRecords
from logquake.client.driving.steps import Call, Steps, Wait
from logquake.client.errors import ClientError
from logquake.client.network.effects import Write
from logquake.client.network.links import Links
from logquake.client.network.metadata import Metadata
from logquake.client.network.metadata_updates import MetadataUpdates
from logquake.client.network.network_client import NetworkClient
from logquake.client.settings.consumer import ConsumerConfig
from logquake.client.settings.reading import read
from logquake.client.telling import Telling
from logquake.wire.api import ApiKey, request_type
from logquake.wire.errors import ErrorCode
from logquake.wire.header import RequestHeader, decode_request_header
from logquake.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from logquake.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from logquake.wire.messages.group_membership import JoinGroupRequest, LeaveGroupRequest
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from logquake.wire.messages.offsets import (
    EpochEndOffset,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from logquake.wire.records import Record, encode_batch, patch_base
from logquake.wire.schema import Message, decode
from logquake.wire.topic_partition import TopicPartition
from tests.doubles import lone_member
from tests.doubles.even_random import EvenRandom
from tests.doubles.link_bytes import tell
from tests.golden.core_player import CorePlayer
from tests.golden.player import check_script, scripts_beside
from tests.parts import joined

PORT = 9092
EPOCH = 4  # of all records
TIMES = {-1: "the end", -2: "the beginning"}


@pytest.mark.parametrize("script", scripts_beside(__file__), ids=lambda path: path.stem)
def test_script(script: Path) -> None:
    check_script(script, ConsumerPlayer())


class Asked:
    """A request that waits for its answer."""

    def __init__(self, link: int, header: RequestHeader, request: Message) -> None:
        self.link = link
        self.header = header
        self.request = request
        self.answer: Message | None = None


class ConsumerPlayer(CorePlayer):
    """Connections are made at once, versions and metadata told at once; other requests are r1,
    r2... in their order, but for those of a group, which are answered at once. A call of the
    program's that would wait is given up.
    """

    def __init__(self) -> None:
        super().__init__()
        self._leaders: dict[TopicPartition, tuple[int, int]] = {}
        self._errors: dict[str, ErrorCode] = {}
        self._nodes = {1: "one", 2: "two"}
        self._asked: list[Asked] = []
        self._unanswered: defaultdict[int, deque[Asked]] = defaultdict(deque)
        self._versions = {
            ApiKey.METADATA: 12,
            ApiKey.API_VERSIONS: 3,
            ApiKey.FETCH: 12,
            ApiKey.LIST_OFFSETS: 7,
            ApiKey.OFFSET_FOR_LEADER_EPOCH: 4,
            **lone_member.VERSIONS,
        }
        self._group = lone_member.LoneMembersGroup("one", PORT)
        self.do_cluster(**{"t-0": "1/4", "t-1": "1/4", "t-2": "2/4"})
        self._steps: Steps[Any] | None = None
        self._wait: Wait | None = None
        self._moving: dict[TopicPartition, tuple[int, int]] = {}
        self._telling = Telling()
        self._begin({})

    def _begin(self, keys: Mapping[str, object]) -> None:
        config = read(
            ConsumerConfig,
            {"bootstrap.servers": f"one:{PORT}", "auto.offset.reset": "earliest", **keys},
        )
        random = EvenRandom()
        parts = ConsumerParts(config)
        self._metadata = Metadata(config.metadata(), [("one", PORT)], random, parts.topics)
        self._links = Links(config.network(), random, on_ended=self._metadata.request_update)
        network = NetworkClient(config.network(), self._links, self._metadata, random)
        updates = MetadataUpdates(config.metadata(), network, self._metadata)
        self._consuming = parts.consuming(
            network,
            self._metadata,
            updates,
            self._clock,
            random,
            callers=Threads(lambda: None),
            beside=self._telling.add,
        )

    # What the program does

    def do_consumer(self, speaks: str = "", unreadable: str = "", **keys: str) -> None:
        """Settings by name; ``speaks`` is the last version of OffsetForLeaderEpoch, ``unreadable``
        a value that its deserializer fails on.
        """
        if speaks:
            self._versions[ApiKey.OFFSET_FOR_LEADER_EPOCH] = int(speaks)
        own = {"value.deserializer": partial(self._deserialize, unreadable)} if unreadable else {}
        self._begin({**keys, **own})

    def _deserialize(self, unreadable: str, value: bytes) -> str:
        """Meanwhile others have the core."""
        self._metadata.leaders_told(self._moving, [])
        self._consuming.core.follow_metadata()
        if value.decode() == unreadable:
            raise ValueError(unreadable)
        return value.decode()

    def do_assign(self, *places: str) -> None:
        self._call(self._consuming.assign([_place(place) for place in places]))

    def do_subscribe(self, *topics: str) -> None:
        """As the only member of a group, where the consumer has a group.id."""
        self._call(self._consuming.subscribe(topics, None))

    def do_subscribe_pattern(self, pattern: str, kind: str = "text") -> None:
        to: Any = re.compile(pattern.encode() if kind == "bytes" else pattern)
        self._call(self._consuming.subscribe(to, None))

    def do_poll(self, ms: str = "0") -> None:
        self._call(self._consuming.poll(int(ms), Taken()))

    def do_take(self) -> None:
        """What a poll finds at hand."""
        try:
            found = self._consuming.at_hand(lambda: self._log("more is wanted"), Taken())
        except ClientError as error:
            self._log(f"{type(error).__name__}: {error}")
        else:
            self._log("nothing at hand" if found is None else _shown(found))

    def do_position(self, place: str, ms: str = "0") -> None:
        self._call(self._consuming.seeking.position(_place(place), int(ms)))

    def do_search(self, place: str, time: str, ms: str = "60000") -> None:
        times = {_place(place): int(time)}
        self._call(self._consuming.lookups.offsets_for_times(times, int(ms)))

    def do_partitions(self, topic: str, ms: str = "60000") -> None:
        self._call(self._consuming.lookups.partitions_for(topic, int(ms)))

    def do_close(self, ms: str = "1000") -> None:
        self._call(self._consuming.close(int(ms)))

    def do_seek(self, place: str, offset: str, epoch: str = "-1") -> None:
        self._consuming.seeking.seek(_place(place), OffsetAndMetadata(int(offset), int(epoch)))

    def do_seek_to(self, where: str, *places: str) -> None:
        seeking = self._consuming.seeking
        named = [_place(place) for place in places]
        (seeking.seek_to_end if where == "end" else seeking.seek_to_beginning)(named)

    def do_lag(self, place: str) -> None:
        self._log(str(self._consuming.lookups.current_lag(_place(place))))

    def do_metrics(self, group: str) -> None:
        """Those that are numbers."""
        told = self._consuming.metrics()[group].items()
        numbers = sorted((name, number) for name, number in told if number == number)
        self._log(", ".join(f"{name} {number:g}" for name, number in numbers))

    def do_wakeup(self) -> None:
        self._consuming.wakeup()

    def _next_due_ms(self) -> int | None:
        due_ms = self._consuming.core.next_due_ms(self._clock.now)
        if self._wait is None:
            return due_ms
        return min(self._wait.deadline_ms, due_ms or self._wait.deadline_ms)

    def _call(self, steps: Steps[Any]) -> None:
        """What it comes to is told when it ends."""
        assert self._steps is None, "the program is in a call"
        self._steps = steps
        self._take(lambda: next(steps))

    def _take(self, take: Callable[[], Wait | Call]) -> None:
        try:
            step = take()
            while isinstance(step, Call):
                assert self._steps is not None
                step = self._steps.send(step.function())
            self._wait = step
        except StopIteration as end:
            self._ended(_shown(end.value))
        except (ClientError, TypeError, ValueError) as error:
            self._ended(f"{type(error).__name__}: {error}")

    def _ended(self, how: str) -> None:
        self._steps = self._wait = None
        if how:
            self._log(how)

    def _look_whether_it_is_done(self) -> None:
        steps, wait = self._steps, self._wait
        if steps is not None and wait is not None:
            done = wait.is_done()
            if done or wait.deadline_ms <= self._clock.now:
                self._take(lambda: steps.send(done))

    # What brokers do

    def do_cluster(self, **leaders: str) -> None:
        """What Metadata tells from now on: ``t-0=1/4``, led by broker 1 since epoch 4, ``t-0=-/4``
        by nobody, and ``u=INVALID_TOPIC_EXCEPTION`` is in error.
        """
        self._leaders = {
            _place(place): _leader(told) for place, told in leaders.items() if "-" in place
        }
        self._errors = {
            topic: ErrorCode[told] for topic, told in leaders.items() if "-" not in topic
        }

    def do_meanwhile(self, **leaders: str) -> None:
        """They lead, it turns out while the program deserializes."""
        self._moving = {_place(place): _leader(told) for place, told in leaders.items()}

    def do_know(self) -> None:
        """It asks for metadata, as after a while."""
        self._metadata.request_update()

    def do_found(self, request: str, **offsets: str) -> None:
        """``t-0=5`` or ``t-0=5@1000`` with its time, ``t-0=-1`` for none, or an error's name."""
        parts: dict[str, list[ListOffsetsPartitionResponse]] = {}
        for text, told in offsets.items():
            place = _place(text)
            parts.setdefault(place.topic, []).append(_listed(place.partition, told))
        topics = [
            ListOffsetsTopicResponse(name=topic, partitions=of) for topic, of in parts.items()
        ]
        self._answer(self._request(request), ListOffsetsResponse(topics=topics))

    def do_ends(self, request: str, **ends: str) -> None:
        """``t-0=3/100``: epoch 3 ends at 100; or an error's name."""
        parts: dict[str, list[EpochEndOffset]] = {}
        for text, told in ends.items():
            place = _place(text)
            parts.setdefault(place.topic, []).append(_end(place.partition, told))
        topics = [
            OffsetForLeaderTopicResult(topic=topic, partitions=of) for topic, of in parts.items()
        ]
        self._answer(self._request(request), OffsetForLeaderEpochResponse(topics=topics))

    def do_records(self, request: str, session: str = "7", **spans: str) -> None:
        """``t-0=5..7`` those offsets, ``t-0=5`` none, and the log ends there, or an error."""
        parts: dict[str, list[PartitionData]] = {}
        for text, told in spans.items():
            place = _place(text)
            parts.setdefault(place.topic, []).append(_fetched(place.partition, told))
        responses = [
            FetchableTopicResponse(topic=topic, partitions=of) for topic, of in parts.items()
        ]
        answer = FetchResponse(session_id=int(session), responses=responses)
        self._answer(self._request(request), answer)

    def do_lose(self, request: str) -> None:
        """The connection that it was asked on."""
        self._links.lost(self._request(request).link, "reset by peer", self._clock.now)

    def _request(self, name: str) -> Asked:
        return self._asked[int(name[1:]) - 1]

    # The network

    def _pass(self) -> bool:
        self._consuming.core.poll(self._clock.now)
        self._look_whether_it_is_done()
        effects = self._links.take_effects()
        self._telling.tell()
        due_ms = self._consuming.core.next_due_ms(self._clock.now)
        self._perform(effects)
        return bool(effects) or (due_ms is not None and due_ms <= self._clock.now)

    def _write(self, effect: Write) -> None:
        frame = memoryview(joined(effect.parts))[4:]
        header, start = decode_request_header(frame)
        kind = request_type(header.api_key)
        assert kind is not None
        request = decode(kind, header.api_version, frame, start)
        self._links.written(effect.link)
        asked = Asked(effect.link, header, request)
        self._unanswered[effect.link].append(asked)
        if header.api_key == ApiKey.API_VERSIONS:
            self._answer(asked, self._told_versions())
        elif isinstance(request, MetadataRequest):
            self._answer(asked, self._told_metadata(request))
        elif (told := self._group.answer(request)) is not None:
            self._log_of_group(request)
            self._answer(asked, told)
        else:
            self._asked.append(asked)
            name = f"r{len(self._asked)}"
            self._log(f"{name} asks {self._host(effect.link)} {_question(request)}")

    def _log_of_group(self, request: Message) -> None:
        if isinstance(request, JoinGroupRequest):
            self._log("joins")
        elif isinstance(request, LeaveGroupRequest):
            self._log(f"leaves because: {request.members[0].reason}")

    def _host(self, link: int) -> int:
        of = self._links.states.link
        return next(node for node in self._nodes if (one := of(node)) and one.id == link)

    def _told_versions(self) -> Message:
        return ApiVersionsResponse(
            api_keys=[
                ApiVersion(api_key=key, min_version=0, max_version=last)
                for key, last in self._versions.items()
            ]
        )

    def _told_metadata(self, request: MetadataRequest) -> Message:
        topics: dict[str, list[MetadataResponsePartition]] = {}
        for place, (leader, epoch) in self._leaders.items():
            part = MetadataResponsePartition(
                error_code=ErrorCode.NONE,
                partition_index=place.partition,
                leader_id=leader,
                leader_epoch=epoch,
                replica_nodes=[1, 2],
                isr_nodes=[1, 2],
            )
            topics.setdefault(place.topic, []).append(part)
        asked = [topic.name for topic in request.topics or []]
        return MetadataResponse(
            brokers=[
                MetadataResponseBroker(node_id=node, host=host, port=PORT)
                for node, host in self._nodes.items()
            ],
            controller_id=1,
            topics=[
                MetadataResponseTopic(
                    error_code=self._errors.get(topic or "", ErrorCode.NONE),
                    name=topic,
                    partitions=topics.get(topic or "", []),
                )
                for topic in asked
            ],
        )

    def _answer(self, asked: Asked, said: Message) -> None:
        """In the order of the requests of a connection, as brokers do."""
        asked.answer = said
        waiting = self._unanswered[asked.link]
        while waiting and (answer := waiting[0].answer) is not None:
            tell(self._links, asked.link, waiting.popleft().header, answer, self._clock.now)


def _place(text: str) -> TopicPartition:
    topic, partition = text.rsplit("-", 1)
    return TopicPartition(topic, int(partition))


def _leader(text: str) -> tuple[int, int]:
    node, _, epoch = text.partition("/")
    return -1 if node == "-" else int(node), int(epoch or 0)


def _listed(partition: int, told: str) -> ListOffsetsPartitionResponse:
    if told.isupper():
        return ListOffsetsPartitionResponse(partition_index=partition, error_code=ErrorCode[told])
    offset, _, time = told.partition("@")
    return ListOffsetsPartitionResponse(
        partition_index=partition, offset=int(offset), timestamp=int(time or -1), leader_epoch=4
    )


def _end(partition: int, told: str) -> EpochEndOffset:
    if told.isupper():
        return EpochEndOffset(partition=partition, error_code=ErrorCode[told])
    epoch, offset = told.split("/")
    return EpochEndOffset(partition=partition, leader_epoch=int(epoch), end_offset=int(offset))


def _fetched(partition: int, told: str) -> PartitionData:
    if told.isupper():
        return PartitionData(partition_index=partition, error_code=ErrorCode[told])
    first, separator, last = told.partition("..")
    offsets = range(int(first), int(last) + 1) if separator else range(0)
    records = [Record(place, 1000, None, b"%d" % at) for place, at in enumerate(offsets)]
    end = int(last or first) + bool(separator)
    return PartitionData(
        partition_index=partition,
        high_watermark=end,
        last_stable_offset=end,
        records=_batch(records, int(first)) if records else None,
    )


def _batch(records: list[Record], base_offset: int) -> memoryview:
    batch = bytearray(encode_batch(records))
    patch_base(batch, 0, base_offset, EPOCH)
    return memoryview(batch)


def _question(request: Message) -> str:
    if isinstance(request, ListOffsetsRequest):
        asked = [
            f"{topic.name}-{one.partition_index} {TIMES.get(one.timestamp, one.timestamp)}"
            for topic in request.topics
            for one in topic.partitions
        ]
        return f"for offsets: {', '.join(asked)}"
    if isinstance(request, OffsetForLeaderEpochRequest):
        asked = [
            f"{topic.topic}-{one.partition} {one.leader_epoch}"
            for topic in request.topics
            for one in topic.partitions
        ]
        return f"where epochs end: {', '.join(asked)}"
    assert isinstance(request, FetchRequest)
    asked = [
        f"{topic.topic}-{one.partition} from {one.fetch_offset}"
        for topic in request.topics
        for one in topic.partitions
    ]
    if request.session_id and request.session_epoch == -1:
        return f"to end session {request.session_id}"
    return f"for records: {', '.join(asked) or 'as before'}"


def _shown(value: object) -> str:
    if isinstance(value, ConsumerRecords):
        of = (
            f"{place}: {', '.join(str(record.offset) for record in value.records(place))}"
            for place in value.partitions
        )
        return "; ".join(of) or "nothing"
    if isinstance(value, dict):
        return ", ".join(f"{place}: {_shown(each)}" for place, each in value.items())
    if isinstance(value, list):
        return f"{len(value)} partitions"
    return "" if value is None else str(value)
