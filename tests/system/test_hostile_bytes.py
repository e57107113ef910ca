"""A broker among clients that send nonsense, stall, or never read.

For each of them the broker answers with Kafka's error or closes the connection, its memory stays
within bounds, and a client that behaves notices nothing.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

import psutil
import pytest
from confluent_kafka import KafkaError, Message, Producer

from logquake.cluster.api import Cluster
from logquake.wire.api import ApiKey, request_type, response_type
from logquake.wire.errors import ErrorCode
from logquake.wire.header import RequestHeader, decode_response, encode_request
from logquake.wire.messages.acls import DescribeAclsRequest
from logquake.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from logquake.wire.messages.configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from logquake.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from logquake.wire.messages.topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from logquake.wire.records import Record, encode_batch
from logquake.wire.schema import Message as WireMessage
from logquake.wire.schema import Struct
from logquake.wire.schema.fields import Scalar
from tests.fuzz.damage import damaged
from tests.parts import joined
from tests.waiting import PATIENCE_S, wait_for
from tests.wire.samples import Manner, Samples

TOPIC = "bystander"
VICTIM = "victim"
MAX_GROWTH_BYTES = 64 * 1024 * 1024
# What brokers ask of each other is not for strangers: a well-formed command would be obeyed.
ANY = 1  # of ACLs' types
BROKER_CONFIGS = 4
SYSTEMS_HOLD_BYTES = 500_000  # of one connection's answers, on both sides
CLUSTER_ACTIONS = {
    ApiKey.LEADER_AND_ISR,
    ApiKey.STOP_REPLICA,
    ApiKey.UPDATE_METADATA,
    ApiKey.CONTROLLED_SHUTDOWN,
    ApiKey.ALTER_PARTITION,
    ApiKey.ALLOCATE_PRODUCER_IDS,
}


class Broker:
    """One running broker, as strangers reach it and as the system sees it."""

    def __init__(self, port: int, pid: int) -> None:
        self.port = port
        self._process = psutil.Process(pid)

    def connect(self) -> socket.socket:
        sock = socket.create_connection(("127.0.0.1", self.port), PATIENCE_S)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def resident_bytes(self) -> int:
        return int(self._process.memory_info().rss)

    def ask(self, request: WireMessage, version: int) -> WireMessage:
        with self.connect() as sock:
            sock.sendall(frame(request, version))
            return read_response(sock, request, version)


class Bystander:
    """A producer that behaves, on a thread, from start to stop; every send must be acked."""

    def __init__(self, port: int) -> None:
        self._producer = Producer({"bootstrap.servers": f"127.0.0.1:{port}", "acks": "all"})
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._produce)
        self._failures: list[str] = []
        self.acked = 0

    def start(self) -> None:
        """Once it goes on: what comes then is beside it, however short."""
        self._thread.start()
        wait_for("ack of a bystander", lambda: self.acked or self._failures)

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()
        assert self._producer.flush(PATIENCE_S) == 0
        assert self._failures == []

    def _produce(self) -> None:
        while not self._stopping.is_set():
            self._producer.produce(TOPIC, b"value", on_delivery=self._on_delivery)
            self._producer.flush(PATIENCE_S)

    def _on_delivery(self, error: KafkaError | None, _message: Message) -> None:
        if error is None:
            self.acked += 1
        else:
            self._failures.append(str(error))


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Cluster(brokers=1, config={"queued.max.request.bytes": 104_857_600}) as kafka:
        [member] = [one for one in kafka.state().members if one.name == "broker-1"]
        assert member.pid is not None
        broker = Broker(member.port, member.pid)
        create_topic(broker, TOPIC)
        yield broker


def create_topic(broker: Broker, name: str) -> None:
    topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    created = broker.ask(CreateTopicsRequest(topics=[topic], timeout_ms=10_000), 5)
    assert isinstance(created, CreateTopicsResponse)
    assert created.topics[0].error_code == ErrorCode.NONE


@pytest.fixture(autouse=True)
def bystander(broker: Broker) -> Iterator[Bystander]:
    """Beside every test: the broker's memory is bounded, and nobody else notices anything."""
    before = broker.resident_bytes()
    bystander = Bystander(broker.port)
    try:
        bystander.start()
        yield bystander
    finally:
        bystander.stop()
    assert bystander.acked > 0
    assert broker.resident_bytes() - before < MAX_GROWTH_BYTES


