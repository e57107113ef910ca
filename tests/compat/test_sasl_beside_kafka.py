"""A real Kafka 3.9 and a broker of ours in one secured cluster, spoken to alike.

They get into each other by PLAIN over TLS. Each conversation below is held with both, byte for
byte: right, wrong and out of order.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from logquake.cluster.api import Cluster
from logquake.wire.header import LENGTH_BYTES, RequestHeader, decode_response, encode_request
from logquake.wire.messages.api_versions import ApiVersionsRequest
from logquake.wire.messages.leader_and_isr import LeaderAndIsrRequest
from logquake.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from logquake.wire.messages.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
)
from logquake.wire.sasl.scram_client import ScramClient, ScramLogin
from logquake.wire.sasl.scram_mechanism import ScramMechanism
from logquake.wire.schema import Message
from tests.by_hand import broker_by_hand, own_chroot
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.secured_brokers import (
    MECHANISMS,
    PASSWORD,
    USER,
    Brokers,
    brokers,
    for_librdkafka,
)
from tests.parts import joined
from tests.waiting import PATIENCE_S, wait_for

OURS, KAFKAS = 7, 9
CLOSED = b"(closed)"
TOKEN = f"\0{USER}\0{PASSWORD}".encode()

pytestmark = pytest.mark.maven


@pytest.fixture(scope="module")
def both(
    kafka_programs: KafkaPrograms, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Brokers]:
    folder = tmp_path_factory.mktemp("both")
    with ExitStack() as stack:
        cluster = stack.enter_context(Cluster(brokers=1))
        zookeeper = own_chroot(cluster.zookeeper_connect, "both")
        both = stack.enter_context(brokers(folder, zookeeper, OURS, KAFKAS))
        ours, kafkas = (both.properties(each, folder / f"data-{each}") for each in both.ports)
        stack.enter_context(broker_by_hand(folder, ours))
        stack.enter_context(kafka_programs.broker("secured", kafkas))
        for broker_id in both.ports:
            _wait_to_be_told_of_both(both, broker_id)
        yield both


def _wait_to_be_told_of_both(both: Brokers, broker_id: int) -> None:
    settings = for_librdkafka(both, "OPEN", "PLAIN")
    settings["bootstrap.servers"] = both.server("OPEN", broker_id)
    admin = AdminClient(settings)
    wait_for(
        f"broker {broker_id} that knows both",
        lambda: admin.list_topics(timeout=5).brokers,
        lambda known: set(known) == {OURS, KAFKAS},
        unready=(KafkaException,),
    )


def test_they_replicate_to_each_other(both: Brokers) -> None:
    """Both are in the ISR of a partition that ours leads, and of one that Kafka leads."""
    settings = for_librdkafka(both, "CLOSED", "SCRAM-SHA-256")
    admin = AdminClient(settings)
    new = NewTopic(
        "twins",
        2,
        replica_assignment=[[OURS, KAFKAS], [KAFKAS, OURS]],
        config={"min.insync.replicas": "2"},
    )
    admin.create_topics([new])["twins"].result(PATIENCE_S)
    failed: list[object] = []
    producer = Producer({**settings, "acks": "all"})
    for partition in (0, 1):
        producer.produce(
            "twins", b"x", partition=partition, on_delivery=lambda error, _: failed.append(error)
        )
    assert producer.flush(PATIENCE_S) == 0
    assert failed == [None, None]


def request(message: Message, version: int, correlation_id: int = 7) -> bytes:
    header = RequestHeader(message.__schema__.key or 0, version, correlation_id, "wire")
    return joined(encode_request(header, message))


def bare(token: bytes) -> bytes:
    return len(token).to_bytes(4) + token


def handshake(mechanism: str = "PLAIN", version: int = 1) -> bytes:
    return request(SaslHandshakeRequest(mechanism=mechanism), version)


def token(content: bytes = TOKEN, version: int = 2) -> bytes:
    return request(SaslAuthenticateRequest(auth_bytes=content), version)


def versions(version: int, name: str = "a") -> bytes:
    named = {"client_software_name": name, "client_software_version": "1"}
    return request(ApiVersionsRequest(**(named if version >= 3 else {})), version)


def produce(acks: int) -> bytes:
    partitions = [PartitionProduceData(index=0, records=b"")]
    topic_data = [TopicProduceData(name="t", partition_data=partitions)]
    return request(ProduceRequest(acks=acks, timeout_ms=1, topic_data=topic_data), 9)


METADATA = request(MetadataRequest(topics=[MetadataRequestTopic(name="t")]), 9)
LEADER_AND_ISR = request(LeaderAndIsrRequest(controller_id=1, controller_epoch=1), 2)
FUTURE_VERSIONS = bare((18).to_bytes(2) + (99).to_bytes(2) + (7).to_bytes(4) + b"\xff\xff\0")
UNKNOWN_KEY = bare((999).to_bytes(2) + bytes(2) + (7).to_bytes(4) + b"\xff\xff")

CONVERSATIONS: dict[str, Sequence[bytes]] = {
    **{f"handshake v{v} {m}": [handshake(m, v)] for v in (0, 1) for m in MECHANISMS},
    "a mechanism that is not enabled": [handshake("GSSAPI")],
    "no mechanism": [handshake("")],
    **{f"PLAIN v{v}": [handshake(), token(version=v)] for v in range(3)},
    **{f"wrong password v{v}": [handshake(), token(b"\0alice\0no", v)] for v in range(3)},
    "nobody": [handshake(), token(b"\0nobody\0no")],
    "no user": [handshake(), token(b"\0\0no")],
    "no password": [handshake(), token(b"\0alice\0")],
    "another authorization id": [handshake(), token(b"bob" + TOKEN)],
    "too few parts": [handshake(), token(b"alice")],
    "too many parts": [handshake(), token(TOKEN + b"\0\0\0")],
    "bare tokens": [handshake(version=0), bare(TOKEN)],
    "a wrong bare token": [handshake(version=0), bare(b"\0alice\0no")],
    "a bare token of SCRAM for nobody": [
        handshake("SCRAM-SHA-256", 0),
        bare(b"n,,n=nobody,r=abc"),
    ],
    **{f"{m} for nobody": [handshake(m), token(b"n,,n=nobody,r=abc")] for m in MECHANISMS[1:3]},
    "SCRAM that is none": [handshake("SCRAM-SHA-512"), token(b"hello")],
    "an authorization id of SCRAM": [
        handshake("SCRAM-SHA-512"),
        token(b"n,a=bob,n=alice,r=abc"),
    ],
    "a token of nobody's": [handshake("SCRAM-SHA-512"), token(b"n,,n=x,r=abc,tokenauth=true")],
    "a bearer without a token": [handshake("OAUTHBEARER"), token(b"n,,\x01auth=Bearer\x01\x01")],
    "a bearer's nonsense": [
        handshake("OAUTHBEARER"),
        token(b"n,,\x01auth=Bearer a.b.\x01\x01"),
        token(b"\x01"),
    ],
    "ApiVersions of the future, then a handshake": [FUTURE_VERSIONS, handshake()],
    "ApiVersions of a name that is none": [versions(3, "-"), handshake()],
    "metadata first": [METADATA],
    "a key that nobody has": [UNKNOWN_KEY],
    "an empty frame": [bare(b"")],
    "a frame of Kerberos": [bare(b"\x60\x01\x02\x03")],
    "rubbish after the handshake": [handshake(), bare(b"\xff" * 9)],
    "a handshake instead of a token": [handshake(), handshake()],
    "ApiVersions instead of a token": [handshake(), versions(0)],
    "ApiVersions of the future instead of a token": [handshake(), FUTURE_VERSIONS],
    "metadata instead of a token": [handshake(), METADATA],
    "a request of the controller's instead of a token": [handshake(), LEADER_AND_ISR],
    "one that cannot be read instead of a token": [
        handshake(),
        bare(LEADER_AND_ISR[LENGTH_BYTES:-1]),
    ],
    **{
        f"Produce for {acks} acks instead of a token": [handshake(), produce(acks)]
        for acks in (0, 1)
    },
    "a version of SaslAuthenticate that is none": [
        handshake(),
        bare((36).to_bytes(2) + (9).to_bytes(2) + (7).to_bytes(4) + b"\xff\xff\0\0"),
    ],
    "a handshake when it is over": [handshake(), token(), handshake()],
    "a token when it is over": [handshake(), token(), token()],
}


class Line:
    """A connection to the OPEN listener of one of them."""

    def __init__(self, both: Brokers, broker_id: int) -> None:
        host, port = both.server("OPEN", broker_id).split(":")
        self._socket = socket.create_connection((host, int(port)), PATIENCE_S)
        self._answers = self._socket.makefile("rb")

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        self._answers.close()
        self._socket.close()

    def say(self, frame: bytes) -> bytes:
        """The answer, or that there is none."""
        try:
            self._socket.sendall(frame)
            size = self._answers.read(4)
            return self._answers.read(int.from_bytes(size)) if size else CLOSED
        except ConnectionError:
            return CLOSED


def held(both: Brokers, broker_id: int, frames: Sequence[bytes]) -> list[bytes]:
    with Line(both, broker_id) as line:
        return [line.say(frame) for frame in frames]


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_they_answer_alike(both: Brokers, name: str) -> None:
    frames = CONVERSATIONS[name]
    assert held(both, OURS, frames) == held(both, KAFKAS, frames)


def test_they_end_alike(both: Brokers) -> None:
    """After a refusal nothing is answered any more."""
    for frames in ([handshake(), token(b"\0alice\0no")], [handshake("x")], [METADATA]):
        for broker_id in (OURS, KAFKAS):
            assert held(both, broker_id, [*frames, handshake()])[-1] == CLOSED


def test_apiversions_is_answered_once(both: Brokers) -> None:
    for broker_id in (OURS, KAFKAS):
        first, second = held(both, broker_id, [versions(0), versions(0)])
        assert (first[4:6], second) == (bytes(2), CLOSED)


@pytest.mark.parametrize("mechanism", ScramMechanism)
def test_a_wrong_password_of_scram_is_refused_alike(
    both: Brokers, mechanism: ScramMechanism
) -> None:
    """And a right one is not; the nonces differ, so that the challenges do."""

    def last_word(broker_id: int, password: str) -> SaslAuthenticateResponse:
        client = ScramClient(ScramLogin(mechanism, USER, password), lambda: "abc")
        with Line(both, broker_id) as line:
            line.say(handshake(mechanism.value))
            challenge = line.say(token(client.first()))
            _, asked = decode_response(SaslAuthenticateResponse, 2, challenge)
            proof = client.respond(bytes(asked.auth_bytes))
            assert proof is not None
            return decode_response(SaslAuthenticateResponse, 2, line.say(token(proof)))[1]

    assert last_word(OURS, "wrong") == last_word(KAFKAS, "wrong")
    ours, kafkas = last_word(OURS, PASSWORD), last_word(KAFKAS, PASSWORD)
    assert (ours.error_code, ours.session_lifetime_ms) == (0, 0)
    assert len(ours.auth_bytes) == len(kafkas.auth_bytes)
