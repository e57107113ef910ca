"""The older producer on a cluster in memory: what it sends where, and what it tries again."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from random import Random
from threading import Thread
from typing import Any, cast

import pytest

from logquake.client.classic.channel import Dial
from logquake.client.classic.errors import FailedToSendError, QueueFullError
from logquake.client.classic.messages import KeyedMessage, MessageSet
from logquake.client.classic.producer import Producer
from logquake.client.classic.producing.broker_partitions import AskedPartitions
from logquake.client.classic.producing.hooks import CallbackHandler, Messages, SendOn
from logquake.client.classic.serializer import StringEncoder
from logquake.client.classic.topic_metadata import Broker, MetadataAsker
from logquake.client.errors import BrokerError, ProducerClosedError
from logquake.client.settings import Address
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseTopic,
)
from logquake.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from tests.unit.client.cluster_in_memory import FakeClock, FakeNetwork, FakeTopology
from tests.waiting import PATIENCE_S, wait_for

New = Callable[..., Producer]


class Brokers:
    """What each was sent; ``errors`` are answered first, one a request."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, int, list[bytes | None]]] = []
        self.errors: list[ErrorCode] = []

    def produce(self, request: ProduceRequest, address: Address) -> ProduceResponse | None:
        code = self.errors.pop(0) if self.errors else ErrorCode.NONE
        (topic,) = request.topic_data
        for each in topic.partition_data:
            assert isinstance(each.records, memoryview)
            found = [one.message.payload for one in MessageSet(each.records)]
            self.sent.append((address.host, each.index, found))
        if not request.acks:
            return None
        return ProduceResponse(
            responses=[
                TopicProduceResponse(
                    name=topic.name,
                    partition_responses=[
                        PartitionProduceResponse(index=each.index, error_code=code, base_offset=7)
                        for each in topic.partition_data
                    ],
                )
            ]
        )


@pytest.fixture
def brokers(network: FakeNetwork) -> Brokers:
    brokers = Brokers()
    network.handlers[ApiKey.PRODUCE] = brokers.produce
    return brokers


@pytest.fixture
def new(dial: Dial, clock: FakeClock) -> New:
    def new(**keys: object) -> Producer:
        config = {
            "broker.list": "boot:1",
            "serializer.class": StringEncoder(),
            "request.required.acks": -1,
        }
        given = {name.replace("_", "."): value for name, value in keys.items()}
        return Producer(config | given, dial=dial, clock=clock, random=Random(1))

    return new


def test_messages_go_to_the_leaders_of_their_keys(brokers: Brokers, new: New) -> None:
    with new() as producer:
        producer.send(*(KeyedMessage("t", f"m{key}", part_key=key) for key in range(4)))
    assert brokers.sent == [("one", 0, [b"m0", b"m2"]), ("two", 1, [b"m1", b"m3"])]
    assert producer.metrics() == {
        "MessagesPerSec": 4, "MessagesPerSec/t": 4, "BytesPerSec": 8, "BytesPerSec/t": 8
    }  # fmt: skip


def test_nobody_answers_without_acks(network: FakeNetwork, brokers: Brokers, new: New) -> None:
    with new(request_required_acks=0) as producer:
        producer.send(KeyedMessage("t", "m", part_key=0))
    assert brokers.sent == [("one", 0, [b"m"])]
    assert network.requests[ApiKey.PRODUCE][0].acks == 0


def test_what_fails_is_sent_to_the_new_leader(
    brokers: Brokers, new: New, topology: FakeTopology, network: FakeNetwork
) -> None:
    def produce(request: ProduceRequest, address: Address) -> ProduceResponse | None:
        topology.leaders[0] = (2, 6)
        return brokers.produce(request, address)

    network.handlers[ApiKey.PRODUCE] = produce
    brokers.errors = [ErrorCode.NOT_LEADER_OR_FOLLOWER]
    with new() as producer:
        producer.send(KeyedMessage("t", "m", part_key=0))
    assert brokers.sent == [("one", 0, [b"m"]), ("two", 0, [b"m"])]
    assert producer.metrics()["ResendsPerSec"] == 1


