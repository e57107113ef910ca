"""Requests that other brokers forward for their clients, and envelopes that are none."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.node.authorizer.authorizer import AllowAll
from logquake.node.quotas.quotas import Quotas, QuotaSettings
from logquake.node.requests.api_table import ApiTable
from logquake.node.requests.envelope import Envelope
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.header import RequestHeader, decode_response, encode_request
from logquake.wire.listeners import PLAINTEXT, ListenerName
from logquake.wire.messages.broker_to_controller import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from logquake.wire.messages.envelope import (
    DefaultPrincipalData,
    EnvelopeRequest,
    EnvelopeResponse,
)
from logquake.wire.messages.metadata import MetadataRequest
from logquake.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from logquake.wire.schema import Message, encode
from logquake.zk.operations import SetData
from logquake.zk.znodes.control import CONTROLLER_PATH, ControllerNode
from tests.doubles.journal import MemoryJournal
from tests.doubles.scheduler import ManualScheduler
from tests.parts import joined
from tests.unit.node.requests.lone_broker import LoneBroker, NoReplyError

CORRELATION_ID = 4711
PRINCIPAL = b"\0\0" + encode(DefaultPrincipalData(type="User", name="ANONYMOUS"), 0)
ADDRESS = bytes([127, 0, 0, 1])


def forwarded(request: Message, version: int) -> bytes:
    """A request as its client sent it, without its length."""
    header = RequestHeader(request.__schema__.key or 0, version, CORRELATION_ID, "client")
    return joined(encode_request(header, request))[4:]


def create(name: str = "fresh") -> CreateTopicsRequest:
    topic = CreatableTopic(name=name, num_partitions=2, replication_factor=1)
    return CreateTopicsRequest(topics=[topic], timeout_ms=10_000)


def envelope(
    data: bytes, principal: bytes | None = PRINCIPAL, address: bytes = ADDRESS
) -> EnvelopeRequest:
    return EnvelopeRequest(
        request_data=data, request_principal=principal, client_host_address=address
    )


def unpacked(reply: Any, answer: type[Message], version: int) -> Any:
    assert reply.error_code == ErrorCode.NONE
    correlation_id, message = decode_response(answer, version, reply.response_data)
    assert correlation_id == CORRELATION_ID
    return message


class TestWhatIsForwarded:
    @pytest.mark.parametrize("version", range(8))
    def test_topics_are_made(self, broker: LoneBroker, version: int) -> None:
        reply = broker.ask(envelope(forwarded(create(), version)), 0)
        (topic,) = unpacked(reply, CreateTopicsResponse, version).topics
        assert (topic.name, topic.error_code) == ("fresh", ErrorCode.NONE)
        assert broker.topic_id("fresh")

    @pytest.mark.parametrize("version", range(7))
    def test_topics_are_deleted(self, broker: LoneBroker, version: int) -> None:
        request = DeleteTopicsRequest(timeout_ms=10_000)
        if version < 6:
            request.topic_names = ["orders"]
        else:
            request.topics = [DeleteTopicState(name="orders")]
        reply = broker.ask(envelope(forwarded(request, version)), 0)
        (topic,) = unpacked(reply, DeleteTopicsResponse, version).responses
        assert topic.error_code == ErrorCode.NONE

    def test_producer_ids_are_given(self, broker: LoneBroker) -> None:
        request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=broker.epoch())
        reply = broker.ask(envelope(forwarded(request, 0)), 0)
        assert unpacked(reply, AllocateProducerIdsResponse, 0).producer_id_len == 1000

    def test_a_refusal_is_the_answers_own(self, broker: LoneBroker) -> None:
        reply = broker.ask(envelope(forwarded(create("no spaces"), 7)), 0)
        (topic,) = unpacked(reply, CreateTopicsResponse, 7).topics
        assert topic.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION

    def test_a_client_may_have_a_long_address(self, broker: LoneBroker) -> None:
        reply = broker.ask(envelope(forwarded(create(), 7), address=bytes(15) + b"\x01"), 0)
        assert reply.error_code == ErrorCode.NONE


METADATA = forwarded(MetadataRequest(topics=[]), 12)
CREATE = forwarded(create(), 7)
NESTED = forwarded(envelope(CREATE), 0)
OLD = forwarded(create(), 4)  # a count of four bytes follows the header


# Also what a Kafka says (tests/compat/test_kafka_forwards.py).
REFUSED = [
    # What the envelope says of the client.
    (envelope(CREATE, principal=None), ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
    (envelope(CREATE, principal=b""), ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
    (envelope(CREATE, principal=b"\0\x01"), ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
    (envelope(CREATE, principal=PRINCIPAL[:-1]), ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
    (envelope(CREATE, address=b""), ErrorCode.INVALID_REQUEST),
    (envelope(CREATE, address=bytes(5)), ErrorCode.INVALID_REQUEST),
    # What may not be forwarded, whatever its version.
    (envelope(METADATA), ErrorCode.INVALID_REQUEST),
    (envelope(b"\0\x03\x7f\xff" + METADATA[4:]), ErrorCode.INVALID_REQUEST),
    (envelope(NESTED), ErrorCode.INVALID_REQUEST),
    # What cannot be read, or is not served.
    (envelope(b""), ErrorCode.UNSUPPORTED_VERSION),
    (envelope(b"\x7f\xff" + CREATE[2:]), ErrorCode.UNSUPPORTED_VERSION),
    (envelope(b"\0\x13\0\x63" + CREATE[4:]), ErrorCode.UNSUPPORTED_VERSION),
    (envelope(CREATE[:7]), ErrorCode.UNSUPPORTED_VERSION),
    (envelope(CREATE[:-6]), ErrorCode.UNSUPPORTED_VERSION),
    (envelope(b"\0\x21\0\0" + CREATE[4:]), ErrorCode.UNSUPPORTED_VERSION),  # AlterConfigs
    # The first of several faults.
    (envelope(b"", principal=b"", address=b""), ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
    (envelope(b"", address=b""), ErrorCode.INVALID_REQUEST),
    # Arrays longer than the bytes at hand.
    (envelope(OLD[:16] + b"\x7f\xff\xff\xff" + OLD[20:]), ErrorCode.UNSUPPORTED_VERSION),
]


@pytest.mark.parametrize(("content", "code"), REFUSED)
def test_an_envelope_is_refused(
    broker: LoneBroker, content: EnvelopeRequest, code: ErrorCode
) -> None:
    reply = broker.ask(content, 0)
    assert (reply.error_code, reply.response_data) == (code, None)


def test_every_cut_and_every_flipped_byte_has_one_answer(broker: LoneBroker) -> None:
    for at in range(len(CREATE)):
        damaged = bytearray(CREATE)
        damaged[at] ^= 0xFF
        for data in (CREATE[:at], bytes(damaged)):
            assert len(broker.outcomes(envelope(data), 0)) == 1


def test_only_the_controller_opens_envelopes(broker: LoneBroker) -> None:
    elect_another(broker)
    reply = broker.ask(envelope(CREATE), 0)
    assert (reply.error_code, reply.response_data) == (ErrorCode.NOT_CONTROLLER, None)


def elect_another(broker: LoneBroker) -> None:
    zookeeper = broker.zookeeper
    (session_id,) = zookeeper.model.sessions
    taken = SetData(CONTROLLER_PATH, ControllerNode(2, 0).encode())
    _, fired = zookeeper.model.apply(session_id, taken)
    zookeeper.deliver(fired)
    broker.settle()


def table(handler: Handler[Any]) -> ApiTable:
    return ApiTable(
        [handler], Quotas(QuotaSettings(), ManualScheduler(), MemoryJournal(), lambda: 0)
    )


class OfficeLost(Handler[CreateTopicsRequest]):
    """Amid the request, so that one of its topics is refused."""

    key = ApiKey.CREATE_TOPICS
    versions = range(8)

    def handle(self, request: Request, _: CreateTopicsRequest, /) -> None:
        codes = [ErrorCode.NONE, ErrorCode.NOT_CONTROLLER]
        results = [CreatableTopicResult(name="t", error_code=code) for code in codes]
        request.reply(CreateTopicsResponse(topics=results))


def test_the_sender_is_told_that_the_controller_moved(broker: LoneBroker, ask: Any) -> None:
    """The client behind it is not: the sender finds the controller and sends the envelope again."""
    handler = Envelope(
        table(OfficeLost()),
        broker.parts.controller,
        AllowAll(),
        is_enabled=True,
        privileged=PLAINTEXT,
    )
    asked = ask(envelope(CREATE), 0)
    handler.handle(asked.request, asked.request.body)
    assert asked.reply == EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)


class Remembered(Handler[CreateTopicsRequest]):
    key = ApiKey.CREATE_TOPICS
    versions = range(8)

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def handle(self, request: Request, _: CreateTopicsRequest, /) -> None:
        self.requests.append(request)


def test_who_asked_is_the_client_behind_it(broker: LoneBroker, ask: Any) -> None:
    remembered = Remembered()
    handler = Envelope(
        table(remembered),
        broker.parts.controller,
        AllowAll(),
        is_enabled=True,
        privileged=PLAINTEXT,
    )
    alice = DefaultPrincipalData(type="User", name="alice", token_authenticated=True)
    asked = ask(envelope(CREATE, principal=b"\0\0" + encode(alice, 0)), 0)
    handler.handle(asked.request, asked.request.body)
    (request,) = remembered.requests
    assert (str(request.principal), request.principal.token_authenticated) == ("User:alice", True)


class TestWhereEnvelopesAreNotTaken:
    @pytest.fixture
    def properties(self) -> dict[str, str]:
        return {
            "listeners": "PLAINTEXT://127.0.0.1:9092,OUTSIDE://127.0.0.1:19092",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,OUTSIDE:PLAINTEXT",
        }

    def test_a_clients_listener_ends_the_connection(self, broker: LoneBroker) -> None:
        with pytest.raises(NoReplyError, match="an envelope on OUTSIDE"):
            broker.ask(envelope(CREATE), 0, listener=ListenerName("OUTSIDE"))


class TestSwitchedOff:
    @pytest.fixture
    def properties(self) -> dict[str, str]:
        return {"logquake.forwarding.enable": "false"}

    def test_the_connection_ends_as_with_kafka(self, broker: LoneBroker) -> None:
        with pytest.raises(NoReplyError, match=r"logquake\.forwarding\.enable"):
            broker.ask(envelope(CREATE), 0)
