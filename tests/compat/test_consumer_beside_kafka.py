"""Our consumer reads partitions of its own choice, of our brokers and of Kafka's alike."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import pytest
from confluent_kafka import Producer

from logquake.client import Consumer, aio
from logquake.client.consumer.interceptors import ConsumerInterceptor
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.consumer.records import ConsumerRecord, ConsumerRecords
from logquake.client.errors import (
    ClosedError,
    ConcurrentUseError,
    NoGroupError,
    NoOffsetForPartitionError,
    NotAssignedError,
    NotSubscribedError,
    OffsetOutOfRangeError,
    RecordDeserializationError,
    TimedOutError,
    WakeupError,
)
from logquake.cluster.api import Cluster
from logquake.wire.topic_partition import TopicPartition
from tests.compat.releases import KINDS, WITH_OLD, Releases, make_topic, releases
from tests.one_broker import OneBroker
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.maven]

PARTITIONS = 3
A_SECOND = 1_700_000_000_000
PATIENCE_MS = int(PATIENCE_S * 1000)


@dataclass(frozen=True)
class Place:
    """A topic that nobody else reads or writes."""

    port: int
    topic: str

    @property
    def servers(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def places(self) -> list[TopicPartition]:
        return [TopicPartition(self.topic, partition) for partition in range(PARTITIONS)]

    def write(
        self, count: int, partition: int = 0, config: dict[str, object] | None = None
    ) -> None:
        """Records v0, v1... a second apart."""
        producer = Producer({"bootstrap.servers": self.servers, **(config or {})})
        for index in range(count):
            producer.produce(
                self.topic,
                key=f"k{index}" if index % 2 else None,
                value=f"v{index}",
                partition=partition,
                timestamp=A_SECOND + 1000 * index,
                headers=[("n", b"%d" % index)],
            )
        assert producer.flush(PATIENCE_S) == 0

    def consumer(self, **keys: object) -> Consumer:
        given = {"auto_offset_reset": "earliest", "bootstrap_servers": self.servers, **keys}
        return Consumer(given)


@pytest.fixture(scope="module")
def brokers(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Releases]:
    folder = tmp_path_factory.mktemp("consumed")
    properties = {
        "log.retention.ms": -1,
        "auto.create.topics.enable": "false",
        "group.initial.rebalance.delay.ms": 0,
        "offsets.topic.replication.factor": 1,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
    }
    with releases(folder, cluster.zookeeper_connect, properties) as each:
        yield each


@pytest.fixture(scope="module")
def names() -> Iterator[str]:
    return map("orders-{}".format, count())


@pytest.fixture(params=KINDS)
def place(brokers: Releases, names: Iterator[str], request: pytest.FixtureRequest) -> Place:
    twin = brokers[request.param]
    topic = next(names)
    make_topic(twin, topic, PARTITIONS)
    return Place(twin.port, topic)


def read(consumer: Consumer, wanted: int) -> list[ConsumerRecord]:
    """So many, in the order in which they come."""
    found: list[ConsumerRecord] = []

    def look() -> int:
        found.extend(consumer.poll(1000))
        return len(found)

    wait_for(f"{wanted} records", look, lambda seen: seen >= wanted)
    return found


@pytest.mark.parametrize("place", WITH_OLD, indirect=True)
@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_records_come_as_they_were_written(place: Place, codec: str) -> None:
    place.write(50, config={"compression.type": codec})
    with place.consumer() as consumer:
        consumer.assign(place.places)
        records = read(consumer, 50)
    assert [record.offset for record in records] == list(range(50))
    assert [record.value for record in records] == [b"v%d" % index for index in range(50)]
    assert [record.key for record in records[:2]] == [None, b"k1"]
    assert records[7].headers == (("n", b"7"),)
    assert records[7].timestamp_ms == A_SECOND + 7000
    assert (records[7].topic, records[7].partition) == (place.topic, 0)


def test_a_poll_hands_out_max_poll_records_and_says_what_follows(place: Place) -> None:
    place.write(25)
    with place.consumer(max_poll_records=10) as consumer:
        consumer.assign(place.places)
        first = wait_for("records", lambda: consumer.poll(1000), len)
        assert len(first) == 10
        assert first.partitions == [place.places[0]]
        assert first.next_offsets[place.places[0]].offset == 10
        assert len(first.records(place.topic)) == len(first.records(place.places[0])) == 10
        assert [len(consumer.poll(PATIENCE_MS)) for _ in range(2)] == [10, 5]


def test_fetches_are_bounded_by_bytes(place: Place) -> None:
    place.write(200, config={"batch.num.messages": 10, "linger.ms": 10_000})
    with place.consumer(max_partition_fetch_bytes=1, fetch_max_bytes=1) as consumer:
        consumer.assign(place.places)
        of_one_batch = len(wait_for("records", lambda: consumer.poll(1000), len))
        assert of_one_batch <= 10  # less where a slow machine flushed it before it was full
        left = 200 - of_one_batch
        assert len(read(consumer, left)) == left


def test_seeking(place: Place) -> None:
    place.write(10)
    first = place.places[0]
    with place.consumer() as consumer:
        consumer.assign([first])
        consumer.seek(first, 7)
        assert [record.offset for record in read(consumer, 3)] == [7, 8, 9]
        assert consumer.position(first) == 10
        consumer.seek_to_beginning()
        assert consumer.position(first) == 0
        consumer.seek_to_end([first])
        assert consumer.position(first) == 10
        consumer.seek(first, consumer.poll(0).next_offsets.get(first) or 9)
        assert read(consumer, 1)[0].offset == 9
        with pytest.raises(NotAssignedError):
            consumer.seek(place.places[1], 0)
        with pytest.raises(ValueError, match="-1"):
            consumer.seek(first, -1)


@pytest.mark.parametrize("place", WITH_OLD, indirect=True)
def test_offsets_by_time_beginning_and_end(place: Place) -> None:
    place.write(10)
    first, second, _ = place.places
    with place.consumer() as consumer:
        assert consumer.beginning_offsets(place.places) == dict.fromkeys(place.places, 0)
        ends = dict.fromkeys(place.places, 0) | {first: 10}
        assert consumer.end_offsets(place.places) == ends
        found = consumer.offsets_for_times({first: A_SECOND + 4500, second: 0})
        assert found[second] is None
        at = found[first]
        assert at is not None
        assert (at.offset, at.timestamp_ms) == (5, A_SECOND + 5000)
        late = {first: A_SECOND + 1_000_000}
        assert consumer.offsets_for_times(late) == {first: None}
        with pytest.raises(ValueError, match="-1"):
            consumer.offsets_for_times({first: -1})
        nowhere = TopicPartition("nowhere", 0)
        with pytest.raises(TimedOutError):
            consumer.end_offsets([nowhere], timeout_ms=500)


def test_lag_is_told_by_what_was_fetched_or_asked_for(place: Place) -> None:
    place.write(10)
    first = place.places[0]
    with place.consumer(max_poll_records=4) as consumer:
        consumer.assign([first])
        consumer.seek(first, 2)
        consumer.pause([first])
        assert (
            wait_for("lag", lambda: consumer.current_lag(first), lambda lag: lag is not None) == 8
        )
        consumer.resume([first])
        read(consumer, 4)
        assert consumer.current_lag(first) == 4
        with pytest.raises(NotAssignedError):
            consumer.current_lag(place.places[1])


def test_what_is_paused_waits(place: Place) -> None:
    place.write(3, partition=0)
    place.write(3, partition=1)
    first, second, _ = place.places
    with place.consumer() as consumer:
        consumer.assign([first, second])
        consumer.pause([first])
        assert consumer.paused() == {first}
        assert {record.place for record in read(consumer, 3)} == {second}
        consumer.resume([first])
        assert {record.place for record in read(consumer, 3)} == {first}
        assert consumer.paused() == set()


def test_where_it_begins_is_said_by_the_reset_policy(place: Place) -> None:
    place.write(3)
    first = place.places[0]
    with place.consumer(auto_offset_reset="latest") as consumer:
        consumer.assign([first])
        assert consumer.position(first) == 3
    with place.consumer(auto_offset_reset="none") as consumer:
        consumer.assign([first])
        with pytest.raises(NoOffsetForPartitionError):
            consumer.poll(PATIENCE_MS)
        consumer.seek(first, 99)
        with pytest.raises(OffsetOutOfRangeError) as told:
            consumer.poll(PATIENCE_MS)
        assert told.value.offsets == {first: 99}
        consumer.seek(first, 1)
        assert len(read(consumer, 2)) == 2
    with place.consumer() as consumer:
        consumer.assign([first])
        consumer.seek(first, 99)
        assert len(read(consumer, 3)) == 3


@pytest.mark.parametrize("place", WITH_OLD, indirect=True)
def test_read_committed_sees_no_aborted_records_and_waits_for_open_ones(place: Place) -> None:
    first = place.places[0]
    producer = Producer({"bootstrap.servers": place.servers, "transactional.id": place.topic})
    producer.init_transactions(PATIENCE_S)
    for value, end in (("kept", producer.commit_transaction), ("gone", producer.abort_transaction)):
        producer.begin_transaction()
        producer.produce(place.topic, value, partition=0)
        producer.flush(PATIENCE_S)
        end(PATIENCE_S)
    producer.begin_transaction()
    producer.produce(place.topic, "open", partition=0)
    producer.flush(PATIENCE_S)
    with place.consumer(isolation_level="read_committed") as consumer:
        consumer.assign([first])
        assert [record.value for record in read(consumer, 1)] == [b"kept"]
        assert consumer.end_offsets([first]) == {first: 4}
        wait_for(
            "position",
            lambda: (consumer.poll(100), consumer.position(first))[1],
            lambda at: at == 4,
        )
        producer.commit_transaction(PATIENCE_S)
        assert [record.value for record in read(consumer, 1)] == [b"open"]
    with place.consumer() as consumer:
        consumer.assign([first])
        values = [record.value for record in read(consumer, 3)]
        assert values == [b"kept", b"gone", b"open"]
        assert consumer.end_offsets([first]) == {first: 6}


def test_what_a_poll_returns_passes_deserializers_and_interceptors(place: Place) -> None:
    place.write(4)

    class Odd(ConsumerInterceptor):
        """Lets pass every other record, and is in error now and then."""

        def on_consume(self, records: ConsumerRecords) -> ConsumerRecords:
            if not len(records):
                raise KeyError("it does not matter")
            kept = {
                each: [record for record in records.records(each) if record.offset % 2]
                for each in records.partitions
            }
            return ConsumerRecords(kept, records.next_offsets)

        def close(self) -> None:
            closed.append(True)

    closed: list[bool] = []
    with place.consumer(value_deserializer=bytes.decode, interceptor_classes=[Odd()]) as consumer:
        consumer.assign(place.places)
        assert [record.value for record in read(consumer, 2)] == ["v1", "v3"]
    assert closed == [True]


def test_a_record_that_cannot_be_deserialized_is_not_passed_over(place: Place) -> None:
    def refuse_two(value: bytes) -> str:
        if value == b"v2":
            raise ValueError(value)
        return value.decode()

    place.write(4)
    first = place.places[0]
    with place.consumer(value_deserializer=refuse_two) as consumer:
        consumer.assign([first])
        assert [record.value for record in read(consumer, 2)] == ["v0", "v1"]
        for _ in range(2):
            with pytest.raises(RecordDeserializationError) as failed:
                read(consumer, 1)
            assert (failed.value.place, failed.value.offset) == (first, 2)
        consumer.seek(first, 3)
        assert [record.value for record in read(consumer, 1)] == ["v3"]


def test_a_wakeup_ends_the_call_that_waits_or_the_next_one(place: Place) -> None:
    with place.consumer() as consumer:
        consumer.assign(place.places)
        consumer.wakeup()
        with pytest.raises(WakeupError):
            consumer.poll(PATIENCE_MS)
        waits = _in_a_thread(lambda: consumer.poll(PATIENCE_MS))
        consumer.wakeup()
        assert isinstance(waits(), WakeupError)
        assert len(consumer.poll(0)) == 0


def test_one_thread_at_a_time(place: Place) -> None:
    with place.consumer() as consumer:
        consumer.assign(place.places)
        waits = _in_a_thread(lambda: consumer.poll(PATIENCE_MS))

        def refused() -> bool:
            try:
                consumer.seek_to_end()
            except ConcurrentUseError:
                return True
            return False

        wait_for("call in another thread", refused)
        with pytest.raises(ConcurrentUseError):
            consumer.close()
        consumer.wakeup()
        assert isinstance(waits(), WakeupError)
        consumer.seek_to_end()


def test_topics_and_partitions_are_listed(place: Place) -> None:
    with place.consumer() as consumer:
        partitions = consumer.partitions_for(place.topic)
        assert [each.partition for each in partitions] == list(range(PARTITIONS))
        assert all(each.leader and each.leader.port == place.port for each in partitions)
        assert consumer.partitions_for("nowhere") == []
        assert len(consumer.list_topics()[place.topic]) == PARTITIONS


def test_what_needs_a_group_or_an_assignment_is_refused_without(place: Place) -> None:
    consumer = place.consumer()
    with pytest.raises(NotSubscribedError):
        consumer.poll()
    with pytest.raises(NoGroupError):
        consumer.subscribe([place.topic])
    with pytest.raises(NoGroupError):
        consumer.commit()
    consumer.assign(place.places)
    assert consumer.assignment() == frozenset(place.places)
    consumer.unsubscribe()
    assert consumer.assignment() == frozenset()
    consumer.close()
    consumer.close()
    with pytest.raises(ClosedError):
        consumer.poll()


def test_a_consumer_is_iterated_over(place: Place) -> None:
    place.write(5)
    with place.consumer() as consumer:
        consumer.assign(place.places)
        records = iter(consumer)
        assert [next(records).offset for _ in range(5)] == list(range(5))


class Listening:
    """``heard`` is what a listener is told, in order."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, list[int]]] = []

    def on_assigned(self, places: Sequence[TopicPartition]) -> None:
        self.heard.append(("assigned", [place.partition for place in places]))

    def on_revoked(self, places: Sequence[TopicPartition]) -> None:
        self.heard.append(("revoked", [place.partition for place in places]))

    def on_lost(self, places: Sequence[TopicPartition]) -> None:
        self.heard.append(("lost", [place.partition for place in places]))