def test_what_is_told_of_a_topic_counts_though_another_is_unknown(
    network: FakeNetwork, topology: FakeTopology, dial: Dial
) -> None:
    """Of two that are asked about at once, in whatever order they are told of."""
    asker = MetadataAsker(dial, "client", 1_000, Random(1))
    partitions = AskedPartitions(asker, [Address("boot", 1)])
    assert partitions.partitions_of("t")[0].leader == Broker(1, Address("one", 9092))
    topology.leaders[0] = (2, 6)
    metadata = network.handlers[ApiKey.METADATA]

    def with_another(request: MetadataRequest, address: Address) -> MetadataResponse:
        told = metadata(request, address)
        assert isinstance(told, MetadataResponse)
        unknown = MetadataResponseTopic(name="new", error_code=ErrorCode.LEADER_NOT_AVAILABLE)
        return MetadataResponse(brokers=told.brokers, topics=[unknown, *told.topics])

    network.handlers[ApiKey.METADATA] = with_another
    with pytest.raises(BrokerError, match="LEADER_NOT_AVAILABLE"):
        partitions.refresh(["new", "t"])
    assert partitions.partitions_of("t")[0].leader == Broker(2, Address("two", 9092))


def test_it_gives_up_after_its_retries(brokers: Brokers, new: New, clock: FakeClock) -> None:
    brokers.errors = [ErrorCode.NOT_LEADER_OR_FOLLOWER] * 9
    began_ms = clock.now_ms()
    with (
        new(message_send_max_retries=2, retry_backoff_ms=50) as producer,
        pytest.raises(FailedToSendError, match="after 2 retries: NOT_LEADER_OR_FOLLOWER"),
    ):
        producer.send(KeyedMessage("t", "m", part_key=0))
    assert len(brokers.sent) == 3
    assert clock.now_ms() - began_ms == 100
    assert producer.metrics()["FailedSendsPerSec"] == 1


@pytest.mark.usefixtures("brokers")
def test_only_some_topics_are_compressed(network: FakeNetwork, new: New) -> None:
    for topics in ("t", "other"):
        with new(compression_codec="gzip", compressed_topics=topics) as producer:
            producer.send(KeyedMessage("t", "x" * 500, part_key=0))
    packed, plain = (
        request.topic_data[0].partition_data[0].records
        for request in network.requests[ApiKey.PRODUCE]
    )
    assert len(packed) < 100 < len(plain)


def test_a_message_that_cannot_be_serialized(brokers: Brokers, new: New) -> None:
    with new() as producer, pytest.raises(AttributeError):
        producer.send(KeyedMessage("t", 5))
    with new(producer_type="async") as producer:
        producer.send(KeyedMessage("t", 5, part_key=0), KeyedMessage("t", "m", part_key=0))
    assert brokers.sent == [("one", 0, [b"m"])]


def test_what_is_queued_is_sent_at_the_end(brokers: Brokers, new: New) -> None:
    with new(producer_type="async") as producer:
        producer.send(*(KeyedMessage("t", f"m{each}", part_key=0) for each in range(3)))
    assert brokers.sent == [("one", 0, [b"m0", b"m1", b"m2"])]
    with pytest.raises(ProducerClosedError):
        producer.send(KeyedMessage("t", "late"))


class Noting(CallbackHandler):
    def __init__(self) -> None:
        self.noted: list[str] = []

    def before_enqueue(self, message: KeyedMessage[Any, Any]) -> KeyedMessage[Any, Any]:
        self.noted.append(f"before {message.message}")
        return KeyedMessage(message.topic, message.message.upper(), part_key=0)

    def after_enqueue(self, message: KeyedMessage[Any, Any], added: bool) -> None:
        self.noted.append(f"after {message.message} {added}")

    def close(self) -> None:
        self.noted.append("closed")


def test_hooks_see_what_enters_the_queue(brokers: Brokers, new: New) -> None:
    hooks = Noting()
    with new(producer_type="async", callback_handler=hooks) as producer:
        producer.send(KeyedMessage("t", "m"))
    assert brokers.sent == [("one", 0, [b"M"])]
    assert hooks.noted == ["before m", "after M True", "closed"]


def has_sent(brokers: Brokers, payload: bytes) -> bool:
    return any(payload in payloads for _, _, payloads in brokers.sent)