@contextmanager
def connections(broker: Broker, count: int) -> Iterator[list[socket.socket]]:
    socks = [broker.connect() for _ in range(count)]
    try:
        yield socks
    finally:
        for sock in socks:
            sock.close()


HEADER_START = bytes(8) + b"\0\1x"  # key, version, correlation id, client id


def frame(request: WireMessage, version: int) -> bytes:
    key = type(request).__schema__.key
    assert key is not None
    return joined(encode_request(RequestHeader(key, version, 1, "x"), request))


def read_response(sock: socket.socket, request: WireMessage, version: int) -> WireMessage:
    key = type(request).__schema__.key
    assert key is not None
    response = response_type(key)
    assert response is not None
    size = int.from_bytes(read_exactly(sock, 4))
    return decode_response(response, version, memoryview(read_exactly(sock, size)))[1]


def read_exactly(sock: socket.socket, size: int) -> bytes:
    content = bytearray()
    while len(content) < size:
        piece = sock.recv(size - len(content))
        assert piece, "the broker closed the connection"
        content += piece
    return bytes(content)


def read_to_the_end(sock: socket.socket) -> bytes:
    """All that the broker sends until it closes; a time-out fails the test."""
    content = bytearray()
    try:
        while piece := sock.recv(65536):
            content += piece
    except (ConnectionResetError, BrokenPipeError):
        pass
    return bytes(content)


def send_some(sock: socket.socket, content: bytes) -> None:
    """Send what the broker takes before it closes."""
    try:
        sock.sendall(content)
        sock.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def raw(key: int, version: int, body: bytes, *, flexible: bool = False) -> bytes:
    """A frame with an honest header around any body."""
    header = key.to_bytes(2) + version.to_bytes(2) + bytes(3) + b"\1\xff\xff"
    content = header + (b"\0" if flexible else b"") + body
    return len(content).to_bytes(4) + content


def test_random_bytes(broker: Broker) -> None:
    random = Random(20)
    for _ in range(300):
        with broker.connect() as sock:
            send_some(sock, random.randbytes(random.choice((1, 3, 4, 14, 100, 5_000))))
            assert read_to_the_end(sock) == b""


def test_random_bodies_behind_an_honest_header(broker: Broker) -> None:
    random = Random(21)
    for key, version in open_apis(broker) * 3:
        with broker.connect() as sock:
            body = random.randbytes(random.choice((0, 1, 8, 60, 900)))
            send_some(sock, raw(key, version, body))
            read_to_the_end(sock)


def test_requests_with_flipped_bytes(broker: Broker) -> None:
    random = Random(22)
    for key, version in open_apis(broker) * 3:
        content = bytearray(frame(sample(key), version))
        for _ in range(random.randint(1, 4)):
            content[random.randrange(14, max(15, len(content))) % len(content)] = random.randrange(
                256
            )
        with broker.connect() as sock:
            send_some(sock, bytes(content))
            read_to_the_end(sock)


def open_apis(broker: Broker) -> list[tuple[int, int]]:
    """Every key and version that clients may use."""
    answer = broker.ask(ApiVersionsRequest(), 0)
    assert isinstance(answer, ApiVersionsResponse)
    return [
        (api.api_key, version)
        for api in answer.api_keys
        if api.api_key not in CLUSTER_ACTIONS
        for version in range(api.min_version, api.max_version + 1)
    ]


def sample(key: int) -> WireMessage:
    """A request that says as little as its defaults."""
    kind = request_type(key)
    assert kind is not None
    return kind()


UNKNOWN_TAGS = b"\x02\x63\x03abc\xf0\xa2\x04\x00"  # number 99 with "abc", number 70000 with nothing