@pytest.mark.parametrize("place", WITH_OLD, indirect=True)
def test_a_group_goes_on_where_it_committed(place: Place) -> None:
    place.write(10)
    first = place.places[0]
    with place.consumer(group_id=place.topic, enable_auto_commit=False) as consumer:
        listener = Listening()
        consumer.subscribe([place.topic], listener)
        assert len(read(consumer, 10)) == 10
        assert consumer.assignment() == frozenset(place.places)
        consumer.commit({first: OffsetAndMetadata(4, metadata="half")})
        assert consumer.committed([first, place.places[1]]) == {
            first: OffsetAndMetadata(4, metadata="half"),
            place.places[1]: None,
        }
        assert consumer.group_metadata().group_id == place.topic
    assert listener.heard == [("assigned", [0, 1, 2]), ("revoked", [0, 1, 2])]
    with place.consumer(group_id=place.topic) as consumer:
        consumer.subscribe([place.topic])
        assert [record.offset for record in read(consumer, 6)] == [4, 5, 6, 7, 8, 9]
    with place.consumer(group_id=place.topic) as consumer:
        consumer.assign([first])
        assert consumer.position(first) == 10  # committed by close()


class Looking(Listening):
    """Asks where it begins, and polls, before its partitions are read."""

    def __init__(self, consumer: Consumer) -> None:
        super().__init__()
        self._consumer = consumer
        self.begins: list[int] = []

    def on_assigned(self, places: Sequence[TopicPartition]) -> None:
        super().on_assigned(places)
        self.begins += [self._consumer.position(place, PATIENCE_MS) for place in places]
        assert not self._consumer.poll(0)