class Forgetful(CallbackHandler):
    """Returns nothing where a value is wanted."""

    def after_dequeuing_existing_data(self, _: KeyedMessage[Any, Any] | None) -> Messages:
        return cast(Messages, None)


def test_hooks_that_return_nothing_do_not_end_what_is_sent(brokers: Brokers, new: New) -> None:
    hooks = Forgetful()
    with new(producer_type="async", callback_handler=hooks, batch_size=1) as producer:
        for each in ("a", "b"):
            producer.send(KeyedMessage("t", each, part_key=0))
            wait_for("it to be sent", partial(has_sent, brokers, each.encode()))


def test_before_enqueue_that_returns_nothing_is_told_to_whoever_sends(new: New) -> None:
    hooks = CallbackHandler()
    hooks.before_enqueue = lambda _: None  # type: ignore[assignment, method-assign, return-value]
    with (
        new(producer_type="async", callback_handler=hooks) as producer,
        pytest.raises(TypeError, match=r"from send\(\) or before_enqueue came None"),
    ):
        producer.send(KeyedMessage("t", "a"))


def test_without_a_time_each_message_is_sent_at_once(brokers: Brokers, new: New) -> None:
    with new(producer_type="async", queue_buffering_max_ms=0) as producer:
        for each in ("a", "b"):
            producer.send(KeyedMessage("t", each, part_key=0))
            wait_for("it to be sent", partial(has_sent, brokers, each.encode()))


class Stuck:
    """Keeps its first batch, so that the queue fills."""

    def __init__(self) -> None:
        self.has_begun = False
        self.may_go_on = False
        self.is_closed = False

    def handle(self, messages: Messages, send_on: SendOn) -> None:
        self.has_begun = True
        wait_for("leave to go on", lambda: self.may_go_on)
        send_on(messages)

    def close(self) -> None:
        self.is_closed = True


def test_a_full_queue_drops_messages(brokers: Brokers, new: New) -> None:
    stuck = Stuck()
    hooks = Noting()
    producer = new(
        producer_type="async", event_handler=stuck, callback_handler=hooks, batch_size=1,
        queue_size=1, queue_enqueue_timeout_ms=0,
    )  # fmt: skip
    producer.send(KeyedMessage("t", "a"))
    wait_for("batch", lambda: stuck.has_begun)
    producer.send(KeyedMessage("t", "b"))
    with pytest.raises(QueueFullError):
        producer.send(KeyedMessage("t", "c"))
    stuck.may_go_on = True
    producer.close()
    assert [payloads for _, _, payloads in brokers.sent] == [[b"A"], [b"B"]]
    assert "after C False" in hooks.noted
    assert producer.metrics()["DroppedMessagesPerSec"] == 1
    assert stuck.is_closed


def test_what_is_not_sent_in_time_is_dropped(brokers: Brokers, new: New) -> None:
    """The thread ends all the same, and closes what it has."""
    stuck = Stuck()
    producer = new(producer_type="async", event_handler=stuck, batch_size=1, queue_size=1)
    producer.send(KeyedMessage("t", "a", part_key=0))
    wait_for("batch", lambda: stuck.has_begun)
    producer.send(KeyedMessage("t", "b", part_key=0))
    assert not producer.close(timeout_ms=1)
    stuck.may_go_on = True
    wait_for("end", lambda: stuck.is_closed)
    assert brokers.sent == []
    assert producer.close()


def beside(call: Callable[[], object]) -> Future[object]:
    """On a thread that holds up nobody, whatever becomes of it."""
    future: Future[object] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except Exception as error:  # noqa: BLE001 - for whoever asks for the result
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return future


