"""Clients over their quotas are answered, told to wait, and made to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from logquake.wire.errors import ErrorCode
from logquake.wire.messages.fetch import FetchRequest, ReplicaState
from logquake.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from logquake.wire.messages.quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    EntityData,
    OpData,
)
from logquake.wire.messages.topics import (
    CreatableTopic,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DeleteTopicState,
)
from logquake.wire.principals import KafkaPrincipal
from tests.unit.node.requests.lone_broker import LoneBroker
from tests.unit.node.requests.test_fetch import fetch, partition, topic_of

ALICE = KafkaPrincipal("User", "alice")
SIZE = 2_000


def limit(broker: LoneBroker, key: str, value: float | None, **entity: str | None) -> None:
    types = {type_.replace("_", "-"): name for type_, name in entity.items()}
    entry = AlterClientQuotasRequestEntryData(
        entity=[EntityData(entity_type=type_, entity_name=name) for type_, name in types.items()],
        ops=[OpData(key=key, value=value or 0.0, remove=value is None)],
    )
    (told,) = broker.ask(AlterClientQuotasRequest(entries=[entry]), 1).entries
    assert told.error_code == 0
    broker.settle()


@pytest.fixture
def produce(batch: Callable[..., bytes]) -> ProduceRequest:
    data = PartitionProduceData(index=0, records=batch(b"x" * 1_000))
    topic = TopicProduceData(name="orders", partition_data=[data])
    return ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic])


@pytest.mark.parametrize("version", [0, 9, 11])
def test_who_produces_too_much_is_told_to_wait(
    broker: LoneBroker, produce: ProduceRequest, version: int
) -> None:
    """20,000 in what counts as 10 s, of 1,000 a second: 10 s more are lacking."""
    limit(broker, "producer_byte_rate", 1_000, user="alice")
    waits: list[int] = []
    asking = {"principal": ALICE, "size": 20_000, "throttle": waits.append}
    answer = broker.ask(produce, version, **asking)
    assert waits == [10_000]
    assert answer.throttle_time_ms == (waits[0] if version else 0)
    assert answer.responses[0].partition_responses[0].error_code == 0


def test_what_is_produced_without_an_answer_counts_too(
    broker: LoneBroker, produce: ProduceRequest
) -> None:
    limit(broker, "producer_byte_rate", 1_000, user="alice")
    waits: list[int] = []
    produce.acks = 0
    broker.outcomes(produce, 9, principal=ALICE, size=20_000, throttle=waits.append)
    assert waits == [10_000]


def test_others_are_not_told_to_wait(broker: LoneBroker, produce: ProduceRequest) -> None:
    limit(broker, "producer_byte_rate", 1, user="alice")
    waits: list[int] = []
    for size in (20_000, 20_000):
        answer = broker.ask(produce, 9, size=size, throttle=waits.append)
        assert (answer.throttle_time_ms, waits) == (0, [])


def test_a_limit_that_is_taken_back_holds_no_more(
    broker: LoneBroker, produce: ProduceRequest
) -> None:
    limit(broker, "producer_byte_rate", 1_000, user="alice")
    limit(broker, "producer_byte_rate", None, user="alice")
    assert broker.ask(produce, 9, principal=ALICE, size=20_000).throttle_time_ms == 0


class TestFetch:
    @pytest.fixture
    def filled(self, broker: LoneBroker, batch: Callable[..., bytes]) -> LoneBroker:
        broker.append(batch(b"x" * SIZE))
        return broker

    def ask(self, broker: LoneBroker, version: int = 12, **rest: Any) -> Any:
        asked = fetch(topic_of(broker, "orders", partition()), **rest)
        return broker.ask(asked, version, principal=ALICE)

    @pytest.mark.parametrize("version", range(1, 18))
    def test_who_fetches_too_much_gets_nothing_but_the_wait(
        self, filled: LoneBroker, version: int
    ) -> None:
        limit(filled, "consumer_byte_rate", SIZE, user="alice")
        for _ in range(9):
            assert self.ask(filled, version).throttle_time_ms == 0
        answer = self.ask(filled, version)
        assert 0 < answer.throttle_time_ms < 3_000
        assert (answer.error_code, answer.session_id, answer.responses) == (0, 0, [])

    def test_what_was_not_sent_does_not_count(self, filled: LoneBroker) -> None:
        limit(filled, "consumer_byte_rate", SIZE, user="alice")
        waits = [self.ask(filled).throttle_time_ms for _ in range(30)]
        assert len(set(waits[10:])) == 1

    def test_a_session_goes_on_after_a_wait(self, filled: LoneBroker) -> None:
        opened = self.ask(filled, session_epoch=0)
        assert opened.session_id > 0
        asked = fetch(
            topic_of(filled, "orders", partition()),
            session_id=opened.session_id,
            session_epoch=1,
        )
        limit(filled, "consumer_byte_rate", 1, user="alice")
        throttled = filled.ask(asked, 12, principal=ALICE)
        assert throttled.throttle_time_ms > 0
        assert (throttled.session_id, throttled.responses) == (opened.session_id, [])
        limit(filled, "consumer_byte_rate", None, user="alice")
        asked = FetchRequest(session_id=opened.session_id, session_epoch=2, max_wait_ms=0)
        (topic,) = filled.ask(asked, 12, principal=ALICE).responses
        assert len(topic.partitions[0].records) > SIZE

    def test_who_has_to_wait_is_not_told_of_a_lost_session(self, filled: LoneBroker) -> None:
        asked = FetchRequest(session_id=7, session_epoch=1)
        told = filled.ask(asked, 12, principal=ALICE)
        assert told.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        limit(filled, "consumer_byte_rate", 1, user="alice")
        waiting = filled.ask(asked, 12, principal=ALICE)
        assert waiting.throttle_time_ms > 0
        assert (waiting.error_code, waiting.session_id) == (ErrorCode.NONE, 0)

    def test_the_records_of_one_answer_are_not_over_the_limit_by_themselves(
        self, filled: LoneBroker, batch: Callable[..., bytes]
    ) -> None:
        """Or nobody would ever get them; what else an answer holds is little."""
        for _ in range(20):
            filled.append(batch(b"x" * SIZE))
        limit(filled, "consumer_byte_rate", SIZE, user="alice")
        assert self.ask(filled).throttle_time_ms < 100
        filled.scheduler.advance(100)
        (topic,) = self.ask(filled).responses
        assert len(topic.partitions[0].records) == 10 * SIZE

    def test_followers_do_not_wait(self, filled: LoneBroker) -> None:
        limit(filled, "consumer_byte_rate", 1, user="alice")
        limit(filled, "request_percentage", 1e-9, user="alice")
        for version, asking in (
            (12, {"replica_id": 2}),
            (15, {"replica_state": ReplicaState(replica_id=2)}),
        ):
            assert self.ask(filled, version, **asking).throttle_time_ms == 0


class TestRequestTime:
    @pytest.fixture
    def busy(self, broker: LoneBroker) -> LoneBroker:
        """Each request takes 30 ms of the loop."""
        limit(broker, "request_percentage", 1, user="alice")
        return broker

    @pytest.mark.parametrize("version", range(13))
    def test_who_takes_too_much_time_waits_a_second_at_most(
        self, busy: LoneBroker, version: int
    ) -> None:
        waits: list[int] = []
        asking = {"principal": ALICE, "throttle": waits.append}
        answers = [busy.ask(MetadataRequest(topics=[]), version, **asking) for _ in range(8)]
        told = [each.throttle_time_ms for each in answers] if version >= 3 else waits
        assert [each for each in told if each] == waits
        assert 0 < waits[0] <= waits[-1] == 1_000

    def test_a_fetch_brings_nothing_then(
        self, busy: LoneBroker, batch: Callable[..., bytes]
    ) -> None:
        busy.append(batch(b"x" * SIZE))
        asked = fetch(topic_of(busy, "orders", partition()))
        answers = [busy.ask(asked, 12, principal=ALICE) for _ in range(8)]
        assert answers[0].throttle_time_ms == 0
        assert answers[0].responses
        assert answers[-1].throttle_time_ms == 1_000
        assert not answers[-1].responses


def create(*topics: tuple[str, int], **rest: Any) -> CreateTopicsRequest:
    wanted = [
        CreatableTopic(name=name, num_partitions=count, replication_factor=1)
        for name, count in topics
    ]
    return CreateTopicsRequest(topics=wanted, timeout_ms=10_000, **rest)


def grow(topic: str, count: int) -> CreatePartitionsRequest:
    wanted = CreatePartitionsTopic(name=topic, count=count, assignments=None)
    return CreatePartitionsRequest(topics=[wanted], timeout_ms=10_000)


def delete(version: int, *topics: str) -> DeleteTopicsRequest:
    if version < 6:
        return DeleteTopicsRequest(topic_names=list(topics), timeout_ms=10_000)
    states = [DeleteTopicState(name=name) for name in topics]
    return DeleteTopicsRequest(topics=states, timeout_ms=10_000)


def codes(answer: Any) -> list[int]:
    results = getattr(answer, "topics", None) or getattr(answer, "results", None)
    return [each.error_code for each in results or answer.responses]


OVER = ErrorCode.THROTTLING_QUOTA_EXCEEDED


class TestMutations:
    @pytest.fixture
    def slow(self, broker: LoneBroker) -> LoneBroker:
        """One partition a second, eleven at once."""
        limit(broker, "controller_mutation_rate", 1, user="alice")
        return broker

    @pytest.mark.parametrize("version", range(8))
    def test_topics_beyond_what_there_was_are_refused_or_waited_for(
        self, slow: LoneBroker, version: int
    ) -> None:
        waits: list[int] = []
        asked = create(("one", 9), ("two", 6), ("three", 1))
        asking = {"principal": ALICE, "throttle": waits.append}
        answer = slow.ask(asked, version, **asking)
        assert codes(answer) == ([0, 0, OVER] if version >= 6 else [0, 0, 0])
        assert waits == [4_000 if version >= 6 else 5_000]
        assert answer.throttle_time_ms == (waits[0] if version >= 2 else 0)

    def test_who_waited_may_go_on(self, slow: LoneBroker) -> None:
        assert codes(slow.ask(create(("one", 12)), 7, principal=ALICE)) == [0]
        assert codes(slow.ask(create(("two", 1)), 7, principal=ALICE)) == [OVER]
        slow.scheduler.advance(1_000)
        assert codes(slow.ask(create(("two", 1)), 7, principal=ALICE)) == [0]

    def test_what_is_refused_or_only_checked_does_not_count(self, slow: LoneBroker) -> None:
        for _ in range(3):
            checked = slow.ask(create(("one", 99), validate_only=True), 7, principal=ALICE)
            assert codes(checked) == [0]
            there = slow.ask(create(("orders", 99)), 7, principal=ALICE)
            assert codes(there) == [ErrorCode.TOPIC_ALREADY_EXISTS]

    def test_a_broker_that_asks_for_its_clients_does_not_wait(self, slow: LoneBroker) -> None:
        for name in ("one", "two"):
            answer = slow.ask(create((name, 20)), 7, principal=ALICE, client_id="1")
            assert (codes(answer), answer.throttle_time_ms) == ([0], 0)

    @pytest.mark.parametrize("version", range(4))
    def test_growth(self, slow: LoneBroker, version: int) -> None:
        """orders has two partitions."""
        asked = [slow.ask(grow("orders", n), version, principal=ALICE) for n in (14, 15)]
        assert codes(asked[1]) == [OVER if version >= 3 else 0]
        assert asked[1].throttle_time_ms == (1_000 if version >= 3 else 2_000)

    @pytest.mark.parametrize("version", range(7))
    def test_deletion(self, slow: LoneBroker, version: int) -> None:
        for name in ("one", "two"):
            slow.create_topic(name, partitions=12)
        answer = slow.ask(delete(version, "one", "two"), version, principal=ALICE)
        assert sorted(codes(answer)) == ([0, OVER] if version >= 5 else [0, 0])
        assert answer.throttle_time_ms == (0 if version == 0 else 1_000 if version >= 5 else 13_000)

    def test_topics_that_a_question_brings_about_count(self, slow: LoneBroker) -> None:
        """The question is answered without a wait, as by Kafka; what is asked for next is not."""
        asked = [MetadataRequestTopic(name=f"topic-{number}") for number in range(12)]
        told = slow.ask(MetadataRequest(topics=asked), 12, principal=ALICE)
        assert told.throttle_time_ms == 0
        assert {each.error_code for each in told.topics} == {ErrorCode.LEADER_NOT_AVAILABLE}
        assert codes(slow.ask(create(("one", 1)), 7, principal=ALICE)) == [OVER]

    def test_a_limit_of_nothing_refuses_what_comes_second(self, broker: LoneBroker) -> None:
        limit(broker, "controller_mutation_rate", 0, user="alice")
        asked = create(("one", 1), ("two", 1))
        answer = broker.ask(asked, 7, principal=ALICE)
        assert (codes(answer), answer.throttle_time_ms) == ([0, OVER], 0)