def test_a_listener_may_ask_where_it_begins_and_poll(place: Place) -> None:
    place.write(10)
    with place.consumer(group_id=place.topic, enable_auto_commit=False) as consumer:
        consumer.assign(place.places)
        consumer.commit({place.places[0]: OffsetAndMetadata(4)})
    with place.consumer(group_id=place.topic) as consumer:
        listener = Looking(consumer)
        consumer.subscribe([place.topic], listener)
        assert [record.offset for record in read(consumer, 6)] == [4, 5, 6, 7, 8, 9]
        assert listener.begins == [4, 0, 0]


def test_commits_are_told_in_order(place: Place) -> None:
    first, told = place.places[0], []
    with place.consumer(group_id=place.topic) as consumer:
        consumer.assign([first])
        consumer.commit(
            {first: OffsetAndMetadata(0)}
        )  # waits for a coordinator; the next ones do not
        for offset in range(1, 4):
            consumer.commit_async(
                {first: OffsetAndMetadata(offset)},
                lambda offsets, error: told.append((offsets[first].offset, error)),
            )
        consumer.commit({first: OffsetAndMetadata(9)})
        assert told == [(1, None), (2, None), (3, None)]
        assert consumer.committed([first]) == {first: OffsetAndMetadata(9)}


@pytest.mark.parametrize("place", WITH_OLD, indirect=True)
def test_a_pattern_finds_topics_that_appear_later(place: Place) -> None:
    place.write(1)
    pattern = re.compile(f"{place.topic}(-later)?")
    with place.consumer(group_id=place.topic, metadata_max_age_ms=500) as consumer:
        consumer.subscribe(pattern)
        assert len(read(consumer, 1)) == 1
        later = Place(place.port, f"{place.topic}-later")
        twin = OneBroker(place.port)
        assert twin.create(later.topic, 1) == ("NONE", None)
        later.write(1)
        assert [record.topic for record in read(consumer, 1)] == [later.topic]
        assert consumer.subscription() == {place.topic, later.topic}