def with_more_than_is_known(request: WireMessage, version: int) -> bytes:
    """The frame with unknown tagged fields in header and body, and with bytes after its end."""
    content = frame(request, version)[4:]
    if version in type(request).__schema__.flexible:
        body = content[len(HEADER_START) + 1 : -1]  # between the two empty tag sections
        content = content[: len(HEADER_START)] + UNKNOWN_TAGS + body + UNKNOWN_TAGS
    content += b"\0more"
    return len(content).to_bytes(4) + content


def test_unknown_tagged_fields_and_bytes_after_the_end_are_ignored(broker: Broker) -> None:
    """As by Kafka: librdkafka, for one, ends AlterUserScramCredentials with a byte too many."""
    for key, version in open_apis(broker):
        request = sample(key)
        if isinstance(request, ProduceRequest):
            request.acks = 1  # with 0 nothing would be answered
        if isinstance(request, DescribeAclsRequest):  # of an unknown type it ends the connection
            request.resource_type_filter = request.operation = request.permission_type = ANY
        with broker.connect() as sock:
            sock.sendall(with_more_than_is_known(request, version))
            answer = read_response(sock, request, version)
        if isinstance(answer, MetadataResponse):
            assert answer == broker.ask(request, version)


@pytest.mark.parametrize("length", [-1, -(2**31), 104_857_601, 2**31 - 1])
def test_lengths_out_of_bounds_close_the_connection(broker: Broker, length: int) -> None:
    with broker.connect() as sock:
        sock.sendall(length.to_bytes(4, signed=True))
        assert read_to_the_end(sock) == b""


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(raw(3, 1, b"\x7f\xff\xff\xff"), id="metadata-topics"),
        pytest.param(raw(3, 9, b"\xff\xff\xff\xff\x0f", flexible=True), id="metadata-compact"),
        pytest.param(raw(0, 3, b"\xff\xff\xff\xff" + bytes(4) + b"\x7f\xff\xff\xff"), id="produce"),
        pytest.param(raw(1, 4, bytes(17) + b"\x7f\xff\xff\xff"), id="fetch-topics"),
        pytest.param(raw(19, 2, b"\x7f\xff\xff\xff"), id="create-topics"),
        pytest.param(raw(3, 9, b"\x01\0\0\0\xff\xff\xff\xff\x07", flexible=True), id="tags"),
        pytest.param(raw(3, 9, b"\xff" * 20, flexible=True), id="endless-varint"),
    ],
)
def test_counts_past_the_frame_close_the_connection(broker: Broker, content: bytes) -> None:
    with broker.connect() as sock:
        sock.sendall(content)
        assert read_to_the_end(sock) == b""


@pytest.mark.parametrize(
    ("key", "version"), [(999, 0), (-1, 0), (ApiKey.METADATA, 99), (ApiKey.FETCH, -1)]
)
def test_keys_and_versions_that_are_not_served_close_the_connection(
    broker: Broker, key: int, version: int
) -> None:
    with broker.connect() as sock:
        sock.sendall(raw(key % 65536, version % 65536, b""))
        assert read_to_the_end(sock) == b""


def test_api_versions_of_the_future_is_told_which_versions_there_are(broker: Broker) -> None:
    with broker.connect() as sock:
        sock.sendall(raw(ApiKey.API_VERSIONS, 77, b"whatever comes after KIP-511"))
        answer = read_response(sock, ApiVersionsRequest(), 0)
        assert isinstance(answer, ApiVersionsResponse)
        assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
        assert [api.api_key for api in answer.api_keys] == [ApiKey.API_VERSIONS]
        sock.sendall(frame(ApiVersionsRequest(), 0))
        again = read_response(sock, ApiVersionsRequest(), 0)
        assert isinstance(again, ApiVersionsResponse)
        assert again.error_code == ErrorCode.NONE


def batch() -> bytearray:
    return encode_batch([Record(offset=0, timestamp_ms=0, key=None, value=b"v" * 50, headers=())])


