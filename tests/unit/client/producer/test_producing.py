"""What a program's calls leave behind, where they fail."""

from __future__ import annotations

from collections.abc import Generator
from random import Random
from typing import Any

import pytest

from logquake.client.driving.steps import Call, Wait
from logquake.client.errors import (
    ClosedError,
    ConnectionLostError,
    DeliveryError,
    TimedOutError,
    TransactionStateError,
)
from logquake.client.producer.appending.interceptors import Interceptors, ProducerInterceptor
from logquake.client.producer.appending.preparing import Outgoing
from logquake.client.producer.delivery import RecordMetadata
from logquake.client.producer.hashing import partition_for
from logquake.client.producer.leaders import PartitionsOfTopic
from logquake.client.producer.producing import Producing
from logquake.client.producer.record import ProducerRecord
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from tests.unit.client.at_once import at_once
from tests.unit.client.cluster_in_memory import FakeClock

METADATA_VERSION = 12
DELIVERY_TIMEOUT_MS = 1_000


class NamesOfPartitions:
    """A partitioner that says one, and fails once it is told to; ``asked`` counts."""

    def __init__(self) -> None:
        self.fails = False
        self.says = 0
        self.asked = 0

    def partition(
        self, _topic: str, _key: bytes | None, _value: bytes | None, _all: PartitionsOfTopic
    ) -> int:
        self.asked += 1
        if self.fails:
            raise LookupError("no partition of that name")
        return self.says


class Heard(ProducerInterceptor):
    def __init__(self) -> None:
        self.errors: list[Exception | None] = []

    def on_acknowledgement(self, _metadata: RecordMetadata, error: Exception | None) -> None:
        self.errors.append(error)


class Program:
    """With a topic ``t`` that is known, and memory for one batch."""

    def __init__(self, **others: object) -> None:
        self.clock = FakeClock()
        self.partitioner = NamesOfPartitions()
        self.heard = Heard()
        keys = {
            "bootstrap_servers": ["one:9092"],
            "partitioner_class": self.partitioner,
            "interceptor_classes": [self.heard],
            "buffer_memory": 1_000,
            "batch_size": 1_000,
            "request_timeout_ms": DELIVERY_TIMEOUT_MS,
            "delivery_timeout_ms": DELIVERY_TIMEOUT_MS,
            **others,
        }
        self.producing = Producing(keys, None, clock=self.clock, random=Random(1))
        self._metadata = self.producing.foundation.metadata
        self._metadata.use("t", self.clock.now_ms())
        self.learn(ErrorCode.NONE)

    def learn(self, error: ErrorCode, partitions: int = 1) -> None:
        """Of the topic."""
        now_ms = self.clock.now_ms()
        question = self._metadata.question(now_ms)
        self._metadata.update(question, _told(error, partitions), METADATA_VERSION, now_ms)

    def outgoing(self, **keys: Any) -> Outgoing:
        wanted: dict[str, Any] = {"topic": "t", "partition": None, "timestamp_ms": None}
        wanted |= keys
        return self.producing.prepare(
            wanted["topic"],
            b"x" * 600,
            wanted.get("key"),
            wanted["partition"],
            wanted["timestamp_ms"],
            (),
            None,
        )

    @property
    def available_bytes(self) -> float:
        return self.producing.metrics()["producer-metrics"]["buffer-available-bytes"]


def _told(error: ErrorCode, partitions: int) -> MetadataResponse:
    led = [
        MetadataResponsePartition(
            error_code=ErrorCode.NONE,
            partition_index=index,
            leader_id=1,
            leader_epoch=0,
            replica_nodes=[1],
            isr_nodes=[1],
        )
        for index in range(0 if error else partitions)
    ]
    return MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=1, host="one", port=9092)],
        topics=[MetadataResponseTopic(error_code=error, name="t", partitions=led)],
    )


def next_of(steps: Generator[Wait | Call, Any, Any]) -> object:
    """What is called in its next step, which is something of the program's own."""
    step = next(steps)
    assert isinstance(step, Call)
    return step.function()