class Skipping:
    """Of coroutines: each first partition that is assigned is read from an offset on."""

    def __init__(self, consumer: aio.Consumer, offset: int, heard: Listening) -> None:
        self._consumer = consumer
        self._offset = offset
        self._heard = heard
        self.on_lost = heard.on_lost

    async def on_assigned(self, places: Sequence[TopicPartition]) -> None:
        await asyncio.sleep(0)
        self._consumer.seek(places[0], self._offset)
        self._heard.on_assigned(places)

    async def on_revoked(self, places: Sequence[TopicPartition]) -> None:
        await self._consumer.commit()
        self._heard.on_revoked(places)


def test_on_asyncios_loop(place: Place) -> None:
    place.write(10)
    first = place.places[0]
    listening = Listening()

    async def use() -> None:
        keys = {"bootstrap.servers": place.servers, "group.id": place.topic}
        async with aio.Consumer(keys) as consumer:
            await consumer.subscribe([place.topic], Skipping(consumer, 6, listening))
            offsets = []
            async for record in consumer:
                offsets.append(record.offset)
                if record.offset == 9:
                    break
            assert offsets == [6, 7, 8, 9]
            await consumer.commit()
            assert (await consumer.committed([first]))[first] == OffsetAndMetadata(10, 0)
            assert await consumer.position(first) == 10
            assert (await consumer.end_offsets([first])) == {first: 10}
            waits = asyncio.create_task(consumer.poll(PATIENCE_MS))
            await asyncio.sleep(0)
            with pytest.raises(ConcurrentUseError):
                consumer.pause([first])
            consumer.wakeup()
            with pytest.raises(WakeupError):
                await waits
            given_up = asyncio.create_task(consumer.poll(PATIENCE_MS))
            await asyncio.sleep(0)
            given_up.cancel()
            with pytest.raises(asyncio.CancelledError):
                await given_up
            assert len(await consumer.poll(0)) == 0

    asyncio.run(use())
    assert listening.heard == [("assigned", [0, 1, 2]), ("revoked", [0, 1, 2])]