def flip(position: int) -> Callable[[bytearray], bytearray]:
    def flipped(records: bytearray) -> bytearray:
        records[position] ^= 0x10
        return records

    return flipped


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        pytest.param(flip(17), ErrorCode.CORRUPT_MESSAGE, id="crc"),
        pytest.param(flip(80), ErrorCode.CORRUPT_MESSAGE, id="value"),
        pytest.param(lambda records: records[:40], ErrorCode.INVALID_RECORD, id="half-header"),
        pytest.param(lambda records: records[:-3], ErrorCode.INVALID_RECORD, id="half-batch"),
        pytest.param(flip(11), ErrorCode.INVALID_RECORD, id="batch-length"),
    ],
)
def test_damaged_batches_are_refused_with_kafkas_error(
    broker: Broker, damage: Callable[[bytearray], bytearray], error: ErrorCode
) -> None:
    partition = PartitionProduceData(index=0, records=bytes(damage(batch())))
    topic = TopicProduceData(name=TOPIC, partition_data=[partition])
    answer = broker.ask(ProduceRequest(acks=-1, timeout_ms=1_000, topic_data=[topic]), 8)
    assert isinstance(answer, ProduceResponse)
    assert answer.responses[0].partition_responses[0].error_code == error


def test_frames_that_break_off(broker: Broker) -> None:
    whole = frame(MetadataRequest(topics=None), 9)
    for size in range(len(whole)):
        with broker.connect() as sock:
            send_some(sock, whole[:size])
            assert read_to_the_end(sock) == b""


def test_announced_lengths_whose_bytes_drip(broker: Broker) -> None:
    """1000 clients announce 100 MB each and send it byte by byte: 100 GB if it were believed."""
    before = broker.resident_bytes()
    with connections(broker, 1000) as socks:
        for sock in socks:
            sock.sendall((100_000_000).to_bytes(4) + b"\0\0\0\x09")
        for _ in range(5):
            for sock in socks:
                sock.sendall(b"x")
        broker.ask(MetadataRequest(topics=[]), 9)  # all of it has been read by now
        assert broker.resident_bytes() - before < MAX_GROWTH_BYTES


def test_announced_lengths_whose_bytes_come(broker: Broker) -> None:
    """30 clients announce 100 MB each and send the first 20: memory for one request is allowed."""
    before = broker.resident_bytes()
    with connections(broker, 30) as socks:
        for sock in socks:
            sock.sendall((100_000_000).to_bytes(4) + b"\0\0\0\x09")
            sock.setblocking(False)
        taken = [_send_until_refused(sock, b"x" * 65_536, broker, 20_000_000) for sock in socks]
        assert taken[0] >= 20_000_000
        assert max(taken[1:]) < 20_000_000  # held back, not read without end
        assert broker.resident_bytes() - before < MAX_GROWTH_BYTES


def test_a_large_request_passes_once_others_have_given_their_memory_back(broker: Broker) -> None:
    with connections(broker, 1) as [hostile]:
        hostile.setblocking(False)
        hostile.sendall((100_000_000).to_bytes(4) + b"\0\0\0\x09")
        _send_until_refused(hostile, b"x" * 65_536, broker, 1_000_000)
    names = [f"nobody-{number}" for number in range(40_000)]
    asked = MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in names], allow_auto_topic_creation=False
    )
    assert len(frame(asked, 9)) > 400_000
    answer = broker.ask(asked, 9)
    assert isinstance(answer, MetadataResponse)
    assert len(answer.topics) == len(names)


def test_clients_that_ask_and_never_read(broker: Broker) -> None:
    """Each sends requests until the broker takes no more; answers pile up on its own side."""
    asking = frame(MetadataRequest(topics=None), 9) * 500
    socks = [broker.connect() for _ in range(10)]
    for sock in socks:
        sock.setblocking(False)
    taken = [_send_until_refused(sock, asking, broker) for sock in socks]
    assert max(taken) < 20_000_000  # muted, not read without end
    for sock in socks:
        sock.close()


