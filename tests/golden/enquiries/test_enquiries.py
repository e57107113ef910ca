"""What an admin client asks whom, answer by answer: `Enquiries`, and the calls that it carries out.

Three brokers, which are connected to at once; what they know of each other they tell by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from logquake.client.admin.asking.asks import Asks
from logquake.client.admin.asking.enquiries import Enquiries, EnquirySettings
from logquake.client.admin.asking.keyed import Handler, Keyed
from logquake.client.admin.asking.results import Results
from logquake.client.admin.cluster import describe_cluster
from logquake.client.admin.groups import DeleteConsumerGroups, list_consumer_groups
from logquake.client.admin.log_dirs import describe_log_dirs
from logquake.client.admin.offsets import ListOffsets
from logquake.client.admin.topics import NewTopic, create_topics
from logquake.client.errors import AuthenticationFailedError, ClientError, ClosedError
from logquake.client.isolation import Isolation
from logquake.client.network.backoff import ExponentialBackoff
from logquake.client.network.effects import Close, Connect, Effect, LogIn, Resolve, Write
from logquake.client.network.links import Links
from logquake.client.network.metadata import Metadata, MetadataSettings
from logquake.client.network.metadata_updates import MetadataUpdates
from logquake.client.network.network_client import NetworkClient
from logquake.client.network.settings import NetworkSettings
from logquake.wire.api import ApiKey, api_name, request_type
from logquake.wire.errors import ErrorCode
from logquake.wire.header import RequestHeader, decode_request_header
from logquake.wire.messages.api_versions import ApiVersionsResponse
from logquake.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from logquake.wire.messages.group_admin import (
    DeletableGroupResult,
    DeleteGroupsResponse,
    ListedGroup,
    ListGroupsResponse,
)
from logquake.wire.messages.metadata import (
    DescribeClusterBroker,
    DescribeClusterResponse,
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from logquake.wire.messages.offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from logquake.wire.messages.topics import CreatableTopicResult, CreateTopicsResponse
from logquake.wire.sasl.authenticator import LoggedIn
from logquake.wire.schema import Message, decode
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.even_random import EvenRandom
from tests.doubles.link_bytes import tell
from tests.doubles.settled import Settled
from tests.golden.player import Chronicle, Player, check_script, scripts_beside
from tests.parts import joined
from tests.unit.client.cluster_in_memory import all_versions

BROKERS = (1, 2, 3)
NOBODY = -1


class Word:
    """What a broker wants to hear before anything else."""

    def __init__(self, *, lets_in: bool) -> None:
        self._lets_in = lets_in

    def start(self, _spoken: Mapping[int, tuple[int, int]]) -> bytes:
        return b"\0\0\0\4word"

    def receive(self, frame: bytes) -> bytes | LoggedIn:
        if not self._lets_in:
            raise AuthenticationFailedError(f"the broker says {frame.decode()}")
        return LoggedIn(0)


class EnquiriesPlayer(Player):
    """Brokers are named by their ids; whoever is asked first has none yet."""

    def __init__(self) -> None:
        self._chronicle = Chronicle()
        self._now_ms = 0
        self._controller = 1
        self._down: set[int] = set()
        self._speaks: dict[str, int] = {}
        self._lets_in = True
        self._begin()

    def _begin(self, **settings: int) -> None:
        random = EvenRandom()
        network = NetworkSettings(max_in_flight_requests=1)
        self._links = Links(
            network, random, new_login=lambda: Word(lets_in=self._lets_in), on_ended=self._on_ended
        )
        self._metadata = Metadata(MetadataSettings(), [("broker", 9000)], random)
        client = NetworkClient(network, self._links, self._metadata, random)
        updates = MetadataUpdates(MetadataSettings(), client, self._metadata)
        settled = replace(EnquirySettings(), **settings)
        self._enquiries = Enquiries(settled, client, self._metadata, updates, random)
        self._backoff = ExponentialBackoff(100, 1_000, random)
        self._ports: dict[int, int] = {}
        self._asked: dict[int, tuple[int, RequestHeader]] = {}

    def _on_ended(self) -> None:
        self._metadata.request_update()

    def outcome(self) -> list[str]:
        for _ in range(30):
            self._enquiries.poll(self._now_ms)
            effects = self._links.take_effects()
            if not effects:
                break
            for effect in effects:
                self._perform(effect)
        return self._chronicle.take_log()

    # What a program calls

    def do_client(self, **settings: str) -> None:
        self._begin(**{name: int(value) for name, value in settings.items()})

    def do_create(self, *names: str, timeout: str = "60000", retries: str = "yes") -> None:
        results: Results[str, Any] = self._results(names)
        asks = create_topics(
            {name: NewTopic(name) for name in names},
            results,
            validate_only=False,
            retry_on_quota_violation=retries == "yes",
        )
        self._call("createTopics", asks, results, timeout)

    def do_describe_cluster(self, timeout: str = "60000") -> None:
        results: Results[None, Any] = Results({None: Settled(self._note("the cluster"))})
        asks = describe_cluster(results, include_authorized_operations=False)
        self._call("describeCluster", asks, results, timeout)

    def do_list_groups(self, timeout: str = "60000") -> None:
        results: Results[None, Any] = Results({None: Settled(self._note("groups"))})
        self._call("listGroups", list_consumer_groups((), (), results), results, timeout)

    def do_delete_groups(self, *groups: str, timeout: str = "60000") -> None:
        self._keyed(DeleteConsumerGroups(), groups, timeout)

    def do_list_offsets(self, *places: str, timeout: str = "60000") -> None:
        keys = [_place(each) for each in places]
        handler = ListOffsets(dict.fromkeys(keys, 0), Isolation.READ_UNCOMMITTED)
        self._keyed(handler, keys, timeout)

    def do_describe_log_dirs(self, broker: str, timeout: str = "60000") -> None:
        results: Results[int, Any] = self._results([int(broker)])
        asks = describe_log_dirs(int(broker), results)
        self._call("describeLogDirs", asks, results, timeout)

    def do_close(self) -> None:
        self._enquiries.close()

    def do_abandon(self) -> None:
        self._enquiries.abandon(ClosedError("the client is closed"))

    def _keyed(self, handler: Handler[Any, Any], keys: Iterable[Any], timeout: str) -> None:
        results: Results[Any, Any] = self._results(keys)
        asks = Keyed(handler, results, self._backoff).asks()
        self._call(handler.name, asks, results, timeout)

    def _call(self, name: str, asks: Asks, results: Results[Any, Any], timeout: str) -> None:
        try:
            self._enquiries.begin(name, asks, results, int(timeout), self._now_ms)
        except ClosedError as error:
            self._chronicle.log(str(error))

    def _results(self, keys: Iterable[Any]) -> Results[Any, Any]:
        return Results({key: Settled(self._note(str(key))) for key in keys})

    def _note(self, name: str) -> Callable[[Any], None]:
        def note(outcome: Any) -> None:
            is_error = isinstance(outcome, ClientError)
            shown = f"{type(outcome).__name__}: {outcome}" if is_error else repr(outcome)
            self._chronicle.log(f"{name}: {shown}")

        return note

    # What happens

    def do_wait(self, duration_ms: str) -> None:
        self._now_ms += int(duration_ms)

    def do_due(self) -> None:
        due_ms = self._enquiries.next_due_ms(self._now_ms)
        self._chronicle.log("never" if due_ms is None else f"in {due_ms - self._now_ms} ms")

    def do_controller(self, node: str) -> None:
        """From now on, in what brokers tell of each other."""
        self._controller = int(node)

    def do_down(self, *nodes: str) -> None:
        """These take no connections."""
        self._down = set(map(int, nodes))

    def do_speaks(self, **highest: str) -> None:
        """From the next connection on."""
        self._speaks = {name: int(version) for name, version in highest.items()}

    def do_lets_nobody_in(self) -> None:
        """From the next connection on."""
        self._lets_in = False

    def do_lets_everybody_in(self) -> None:
        self._lets_in = True

    def do_loses(self, node: str) -> None:
        link = self._link_of(int(node))
        self._asked.pop(link, None)
        self._links.lost(link, "reset", self._now_ms)

    def do_answers(self, node: str, **told: str) -> None:
        """Of each thing a number, or an error's name."""
        link = self._link_of(int(node))
        _, header = self._asked.pop(link)
        throttle_ms = int(told.pop("throttle", "0"))
        answer = _answer(header, told)
        if throttle_ms:
            answer.throttle_time_ms = throttle_ms
        tell(self._links, link, header, answer, self._now_ms)

    # Within

    def _link_of(self, node: int) -> int:
        return max(link for link, port in self._ports.items() if port == 9000 + node)

    def _perform(self, effect: Effect) -> None:
        if isinstance(effect, Resolve):
            self._links.resolved(effect.link, ["10.0.0.1"], self._now_ms)
        elif isinstance(effect, Connect):
            self._connect(effect)
        elif isinstance(effect, LogIn):
            self._links.login_began(effect.link, effect.first_frame(), self._now_ms)
        elif isinstance(effect, Write):
            self._links.written(effect.link)
            self._take(effect.link, joined(effect.parts)[4:])
        elif isinstance(effect, Close):
            self._asked.pop(effect.link, None)

    def _connect(self, effect: Connect) -> None:
        self._ports[effect.link] = effect.port
        if effect.port - 9000 in self._down:
            self._links.lost(effect.link, "refused", self._now_ms)
        else:
            self._links.connected(effect.link, self._now_ms)

    def _take(self, link: int, frame: bytes) -> None:
        if frame == b"word":
            room = self._links.room(link)
            room[:4] = b"\0\0\0\1"
            self._links.received(link, 4, self._now_ms)
            self._links.room(link)[:1] = b"!"
            self._links.received(link, 1, self._now_ms)
            return
        header, start = decode_request_header(frame)
        kind = request_type(header.api_key)
        assert kind is not None
        request = decode(kind, header.api_version, frame, start)
        if header.api_key == ApiKey.API_VERSIONS:
            tell(self._links, link, header, self._versions(), self._now_ms)
        elif isinstance(request, MetadataRequest) and not request.topics:
            tell(self._links, link, header, self._brokers(), self._now_ms)
        else:
            self._asked[link] = (self._ports[link] - 9000, header)
            self._chronicle.log(
                f"broker {self._ports[link] - 9000} is asked {_shown(header, request)}"
            )

    def _versions(self) -> ApiVersionsResponse:
        versions = all_versions()
        for each in versions.api_keys:
            name = api_name(ApiKey(each.api_key))
            each.max_version = min(each.max_version, self._speaks.get(name, each.max_version))
        versions.api_keys = [each for each in versions.api_keys if each.max_version >= 0]
        return versions

    def _brokers(self) -> MetadataResponse:
        brokers = [
            MetadataResponseBroker(node_id=each, host="broker", port=9000 + each)
            for each in BROKERS
        ]
        return MetadataResponse(brokers=brokers, controller_id=self._controller)


