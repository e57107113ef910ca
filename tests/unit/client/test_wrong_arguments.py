"""What a program gives a producer or a consumer that is no such thing is refused where it is given,
by its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from logquake.client import (
    Admin,
    Consumer,
    ConsumerInterceptor,
    OffsetAndMetadata,
    Producer,
    ProducerInterceptor,
    TopicPartition,
    aio,
)
from logquake.client.arguments import check_time, headers_of
from logquake.client.consumer.facade import FoundedConsumer
from logquake.client.consumer.fetch.taken import Taken
from logquake.client.consumer.interceptors import Interceptors as ConsumerInterceptors
from logquake.client.consumer.records import NOTHING
from logquake.client.errors import SettingsError
from logquake.client.pending import Promise
from logquake.client.producer.appending.interceptors import Interceptors
from logquake.client.producer.appending.preparing import Outgoing
from logquake.client.producer.record import ProducerRecord
from logquake.client.sync.futures import Future
from logquake.client.telling import Telling
from tests.unit.client.at_once import at_once
from tests.unit.client.consumer.lone_consumer import LoneConsumer
from tests.unit.client.producer.test_producing import Program

SERVERS = "localhost:9092"
PLACE = TopicPartition("t", 0)
NOT_A_TIME = [float("nan"), float("inf"), float("-inf"), 2**70, "1", None, [], 1j]


class Serializer:
    def serialize(self, _topic: str, _headers: object, data: bytes) -> bytes:
        return data


async def a_coroutine(*_: object) -> None: ...


@pytest.mark.parametrize(
    ("client", "arguments", "named"),
    [
        (Producer, {"partitioner": lambda *_: 0}, "partitioner.class"),
        (Producer, {"partitioner": "t"}, "partitioner.class"),
        (Producer, {"key_serializer": 5}, "key.serializer"),
        (Producer, {"value_serializer": 5}, "value.serializer"),
        (Producer, {"value_serializer": Serializer}, "value.serializer"),
        (Producer, {"interceptors": [ProducerInterceptor]}, "interceptor.classes"),
        (Producer, {"interceptors": [5]}, "interceptor.classes"),
        (Consumer, {"key_deserializer": 5}, "key.deserializer"),
        (Consumer, {"value_deserializer": 5}, "value.deserializer"),
        (Consumer, {"interceptors": [ConsumerInterceptor]}, "interceptor.classes"),
        (Consumer, {"assignors": []}, "partition.assignment.strategy"),
        (Consumer, {"assignors": [], "group_id": "g"}, "partition.assignment.strategy"),
    ],
)
def test_a_client_is_not_made_of_what_could_not_be_called(
    client: Callable[..., object], arguments: dict[str, object], named: str
) -> None:
    with pytest.raises(SettingsError, match=rf"^{re.escape(named)}=.* is not allowed: "):
        client(bootstrap_servers=SERVERS, **arguments)


@pytest.mark.parametrize("client", [Producer, Consumer, Admin, aio.Producer, aio.Consumer])
def test_an_address_alone_is_no_configuration(client: Callable[..., object]) -> None:
    with pytest.raises(SettingsError, match=r"not of 'host:9092': bootstrap_servers="):
        client("host:9092")


@pytest.mark.parametrize("client", [Producer, Consumer, aio.Producer, aio.Consumer])
def test_who_wants_to_hear_of_events_can_be_called_and_need_not_be_awaited(
    client: Callable[..., object],
) -> None:
    for wrong in (5, a_coroutine):
        with pytest.raises(TypeError, match=r"^on_event: "):
            client(bootstrap_servers=SERVERS, on_event=wrong)


# Of a producer


def sent(
    *,
    partition: Any = None,
    timestamp_ms: Any = None,
    headers: Any = (),
    on_delivery: Any = None,
) -> Outgoing:
    prepare = Program().producing.prepare
    return prepare("t", b"v", None, partition, timestamp_ms, headers, on_delivery)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"partition": "0"}, "^partition: '0' is no whole number$"),
        ({"partition": 1.0}, "^partition: 1.0 is no whole number$"),
        ({"timestamp_ms": 1.5}, "^timestamp_ms: 1.5 is no whole number$"),
        ({"on_delivery": 5}, "^on_delivery: 5 cannot be called$"),
        ({"on_delivery": a_coroutine}, "^on_delivery: .* nobody awaits it$"),
        ({"headers": {"a": b"1"}}, r"^headers: {'a': b'1'} is no .*: list\(headers.items\(\)\)"),
        ({"headers": "ab"}, "^headers: 'ab' is no list of pairs"),
        ({"headers": 5}, "^headers: 5 is no list of pairs"),
        ({"headers": ["ab"]}, "^headers: 'ab' is no pair"),
        ({"headers": [("a",)]}, "^headers: .* is no pair"),
        ({"headers": {("a", b"x"): 1}}, "^headers: .* is no list of pairs"),
        ({"headers": [(None, b"x")]}, "^headers: key: None is no str$"),
        ({"headers": [(b"k", b"x")]}, "^headers: key: b'k' is no str$"),
        ({"headers": [("a", "x")]}, "^headers: 'x' of 'a' is no bytes$"),
    ],
)
def test_what_a_record_cannot_have_is_told_by_its_name(keys: dict[str, Any], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        sent(**keys)


def test_a_headers_value_is_whatever_a_value_may_be() -> None:
    given = [("a", bytearray(b"1")), ["b", memoryview(b"2")], ("c", None), ("é", b"")]
    carried = (("a", b"1"), ("b", b"2"), ("c", None), ("é", b""))
    assert headers_of(given) == carried
    assert sent(headers=iter(given)).record.headers == carried
    assert sent(headers=()).record.headers == ()


def test_an_interceptor_that_gives_no_record_is_told_to_who_sends() -> None:
    class Forgetful(ProducerInterceptor):
        def on_send(self, _record: ProducerRecord) -> ProducerRecord:
            return None  # type: ignore[return-value]

    with pytest.raises(TypeError, match=r"^on_send of Forgetful gives None, and no Prod"):
        Interceptors([Forgetful()]).on_send(ProducerRecord("t"))


@pytest.mark.parametrize("time", [each for each in NOT_A_TIME if each is not None], ids=str)
def test_a_flush_has_a_time_that_will_be_over(time: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^timeout_ms: "):
        at_once(Program().producing.flush(time))


# Of a consumer


def test_an_interceptor_that_gives_no_records_changes_nothing() -> None:
    class Forgetful(ConsumerInterceptor):
        def on_consume(self, _records: Any) -> Any:
            return None

    assert ConsumerInterceptors([Forgetful()]).on_consume(NOTHING) is NOTHING


def made(consumer: LoneConsumer, call: str, given: Any) -> None:
    parts = consumer.consuming
    if call in ("pause", "resume", "seek_to_beginning", "seek_to_end"):
        getattr(parts.seeking, call)(given)
    elif call == "assign":
        at_once(parts.assign(given))
    elif call in ("commit", "committed"):
        at_once(getattr(parts.committing, call)(given, 0))
    else:
        at_once(getattr(parts.lookups, call)(given, 0))


@pytest.mark.parametrize("given", [None, PLACE, "t", 5], ids=str)
@pytest.mark.parametrize(
    "call",
    [
        *("assign", "pause", "resume", "seek_to_beginning", "seek_to_end", "committed"),
        *("beginning_offsets", "end_offsets"),
    ],
)
def test_one_alone_is_no_list_of_partitions(call: str, given: Any) -> None:
    consumer = LoneConsumer({}, group_id="g")
    at_once(consumer.consuming.assign([PLACE]))
    with pytest.raises(TypeError, match=r"^places are to be a list of TopicPartitions, and not "):
        made(consumer, call, given)
    assert consumer.consuming.assignment() == {PLACE}


@pytest.mark.parametrize(
    ("call", "named"), [("offsets_for_times", "times_ms"), ("commit", "offsets")]
)
@pytest.mark.parametrize("given", [[PLACE], [], 5], ids=str)
def test_a_list_of_partitions_is_no_mapping(call: str, named: str, given: Any) -> None:
    with pytest.raises(TypeError, match=rf"^{named}: .* is no mapping of TopicPartition to "):
        made(LoneConsumer({}, group_id="g"), call, given)


def test_what_seek_may_be_given_is_named() -> None:
    with pytest.raises(TypeError, match=r"^'5' is neither an offset nor an OffsetAndMetadata$"):
        LoneConsumer({}, group_id="g").consuming.seeking.seek(PLACE, "5")  # type: ignore[arg-type]


def test_an_offset_that_is_none_is_named() -> None:
    consumer = LoneConsumer({}, group_id="g")
    with pytest.raises(TypeError, match=r"^offset: '5' is no whole number$"):
        made(consumer, "commit", {PLACE: OffsetAndMetadata("5")})  # type: ignore[arg-type]


class HearsTooLittle:
    def on_assigned(self, places: object) -> None: ...


@pytest.mark.parametrize(
    "listener",
    [5, HearsTooLittle(), HearsTooLittle, lambda *_: None],
    ids=["a number", "one that lacks a method", "a class", "a function"],
)
def test_a_listener_hears_all_that_it_is_told(listener: Any) -> None:
    consumer = LoneConsumer({}, group_id="g")
    with pytest.raises(TypeError, match=r"^listener: .* is no RebalanceListener: it has no on_"):
        at_once(consumer.consuming.subscribe(["t"], listener))
    assert consumer.consuming.subscription() == frozenset()


@pytest.mark.parametrize("topics", [None, 5, iter(["t"])], ids=["none", "a number", "an iterator"])
def test_topics_are_a_list_of_names(topics: Any) -> None:
    consumer = LoneConsumer({}, group_id="g")
    with pytest.raises(TypeError, match=r"^topics are to be a list of names, and not "):
        at_once(consumer.consuming.subscribe(topics, None))


@pytest.mark.parametrize("time", NOT_A_TIME, ids=str)
def test_a_poll_has_a_time_that_will_be_over(time: Any) -> None:
    consumer = LoneConsumer({})
    at_once(consumer.consuming.assign([PLACE]))
    with pytest.raises((TypeError, ValueError), match=r"^timeout_ms: "):
        at_once(consumer.consuming.poll(time, Taken()))


@pytest.mark.parametrize("time", [0, -1, 1.5, 2**62, True], ids=str)
def test_what_is_a_time(time: Any) -> None:
    check_time(time)


@pytest.mark.parametrize("time", [each for each in NOT_A_TIME if each is not None], ids=str)
def test_a_future_is_waited_for_for_a_time_that_will_be_over(time: Any) -> None:
    nobody: Any = None
    future: Future[None] = Future(Promise(Telling()), nobody)
    for wait in (future.result, future.exception):
        with pytest.raises((TypeError, ValueError), match=r"^timeout_s: "):
            wait(time)


class UnstartedProducer(Producer):
    def _start(self) -> None: ...


class UnstartedConsumer(Consumer):
    def _start(self, _founded: FoundedConsumer) -> None: ...


@pytest.mark.parametrize("time", NOT_A_TIME, ids=str)
def test_a_close_that_has_no_time_closes_nothing(time: Any) -> None:
    """Before anything of it begins: there is nobody who could be closed."""
    consumer = UnstartedConsumer(bootstrap_servers=SERVERS)
    with pytest.raises((TypeError, ValueError), match=r"^timeout_ms: "):
        consumer.close(time)
    if time is not None:  # for ever, of a producer
        with pytest.raises((TypeError, ValueError), match=r"^timeout_ms: "):
            UnstartedProducer(bootstrap_servers=SERVERS).close(time)
        with pytest.raises((TypeError, ValueError), match=r"^timeout_ms: "):
            consumer._or_api(time)