def _send_until_refused(
    sock: socket.socket, content: bytes, broker: Broker, limit: int = 50_000_000
) -> int:
    """Bytes taken until the broker had three chances to read more and did not."""
    sent, refusals = 0, 0
    while refusals < 3 and sent < limit:
        try:
            sent += sock.send(content)
            refusals = 0
        except BlockingIOError:
            refusals += 1
            broker.ask(MetadataRequest(topics=[]), 9)  # a pass of the broker's loop, at least
    return sent


def test_a_reader_that_takes_its_time_gets_every_byte(broker: Broker) -> None:
    """Of more answers than the broker's system and the reader's hold."""
    broker_one = DescribeConfigsResource(resource_type=BROKER_CONFIGS, resource_name="1")
    asked = DescribeConfigsRequest(resources=[broker_one])
    with broker.connect() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SYSTEMS_HOLD_BYTES // 8)
        sock.sendall(frame(asked, 4) * 100)
        answers = [read_exactly(sock, int.from_bytes(read_exactly(sock, 4))) for _ in range(100)]
    assert sum(map(len, answers)) > 2 * SYSTEMS_HOLD_BYTES
    assert len(set(answers)) == 1
    _, answer = decode_response(DescribeConfigsResponse, 4, memoryview(answers[0]))
    assert "num.partitions" in [config.name for config in answer.results[0].configs]


def test_connections_that_come_and_go(broker: Broker) -> None:
    for _ in range(100):
        broker.connect().close()


def test_requests_of_any_content_are_answered_or_end_their_connection(broker: Broker) -> None:
    """Every key and version about names that exist and that do not, whole and damaged."""
    create_topic(broker, VICTIM)
    random = Random(23)
    for key, version in open_apis(broker):
        request = request_type(key)
        assert request is not None
        for manner in Manner:
            made = Samples(random.random()).message(request, version, manner)
            make_answerable(made, random)
            content = frame(made, version)[4:]
            start = len(HEADER_START) + (version in request.__schema__.flexible)
            bodies = content[start:], damaged(content[start:], random)
            for body in bodies:
                with broker.connect() as sock:
                    framed = content[:start] + body
                    send_some(sock, len(framed).to_bytes(4) + framed)
                    read_to_the_end(sock)


def make_answerable(struct: Struct, random: Random) -> None:
    """Half of the time about a topic that exists, at first; never without an answer in time."""
    for name, field in struct.__schema__.fields.items():
        value = getattr(struct, name)
        if name in ("name", "topic") and random.random() < 0.5:
            setattr(struct, name, VICTIM)
        elif name in ("acks", "timeout_ms", "max_wait_ms", "num_partitions"):
            setattr(struct, name, 1)
        elif name in ("index", "partition", "partition_index"):
            setattr(struct, name, random.choice((0, 0, 1, -1, 2**31 - 1)))
        elif isinstance(value, Struct):
            make_answerable(value, random)
        elif isinstance(value, list) and not isinstance(field.type, Scalar):
            for each in value:
                if isinstance(each, Struct):
                    make_answerable(each, random)


@pytest.mark.parametrize("version", [2, 7])
def test_a_name_whose_quotation_no_answer_can_hold_ends_the_connection(
    broker: Broker, version: int
) -> None:
    topic = CreatableTopic(name="n" * 32767, num_partitions=1, replication_factor=1)
    request = CreateTopicsRequest(topics=[topic], timeout_ms=10_000)
    with broker.connect() as sock:
        sock.sendall(frame(request, version))
        assert read_to_the_end(sock) == b""


def test_names_that_are_not_utf_8_are_invalid_names(broker: Broker) -> None:
    request = MetadataRequest(topics=[MetadataRequestTopic(name="NAME")])
    with broker.connect() as sock:
        sock.sendall(frame(request, 4).replace(b"NAME", b"\xff\xed\xa0!"))
        answer = read_response(sock, request, 4)
    assert isinstance(answer, MetadataResponse)
    (topic,) = answer.topics
    assert (topic.name, topic.error_code) == ("\ufffd\ufffd!", ErrorCode.INVALID_TOPIC_EXCEPTION)