def _place(text: str) -> TopicPartition:
    topic, _, partition = text.rpartition("-")
    return TopicPartition(topic, int(partition))


def _shown(header: RequestHeader, request: Message) -> str:
    return f"{api_name(ApiKey(header.api_key))} {header.api_version}: {_what(request)}"


def _what(request: Any) -> str:
    """What is asked about."""
    if hasattr(request, "topics"):
        topics = request.topics
        return ", ".join(
            f"{topic.name}{_partitions(getattr(topic, 'partitions', []))}" for topic in topics
        )
    keys = getattr(request, "coordinator_keys", None) or getattr(request, "groups_names", None)
    return ", ".join(keys or [getattr(request, "key", "")])


def _partitions(partitions: list[Any]) -> str:
    return f" {[each.partition_index for each in partitions]}" if partitions else ""


def _code(said: str) -> int:
    return 0 if _is_number(said) else ErrorCode[said]


def _is_number(said: str) -> bool:
    return said.lstrip("-").isdigit()


def _number(said: str) -> int:
    return int(said) if _is_number(said) else NOBODY


def _answer(header: RequestHeader, told: dict[str, str]) -> Any:
    key = ApiKey(header.api_key)
    if key is ApiKey.FIND_COORDINATOR and header.api_version < 4:
        (said,) = told.values()
        return FindCoordinatorResponse(node_id=_number(said), host="b", error_code=_code(said))
    if key is ApiKey.METADATA:
        return MetadataResponse(topics=[_topic(name, said) for name, said in told.items()])
    if key is ApiKey.DESCRIBE_CLUSTER:
        brokers = [DescribeClusterBroker(broker_id=each, host="broker") for each in BROKERS]
        return DescribeClusterResponse(cluster_id="c", controller_id=1, brokers=brokers)
    return _ANSWERS[key](told)