class DeadLetters:
    """What cannot be sent on is sent elsewhere."""

    def __init__(self) -> None:
        self.producer: Producer | None = None
        self.has_begun = False
        self.may_go_on = True
        self.failures: list[Exception] = []

    def handle(self, messages: Messages, send_on: SendOn) -> None:
        assert self.producer is not None
        self.has_begun = True
        wait_for("leave to go on", lambda: self.may_go_on)
        for each in messages:
            if each.message == "bad":
                try:
                    self.producer.send(KeyedMessage("t", "dead", part_key=1))
                except Exception as error:
                    self.failures.append(error)
                    raise
            elif each.message == "close":
                self.producer.close()
            else:
                send_on([each])

    def close(self) -> None: ...


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_an_event_handler_may_send(brokers: Brokers, new: New, kind: str) -> None:
    handler = DeadLetters()
    producer = handler.producer = new(producer_type=kind, event_handler=handler, batch_size=1)
    beside(lambda: producer.send(KeyedMessage("t", "bad"))).result(PATIENCE_S)
    wait_for("dead letter", lambda: brokers.sent == [("two", 1, [b"dead"])])
    assert producer.close()


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_an_event_handler_may_close_the_producer(brokers: Brokers, new: New, kind: str) -> None:
    """What is queued by then is sent; in the synchronous producer nothing is sent on after it."""
    handler = DeadLetters()
    handler.may_go_on = False
    producer = handler.producer = new(producer_type=kind, event_handler=handler, batch_size=1)

    def send() -> None:
        for text in ("close", "m"):
            producer.send(KeyedMessage("t", text, part_key=0))

    sent = beside(send)
    wait_for("batch", lambda: handler.has_begun)
    if kind == "async":
        sent.result(PATIENCE_S)
    handler.may_go_on = True
    assert beside(producer.close).result(PATIENCE_S)
    if kind == "async":
        assert brokers.sent == [("one", 0, [b"m"])]
    else:
        with pytest.raises(ProducerClosedError):
            sent.result(PATIENCE_S)


def test_the_queues_thread_waits_for_no_room(brokers: Brokers, new: New) -> None:
    """Though somebody else waits for it, as long as it takes: nobody else makes any."""
    handler = DeadLetters()
    handler.may_go_on = False
    producer = handler.producer = new(
        producer_type="async", event_handler=handler, batch_size=1, queue_size=1
    )
    producer.send(KeyedMessage("t", "bad", part_key=0))
    wait_for("batch", lambda: handler.has_begun)
    producer.send(KeyedMessage("t", "a", part_key=0))
    waiting = beside(lambda: producer.send(KeyedMessage("t", "b", part_key=0)))
    wait_for("sender", lambda: producer.metrics()["MessagesPerSec"] == 3)
    handler.may_go_on = True
    waiting.result(PATIENCE_S)
    assert beside(producer.close).result(PATIENCE_S)
    assert [type(each) for each in handler.failures] == [QueueFullError]
    assert [payloads for _, _, payloads in brokers.sent] == [[b"a"], [b"b"]]


def test_close_does_not_wait_for_who_waits_for_room(brokers: Brokers, new: New) -> None:
    stuck = Stuck()
    producer = new(producer_type="async", event_handler=stuck, batch_size=1, queue_size=1)
    producer.send(KeyedMessage("t", "a", part_key=0))
    wait_for("batch", lambda: stuck.has_begun)
    producer.send(KeyedMessage("t", "b", part_key=0))
    waiting = beside(lambda: producer.send(KeyedMessage("t", "c", part_key=0)))
    wait_for("sender", lambda: producer.metrics()["MessagesPerSec"] == 3)
    assert beside(lambda: producer.close(timeout_ms=1)).result(PATIENCE_S) is False
    with pytest.raises(ProducerClosedError):
        waiting.result(PATIENCE_S)
    stuck.may_go_on = True
    wait_for("end", lambda: stuck.is_closed)
    assert brokers.sent == []


def test_close_of_a_synchronous_producer_keeps_its_time(brokers: Brokers, new: New) -> None:
    """What somebody else is sending is given up, and ends what there is to end."""
    stuck = Stuck()
    producer = new(event_handler=stuck)
    sending = beside(lambda: producer.send(KeyedMessage("t", "a", part_key=0)))
    wait_for("send", lambda: stuck.has_begun)
    assert beside(lambda: producer.close(timeout_ms=1)).result(PATIENCE_S) is False
    assert not stuck.is_closed
    stuck.may_go_on = True
    with pytest.raises(FailedToSendError, match="the producer was closed"):
        sending.result(PATIENCE_S)
    wait_for("end", lambda: stuck.is_closed)
    assert brokers.sent == []
    assert producer.close()