def test_memory_that_was_waited_for_is_given_back_where_the_record_cannot_be_appended() -> None:
    program = Program()
    assert program.producing.appending.at_once(program.outgoing(partition=0)) is not None
    steps = program.producing.appending.in_time(program.outgoing(partition=0))
    waits = next(steps)
    assert isinstance(waits, Wait)
    assert not waits.is_done()
    program.clock.sleep_ms(DELIVERY_TIMEOUT_MS)
    program.producing.core.poll(program.clock.now_ms())  # the first one is given up
    assert waits.is_done()
    program.learn(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    told = steps.send(True)
    assert isinstance(told, Call)
    told.function()
    with pytest.raises(StopIteration) as ended:
        steps.send(None)
    assert isinstance(ended.value.value.outcome, DeliveryError)
    assert program.available_bytes == 1_000


class WithItsSchema:
    def serialize(self, _topic: str, headers: list[tuple[str, bytes]], data: str) -> bytes:
        headers.append(("schema", b"7"))
        return data.encode()


def test_a_record_has_the_headers_that_a_serializer_adds() -> None:
    producing = Program(value_serializer=WithItsSchema()).producing
    outgoing = producing.prepare("t", "v", None, None, None, [("from", b"web")], None)
    assert outgoing.record.headers == (("from", b"web"), ("schema", b"7"))


class OnlySends:
    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        return record._replace(value=b"sent")


class OnlyHears:
    def __init__(self) -> None:
        self.count = 0

    def on_acknowledgement(self, _metadata: RecordMetadata, _error: Exception | None) -> None:
        self.count += 1


def test_an_interceptor_may_lack_what_it_has_no_part_in(caplog: pytest.LogCaptureFixture) -> None:
    hears = OnlyHears()
    interceptors = Interceptors([OnlySends(), hears])  # type: ignore[list-item]
    assert interceptors.on_send(ProducerRecord("t")).value == b"sent"
    interceptors.on_send_error("t", None, LookupError())
    interceptors.close()
    assert (hears.count, caplog.messages) == (1, [])


def test_an_interceptor_hears_of_a_partitioner_that_fails() -> None:
    program = Program()
    program.partitioner.fails = True
    outgoing = program.outgoing()
    assert program.producing.appending.at_once(outgoing) is None
    with pytest.raises(LookupError) as failed:
        at_once(program.producing.appending.in_time(outgoing))
    assert program.heard.errors == [failed.value]


def test_a_partitioner_is_asked_once_a_record_as_something_of_the_programs_own() -> None:
    program = Program()
    assert program.producing.appending.at_once(program.outgoing()) is None
    steps = program.producing.appending.in_time(program.outgoing())
    asks = next(steps)
    assert isinstance(asks, Call)
    assert program.partitioner.asked == 0
    with pytest.raises(StopIteration) as ended:
        steps.send(asks.function())
    assert not ended.value.value.is_done
    assert program.partitioner.asked == 1
    full = program.producing.appending.in_time(program.outgoing())
    assert isinstance(full.send(next_of(full)), Wait)
    program.clock.sleep_ms(DELIVERY_TIMEOUT_MS)
    program.producing.core.poll(program.clock.now_ms())
    with pytest.raises(StopIteration):
        full.send(True)
    assert program.partitioner.asked == 2


def test_whoever_drives_it_no_more_says_so_to_what_is_not_done() -> None:
    program, told = Program(), []
    outgoing = program.outgoing(partition=0)._replace(on_delivery=lambda *each: told.append(each))
    appended = program.producing.appending.at_once(outgoing)
    assert appended is not None
    why = ClosedError("it has failed")
    program.producing.core.abandon(why)
    assert isinstance(appended.delivery.outcome, DeliveryError)
    assert appended.delivery.outcome.cause is why
    program.producing.telling.tell()
    [(_, error)] = told
    assert error is appended.delivery.outcome
    with pytest.raises(ClosedError):
        program.producing.appending.at_once(program.outgoing(partition=0))
    with pytest.raises(ClosedError):
        at_once(program.producing.appending.in_time(program.outgoing(partition=0)))


@pytest.mark.parametrize("topic", [b"t", "\ud800"], ids=str)
def test_a_topic_that_no_request_could_name_is_refused_at_the_call(topic: Any) -> None:
    program = Program()
    with pytest.raises((TypeError, ValueError)):
        at_once(program.producing.partitions_for(topic))
    with pytest.raises((TypeError, ValueError)):
        at_once(program.producing.appending.in_time(program.outgoing(topic=topic)))


@pytest.mark.parametrize("keys", [{"timestamp_ms": 1.5}, {"partition": 0.0}], ids=str)
def test_what_could_not_be_encoded_is_refused_at_the_call(keys: dict[str, object]) -> None:
    """Later it would end the thread that sends, and with it all other records."""
    with pytest.raises(TypeError):
        Program().outgoing(**keys)


def test_a_time_that_is_no_64_bit_number_is_refused_at_the_call() -> None:
    with pytest.raises(ValueError, match="2\\^63"):
        Program().outgoing(timestamp_ms=2**63)


@pytest.mark.parametrize("partition", [None, 0])
def test_an_interceptor_hears_of_a_header_that_nobody_could_send(partition: int | None) -> None:
    """Whether there is a batch that the record would go to at once, or none yet."""
    program = Program(partitioner_class=None)
    good = program.outgoing(partition=partition)
    headers: Any = [("k", "no bytes")]
    bad = good._replace(record=good.record._replace(value=b"", headers=tuple(headers)))
    for _ in range(2):
        with pytest.raises(TypeError) as failed:
            program.producing.appending.at_once(bad)
        with pytest.raises(TypeError):
            at_once(program.producing.appending.failing(bad, failed.value))
        assert program.heard.errors.pop() is failed.value
        program.producing.appending.at_once(good)
    assert program.heard.errors == []


def test_a_partition_that_a_partitioner_says_and_the_topic_has_not_is_waited_for() -> None:
    program = Program()
    program.partitioner.says = 7
    steps = program.producing.appending.in_time(program.outgoing())
    asking = next(steps)
    assert isinstance(asking, Call)
    waiting = steps.send(asking.function())
    assert isinstance(waiting, Wait)
    telling = steps.send(False)
    assert isinstance(telling, Call)
    with pytest.raises(StopIteration) as end:
        steps.send(telling.function())
    refusal = end.value.value.outcome.cause
    assert isinstance(refusal, TimedOutError)
    assert "partition 7 of topic t, which has 1, is not known" in str(refusal)


def test_a_key_goes_where_it_went_when_it_was_sent_though_the_topic_grows_meanwhile() -> None:
    """As with Kafka: which partition it is does not depend on how long memory is waited for."""
    program = Program(partitioner_class=None)
    key = next(each for each in (b"%d" % n for n in range(99)) if partition_for(each, 9) != 0)
    assert program.producing.appending.at_once(program.outgoing(partition=0)) is not None
    steps = program.producing.appending.in_time(program.outgoing(key=key))
    assert isinstance(next(steps), Wait)
    program.clock.sleep_ms(DELIVERY_TIMEOUT_MS)
    program.producing.core.poll(program.clock.now_ms())  # the first one is given up
    program.learn(ErrorCode.NONE, partitions=9)
    with pytest.raises(StopIteration) as ended:
        steps.send(True)
    assert ended.value.value.place.partition == 0


def cut_off(program: Program) -> None:
    """The one broker that was configured cannot be reached, and no other is known."""
    foundation, now_ms = program.producing.foundation, program.clock.now_ms()
    foundation.metadata.rebootstrap()
    assert not foundation.network.ready(-1, now_ms)
    link = foundation.network.link(-1)
    assert link is not None
    foundation.links.lost(link.id, "refused", now_ms)


def refusal(steps: Generator[Wait | Call, Any, Any]) -> str:
    """Of a record that has waited in vain; an interceptor hears of it first."""
    assert isinstance(next(steps), Wait)
    told = steps.send(False)
    assert isinstance(told, Call)
    told.function()
    with pytest.raises(StopIteration) as end:
        steps.send(None)
    return str(end.value.value.outcome)


NOBODY = "(no broker answers: no connection to one:9092: refused)"


def test_what_is_given_up_while_no_broker_answers_says_so() -> None:
    """A flush, and a record that waits for memory, whose own time is shorter here."""
    program = Program(max_block_ms=DELIVERY_TIMEOUT_MS - 1)
    assert program.producing.appending.at_once(program.outgoing(partition=0)) is not None
    cut_off(program)
    flush = program.producing.flush(10)
    assert isinstance(next(flush), Wait)
    with pytest.raises(TimedOutError) as flushed:
        flush.send(False)
    assert str(flushed.value).endswith(NOBODY)
    steps = program.producing.appending.in_time(program.outgoing(partition=0))
    assert NOBODY in refusal(steps)


def test_records_are_taken_for_a_topic_that_was_known_though_no_broker_is() -> None:
    """Their delivery.timeout.ms decides, not max.block.ms; and what gives them up says why."""
    program = Program()
    cut_off(program)
    appended = program.producing.appending.at_once(program.outgoing(partition=0))
    assert appended is not None
    program.clock.sleep_ms(DELIVERY_TIMEOUT_MS)
    program.producing.core.poll(program.clock.now_ms())
    why = appended.delivery.outcome
    assert isinstance(why, DeliveryError)
    assert NOBODY in str(why)


def test_a_topic_that_is_not_known_in_time_is_told_with_why_nobody_answers() -> None:
    program = Program()
    cut_off(program)
    program.producing.foundation.updates.failure = ConnectionLostError("of the last question")
    steps = program.producing.appending.in_time(program.outgoing(topic="u"))
    assert NOBODY in refusal(steps)


def test_a_record_that_no_transaction_takes_is_refused_before_its_topic_is_waited_for() -> None:
    """With many sends in a transaction that has failed, each would wait for max.block.ms."""
    program = Program(transactional_id="mine")
    steps = program.producing.appending.in_time(program.outgoing(topic="u"))
    told = next(steps)
    assert isinstance(told, Call), "it waits"
    told.function()  # an interceptor hears of it
    with pytest.raises(TransactionStateError):
        steps.send(None)