def test_a_loop_that_ends_early_has_read_what_it_was_given(place: Place) -> None:
    """Neither its commits nor those by themselves say more, and whoever follows reads on there."""
    place.write(10)
    first = place.places[0]
    with place.consumer(group_id=place.topic) as consumer:
        consumer.assign([first])
        assert next(record.offset for record in consumer) == 0
        assert consumer.position(first) == 1
        consumer.commit()
        assert consumer.committed([first]) == {first: OffsetAndMetadata(1, 0)}
        for record in consumer:
            if record.offset == 3:
                break
    with place.consumer(group_id=place.topic, enable_auto_commit=False) as consumer:
        consumer.assign([first])
        assert next(record.offset for record in consumer) == 4
        assert [record.offset for record in read(consumer, 5)] == [5, 6, 7, 8, 9]


def test_a_loop_that_ends_early_has_read_what_it_was_given_on_asyncios_loop(place: Place) -> None:
    place.write(10)
    first = place.places[0]
    keys = {"bootstrap.servers": place.servers, "auto.offset.reset": "earliest"}

    async def given(*, until: int) -> list[int]:
        offsets: list[int] = []
        async with aio.Consumer(keys, group_id=place.topic) as consumer:
            await consumer.assign([first])
            async for record in consumer:
                offsets.append(record.offset)
                await consumer.commit_async()
                if record.offset == until:
                    break
            assert await consumer.position(first) == until + 1
        return offsets

    assert asyncio.run(given(until=3)) == [0, 1, 2, 3]
    assert asyncio.run(given(until=9)) == [4, 5, 6, 7, 8, 9]


def test_a_poll_that_is_cancelled_loses_no_records(place: Place) -> None:
    place.write(10)

    async def offset(consumer: aio.Consumer) -> int:
        records: list[ConsumerRecord] = []
        while not records:  # and no poll that finds nothing keeps the loop to itself
            records = list(await consumer.poll())
        return records[0].offset

    async def use() -> None:
        keys = {"bootstrap.servers": place.servers, "auto.offset.reset": "earliest"}
        async with aio.Consumer(keys, max_poll_records=1) as consumer:
            await consumer.assign(place.places[:1])
            for expected in range(10):
                assert await offset(consumer) == expected
                given_up = asyncio.create_task(consumer.poll(PATIENCE_MS))
                await asyncio.sleep(0)
                given_up.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await given_up

    asyncio.run(use())


def _in_a_thread(call: Callable[[], object]) -> Callable[[], object]:
    """It begins now; what it comes to, an error as a value."""
    outcome: list[object] = []

    def run() -> None:
        try:
            outcome.append(call())
        except Exception as error:  # noqa: BLE001 (it is looked at)
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()

    def ended() -> object:
        thread.join(PATIENCE_S)
        return outcome[0]

    return ended