def _topic(name: str, said: str) -> MetadataResponseTopic:
    """``t-0=1`` has a leader, ``t=UNKNOWN_TOPIC_OR_PARTITION`` is none."""
    if "-" not in name:
        return MetadataResponseTopic(name=name, error_code=_code(said))
    place = _place(name)
    partition = MetadataResponsePartition(
        partition_index=place.partition, leader_id=_number(said), error_code=_code(said)
    )
    return MetadataResponseTopic(name=place.topic, partitions=[partition])


def _created(told: dict[str, str]) -> Message:
    topics = [
        CreatableTopicResult(name=name, error_code=_code(said), num_partitions=1)
        for name, said in told.items()
    ]
    return CreateTopicsResponse(topics=topics)


def _coordinators(told: dict[str, str]) -> Message:
    coordinators = [
        Coordinator(key=name, node_id=_number(said), error_code=_code(said))
        for name, said in told.items()
    ]
    return FindCoordinatorResponse(coordinators=coordinators)


def _deleted(told: dict[str, str]) -> Message:
    results = [
        DeletableGroupResult(group_id=name, error_code=_code(said)) for name, said in told.items()
    ]
    return DeleteGroupsResponse(results=results)


def _listed(told: dict[str, str]) -> Message:
    groups = [
        ListedGroup(group_id=name, protocol_type="consumer") for name in told if name != "error"
    ]
    return ListGroupsResponse(groups=groups, error_code=_code(told.get("error", "0")))


def _offsets(told: dict[str, str]) -> Message:
    topics = [
        ListOffsetsTopicResponse(
            name=_place(name).topic,
            partitions=[
                ListOffsetsPartitionResponse(
                    partition_index=_place(name).partition,
                    error_code=_code(said),
                    offset=_number(said),
                )
            ],
        )
        for name, said in told.items()
    ]
    return ListOffsetsResponse(topics=topics)


_ANSWERS: dict[ApiKey, Callable[[dict[str, str]], Message]] = {
    ApiKey.CREATE_TOPICS: _created,
    ApiKey.FIND_COORDINATOR: _coordinators,
    ApiKey.DELETE_GROUPS: _deleted,
    ApiKey.LIST_GROUPS: _listed,
    ApiKey.LIST_OFFSETS: _offsets,
}


@pytest.mark.parametrize("script", scripts_beside(__file__), ids=lambda script: script.stem)
def test_script(script: Path) -> None:
    check_script(script, EnquiriesPlayer())
