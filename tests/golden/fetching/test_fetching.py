"""What a consumer asks brokers for, and what its polls hand out of their answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from logquake.client.consumer.cluster import leader_of
from logquake.client.consumer.fetch.fetching import Fetcher
from logquake.client.consumer.fetch.sessions import SessionRequest
from logquake.client.consumer.fetch.taken import Taken
from logquake.client.consumer.position import EpochEnd, FetchPosition
from logquake.client.consumer.settings import FetchSettings, OffsetReset
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.errors import ClientError
from logquake.client.isolation import Isolation
from logquake.client.network.effects import Node
from logquake.client.network.snapshot import PartitionInfo, Snapshot, TopicInfo
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from logquake.wire.records import (
    BatchFlag,
    ControlType,
    Record,
    encode_batch,
    encode_end_marker,
)
from logquake.wire.topic_partition import TopicPartition
from tests.golden.player import Chronicle, Player, check_script, scripts_beside

LAST_VERSION = 17


@pytest.mark.parametrize("script", scripts_beside(__file__), ids=lambda path: path.stem)
def test_script(script: Path) -> None:
    check_script(script, FetchingPlayer())


class _Cluster:
    """What metadata told; it notes that somebody wants to know anew."""

    def __init__(self, chronicle: Chronicle) -> None:
        self.snapshot = Snapshot({})
        self._chronicle = chronicle

    def request_update(self) -> None:
        self._chronicle.log("metadata is wanted")

    def leaders_told(
        self, leaders: Mapping[TopicPartition, tuple[int, int]], nodes: Iterable[Node]
    ) -> None:
        at = {node.id: str(node) for node in nodes}
        for place, (leader, epoch) in leaders.items():
            self._chronicle.log(f"{place} is led by {leader}, {at[leader]}, in epoch {epoch}")


class FetchingPlayer(Player):
    """Topics are named by one letter, which their ids are made of."""

    def __init__(self) -> None:
        self._chronicle = Chronicle()
        self._now_ms = 0
        self._settings = FetchSettings()
        self._reset = OffsetReset.EARLIEST
        self._cluster = _Cluster(self._chronicle)
        self._in_flight: dict[int, SessionRequest] = {}
        self._build()
        self.do_cluster(**{"t-0": "1/4", "t-1": "1/4", "t-2": "2/4"})

    def outcome(self) -> list[str]:
        return self._chronicle.take_log()

    def do_with(self, reset: str = "earliest", isolation: str = "0", **numbers: str) -> None:
        """Before all else; FetchSettings by name."""
        values = {name: int(value) for name, value in numbers.items()}
        self._settings = FetchSettings(
            isolation=Isolation(int(isolation)),
            **values,  # type: ignore[arg-type]
        )
        self._reset = OffsetReset(reset)
        self._build()

    def do_cluster(self, without: str = "", **leaders: str) -> None:
        """``t-0=1/4``: led by broker 1 since epoch 4; ``t-0=-/4`` by nobody. ``without`` is a
        leader that is not among the brokers.
        """
        topics: dict[str, dict[int, PartitionInfo]] = {}
        nodes = {}
        for place, told in leaders.items():
            node, epoch = told.split("/")
            led_by = -1 if node == "-" else int(node)
            if node != without:
                nodes[led_by] = Node(led_by, "localhost", 9092)
            topic, partition = _place(place)
            info = PartitionInfo(led_by, int(epoch), ErrorCode.NONE)
            topics.setdefault(topic, {})[partition] = info
        nodes.pop(-1, None)
        self._cluster.snapshot = Snapshot(
            nodes,
            {name: TopicInfo(_id(name), ErrorCode.NONE, of) for name, of in topics.items()},
        )
        self._follow()

    def do_wait(self, ms: str) -> None:
        self._now_ms += int(ms)

    # What the program wants

    def do_assign(self, *places: str) -> None:
        self._subscriptions.assign([_place(place) for place in places])
        self._fetcher.retain(self._subscriptions.assigned, self._now_ms)

    def do_seek(self, place: str, offset: str, epoch: str = "-1") -> None:
        position = FetchPosition(int(offset), int(epoch))
        self._subscriptions.of(_place(place)).seek(position)
        self._follow()

    def do_pause(self, place: str) -> None:
        self._subscriptions.of(_place(place)).is_paused = True

    def do_resume(self, place: str) -> None:
        self._subscriptions.of(_place(place)).is_paused = False

    def do_poll(self) -> None:
        try:
            fetched = self._fetcher.collect(self._now_ms, Taken())
        except ClientError as error:
            self._log(f"{type(error).__name__}: {error}")
            return
        for place, records in fetched.records.items():
            self._log(f"{place}: {', '.join(str(record.offset) for record in records)}")
        if not fetched.records:
            self._log("nothing, and on it goes" if fetched.advanced else "nothing")

    def do_state(self, place: str) -> None:
        state = self._subscriptions.of(_place(place))
        self._log(f"{state.fetch_state} lag {state.lag(self._settings.isolation)}")

    def do_ends(self, place: str, epoch: str, offset: str) -> None:
        """A leader says where an epoch of its log ends."""
        position = self._subscriptions.needing_validation(self._now_ms)[_place(place)]
        end = EpochEnd(int(epoch), int(offset))
        truncation = self._subscriptions.validated(_place(place), position, end)
        if truncation is not None:
            self._log(f"truncated: {truncation}")

    # What brokers are asked, and say

    def do_fetch(self, busy: str = "") -> None:
        sent = self._fetcher.requests(self._now_ms, lambda node: str(node) != busy)
        for node_id, request in sorted(sent.items()):
            self._in_flight[node_id] = request
            self._tell(node_id, request)
        if not sent:
            self._log("nobody is asked")

    def do_close(self) -> None:
        for node_id, request in sorted(self._fetcher.closing_requests().items()):
            self._tell(node_id, request)

    def do_answer(
        self, node: str, *batches: str, session: str = "7", hw: str = "100", **options: str
    ) -> None:
        """``t-0:5..9`` is a batch of these offsets, ``t-0:+9:5..9`` one of a transaction of 9's,
        ``t-0:!9:10`` the marker that aborts it, ``t-0:?`` a batch that is damaged, ``t-0`` nothing,
        ``t-0:CODE`` an error. ``leader=2/5``: who leads instead, in which epoch.
        ``aborted=t-0:9:5``: who, and from where on.
        """
        parts: dict[TopicPartition, PartitionData] = {}
        records: dict[TopicPartition, bytes] = {}
        for text in batches:
            name, _, what = text.partition(":")
            place = _place(name)
            data = parts.setdefault(
                place,
                PartitionData(
                    partition_index=place.partition,
                    high_watermark=int(hw),
                    records=memoryview(b""),
                    preferred_read_replica=int(options.get("nearer", "-1")),
                ),
            )
            if what in ErrorCode.__members__:
                data.error_code = ErrorCode[what]
            else:
                records[place] = records.get(place, b"") + _batch(what)
                data.records = memoryview(records[place])
        if "aborted" in options:
            name, producer, first = options["aborted"].split(":")
            parts[_place(name)].aborted_transactions = [
                AbortedTransaction(producer_id=int(producer), first_offset=int(first))
            ]
        endpoints = []
        if "leader" in options:
            leader, epoch = map(int, options["leader"].split("/"))
            endpoints.append(NodeEndpoint(node_id=leader, host=f"host-{leader}", port=9092))
            for data in parts.values():
                data.current_leader = LeaderIdAndEpoch(leader_id=leader, leader_epoch=epoch)
        answer = FetchResponse(
            node_endpoints=endpoints,
            error_code=ErrorCode[options.get("error", "NONE")],
            session_id=int(session),
            responses=[
                FetchableTopicResponse(topic=topic, topic_id=_id(topic), partitions=[data])
                for (topic, _), data in parts.items()
            ],
        )
        self._fetcher.answered(int(node), answer, LAST_VERSION)

    def do_fail(self, node: str) -> None:
        self._fetcher.failed(int(node))

    def _tell(self, node_id: int, request: SessionRequest) -> None:
        message = request.message(self._settings, LAST_VERSION)
        named = [f"{place} from {asked.offset}" for place, asked in request.named.items()]
        forgotten = [
            f"{topic.topic}-{one}"
            for topic in message.forgotten_topics_data
            for one in topic.partitions
        ]
        session = f"session {message.session_id}, epoch {message.session_epoch}"
        self._log(
            f"{node_id}: {session}: {', '.join(named) or 'what it has'}"
            + (f"; not {', '.join(forgotten)}" if forgotten else "")
        )

    def _build(self) -> None:
        self._subscriptions = Subscriptions(self._reset)
        self._fetcher = Fetcher(self._settings, self._subscriptions, self._cluster)

    def _follow(self) -> None:
        snapshot = self._cluster.snapshot
        self._subscriptions.follow_leaders(lambda place: leader_of(snapshot, place), lambda _: True)

    def _log(self, line: str) -> None:
        self._chronicle.log(line)


def _batch(what: str) -> bytes:
    if not what:
        return b""
    if what == "?":
        batch = encode_batch([Record(0, 1, None, b"x")], leader_epoch=4)
        batch[-1] ^= 1
        return bytes(batch)
    kind, _, offsets = what.rpartition(":")
    first, _, last = offsets.partition("..")
    if kind.startswith("!"):
        return bytes(
            encode_end_marker(
                ControlType.ABORT,
                coordinator_epoch=0,
                producer_id=int(kind[1:]),
                producer_epoch=0,
                timestamp_ms=1,
                base_offset=int(first),
                leader_epoch=4,
            )
        )
    numbers = range(int(first), int(last or first) + 1)
    producer = int(kind[1:]) if kind else -1
    return bytes(
        encode_batch(
            [Record(number, 1, None, b"x") for number in numbers],
            base_offset=numbers[0],
            leader_epoch=4,
            producer_id=producer,
            producer_epoch=0 if kind else -1,
            flags=BatchFlag.TRANSACTIONAL if kind else 0,
        )
    )


def _id(topic: str) -> bytes:
    return topic.encode() * 16


def _place(text: str) -> TopicPartition:
    topic, partition = text.rsplit("-", 1)
    return TopicPartition(topic, int(partition))
