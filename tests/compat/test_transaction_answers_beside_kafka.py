"""Ours and a Kafka 3.9 are asked the same about transactions, in every version: they answer the
same, and write the same into __transaction_state.

Each is a cluster of one broker. Fields that tell of time are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from logquake.cluster.api import Cluster
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from logquake.wire.messages.transaction_admin import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from logquake.wire.messages.transactions import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from logquake.wire.records import iterate_batches, iterate_records
from tests.by_hand import broker_by_hand, own_chroot
from tests.compat.kafka_programs import KafkaPrograms
from tests.one_broker import OneBroker, held_ports
from tests.waiting import wait_for

pytestmark = [pytest.mark.maven, pytest.mark.slow]

TOPIC = "orders"
PARTITIONS_OF_STATE = 3
EVERYWHERE = ("a", "b", "c")  # nobody's names, one in each partition
Producer = tuple[int, int]
NOBODY = (-1, -1)
_TIMES_BYTES = 16  # the last two fields of a record's value
_NO_TIME = b"\xff" * 8


class Coordinator(OneBroker):
    """One broker, of either kind, asked about transactions. ``data`` is its log directory."""

    def __init__(self, port: int, data: Path) -> None:
        super().__init__(port)
        self.data = data

    def begin(
        self, version: int, name: str, was: Producer = NOBODY, timeout_ms: int = 60_000
    ) -> Any:
        request = InitProducerIdRequest(
            transactional_id=name,
            transaction_timeout_ms=timeout_ms,
            producer_id=was[0],
            producer_epoch=was[1],
        )
        return self.ask(request, InitProducerIdResponse, version)

    def add(self, version: int, name: str, producer: Producer, named: dict[str, list[int]]) -> Any:
        topics = _topics(named)
        if version >= 4:
            return self.add_as_broker(version, [(name, producer, named)], verify=False)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=name,
            v3_and_below_producer_id=producer[0],
            v3_and_below_producer_epoch=producer[1],
            v3_and_below_topics=topics,
        )
        return self._added(request, version)

    def add_as_broker(
        self, version: int, asked: list[tuple[str, Producer, dict[str, list[int]]]], *, verify: bool
    ) -> Any:
        request = AddPartitionsToTxnRequest(
            transactions=[
                AddPartitionsToTxnTransaction(
                    transactional_id=name,
                    producer_id=producer[0],
                    producer_epoch=producer[1],
                    verify_only=verify,
                    topics=_topics(named),
                )
                for name, producer, named in asked
            ]
        )
        return self._added(request, version)

    def _added(self, request: AddPartitionsToTxnRequest, version: int) -> Any:
        """In an order that does not depend on hash tables."""
        answer = self.ask(request, AddPartitionsToTxnResponse, version)
        grouped = [answer.results_by_topic_v3_and_below]
        grouped += [each.topic_results for each in answer.results_by_transaction]
        for results in grouped:
            results.sort(key=lambda topic: topic.name)
            for topic in results:
                topic.results_by_partition.sort(key=lambda each: each.partition_index)
        return answer

    def add_offsets(self, version: int, name: str, producer: Producer) -> Any:
        request = AddOffsetsToTxnRequest(
            transactional_id=name,
            producer_id=producer[0],
            producer_epoch=producer[1],
            group_id="group",
        )
        return self.ask(request, AddOffsetsToTxnResponse, version)

    def end(self, version: int, name: str, producer: Producer, *, committed: bool) -> Any:
        request = EndTxnRequest(
            transactional_id=name,
            producer_id=producer[0],
            producer_epoch=producer[1],
            committed=committed,
        )
        return self.ask(request, EndTxnResponse, version)

    def describe(self, *names: str) -> Any:
        request = DescribeTransactionsRequest(transactional_ids=list(names))
        answer = self.ask(request, DescribeTransactionsResponse, 0)
        for each in answer.transaction_states:
            each.transaction_start_time_ms = min(each.transaction_start_time_ms, 1)
            each.topics.sort(key=lambda topic: topic.topic)
            for topic in each.topics:
                topic.partitions.sort()
        return answer

    def list_those(self, version: int, **filters: Any) -> Any:
        answer = self.ask(ListTransactionsRequest(**filters), ListTransactionsResponse, version)
        answer.transaction_states.sort(key=lambda each: each.transactional_id)
        return answer

    def wait_for_end(self, name: str) -> None:
        wait_for(
            f"the end of the transaction of {name}",
            lambda: self.describe(name).transaction_states[0].transaction_state,
            lambda state: state in ("CompleteCommit", "CompleteAbort"),
        )

    def records(self) -> dict[bytes, list[tuple[int, bytes, bool]]]:
        """Of each key the batch's attributes, the value without its times, and whether it began."""
        found: dict[bytes, list[tuple[int, bytes, bool]]] = {}
        for index in range(PARTITIONS_OF_STATE):
            log = self.data / f"__transaction_state-{index}" / f"{0:020}.log"
            view = memoryview(log.read_bytes())
            for position, header in iterate_batches(view):
                for record in iterate_records(view, position, header, 1 << 20):
                    assert record.key is not None
                    assert record.value is not None
                    times = record.value[-_TIMES_BYTES:]
                    found.setdefault(record.key, []).append(
                        (
                            header.attributes,
                            record.value[:-_TIMES_BYTES],
                            times.endswith(_NO_TIME),
                        )
                    )
        return found


def _topics(named: dict[str, list[int]]) -> list[AddPartitionsToTxnTopic]:
    return [AddPartitionsToTxnTopic(name=name, partitions=ids) for name, ids in named.items()]


class Twins:
    """Ours and Kafka's."""

    def __init__(self, ours: Coordinator, kafkas: Coordinator) -> None:
        self.brokers = (ours, kafkas)

    def __call__(self, question: str, *how: Any, **more: Any) -> Any:
        """What both answer to a question of Coordinator's."""
        ours, kafkas = (getattr(each, question)(*how, **more) for each in self.brokers)
        assert ours == kafkas
        return ours

    def wait_for_end(self, name: str) -> None:
        for each in self.brokers:
            each.wait_for_end(name)


@pytest.fixture(scope="module")
def twins(
    kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Twins]:
    folder = tmp_path_factory.mktemp("twins")
    with ExitStack() as brokers:
        ports = brokers.enter_context(held_ports(2))
        ours = Coordinator(ports[0], folder / "ours")
        kafkas = Coordinator(ports[1], folder / "kafkas")
        chroots = [own_chroot(cluster.zookeeper_connect, each) for each in ("ours", "kafkas")]
        brokers.enter_context(broker_by_hand(folder, _properties(ours, chroots[0])))
        brokers.enter_context(kafka_programs.broker("twin", _properties(kafkas, chroots[1])))
        for each in (ours, kafkas):
            each.wait_to_know({1})
            each.create(TOPIC, partitions=3)
            each.create("payments")
            _wait_for_coordinator(each)
        yield Twins(ours, kafkas)


def _properties(broker: Coordinator, zookeeper: str) -> dict[str, object]:
    return {
        "broker.id": 1,
        "listeners": f"PLAINTEXT://127.0.0.1:{broker.port}",
        "zookeeper.connect": zookeeper,
        "log.dirs": broker.data,
        "transaction.state.log.num.partitions": PARTITIONS_OF_STATE,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "transaction.max.timeout.ms": 60_000,
    }


def _wait_for_coordinator(broker: Coordinator) -> None:
    """Its topic is made and led, and it has producer ids: Kafka has none at the first request."""
    request = FindCoordinatorRequest(key_type=1, coordinator_keys=["warm"])
    wait_for(
        "a coordinator",
        lambda: broker.ask(request, FindCoordinatorResponse, 4).coordinators[0].error_code,
        lambda error: error == ErrorCode.NONE,
    )
    wait_for(
        "a producer id",
        lambda: broker.begin(4, "warm").error_code,
        lambda error: error == ErrorCode.NONE,
    )
    wait_for(
        "a coordinator that has all its logs",
        lambda: [each.error_code for each in broker.describe(*EVERYWHERE).transaction_states],
        {ErrorCode.TRANSACTIONAL_ID_NOT_FOUND}.issuperset,
    )


def begun(answer: Any) -> Producer:
    assert answer.error_code == ErrorCode.NONE
    return answer.producer_id, answer.producer_epoch


@pytest.mark.parametrize("version", range(6))
def test_a_producer_begins(twins: Twins, version: int) -> None:
    name = f"begins-{version}"
    first = begun(twins("begin", version, name))
    for timeout_ms in (0, -1, 60_001, 60_000):
        twins("begin", version, name, timeout_ms=timeout_ms)
    twins("begin", version, "")
    twins("describe", name, "nobody", "")
    if version < 3:
        return
    second = first[0], first[1] + 2
    for was in (first, second, (first[0], -1), (-1, 0), (first[0] + 1, 0), (first[0], 99)):
        twins("begin", version, name, was)
    twins("begin", version, f"new-{version}", (12345, 3))
    twins("describe", name)


@pytest.mark.parametrize("version", range(6))
@pytest.mark.parametrize("committed", [True, False])
def test_a_transaction(twins: Twins, version: int, committed: bool) -> None:
    """Each request in the version, or in its last one."""
    name = f"transaction-{version}-{committed}"
    end_version = min(version, 4)
    producer = begun(twins("begin", version, name))
    late = begun(twins("begin", version, name))
    for who in ((producer[0] + 1, 0), producer, (producer[0], 7), NOBODY):
        twins("add", version, name, who, {TOPIC: [0]})
        twins("add_offsets", end_version, name, who)
        twins("end", end_version, name, who, committed=committed)
    twins("add", version, "nobody", late, {TOPIC: [0]})
    twins("add", version, "", late, {TOPIC: [0]})
    twins("end", end_version, "nobody", late, committed=committed)
    twins("end", end_version, name, late, committed=committed)
    twins("add", version, name, late, {TOPIC: [0, 7], "nowhere": [0]})
    twins("describe", name)
    twins("add", version, name, late, {TOPIC: [1]})
    twins("add", version, name, late, {TOPIC: [1]})
    twins("add_offsets", end_version, name, late)
    for as_version in (4, 5):
        asked = [(name, late, {TOPIC: [1, 2]}), ("nobody", late, {TOPIC: [0]})]
        twins("add_as_broker", as_version, asked[:1], verify=True)
        twins("add_as_broker", as_version, asked[1:], verify=True)
    twins("describe", name)
    twins("end", end_version, name, late, committed=committed)
    twins.wait_for_end(name)
    for again in (committed, not committed):
        twins("end", end_version, name, late, committed=again)
    twins("describe", name)
    twins("begin", version, name)


def test_a_transaction_is_fenced(twins: Twins) -> None:
    name = "fenced"
    producer = begun(twins("begin", 5, name))
    twins("add", 3, name, producer, {"payments": [0]})
    twins("begin", 5, name)
    twins.wait_for_end(name)
    twins("end", 4, name, producer, committed=True)
    twins("describe", name)
    twins("begin", 5, name)


@pytest.mark.parametrize("version", range(2))
def test_lists(twins: Twins, version: int) -> None:
    twins("list_those", version)
    twins("list_those", version, state_filters=["Empty"])
    twins("list_those", version, state_filters=["Empty", "Odd", "Dead"])
    twins("list_those", version, producer_id_filters=[1, 2, 99])
    if version:
        for duration_ms in (0, 1_000_000, -5):
            twins("list_those", 1, duration_filter=duration_ms)


def test_records(twins: Twins) -> None:
    """Key and value byte for byte, but for times; of one partition, whose order is one."""
    name = "written"
    for committed in (True, False):
        producer = begun(twins("begin", 5, name))
        twins("add", 3, name, producer, {TOPIC: [2]})
        twins("end", 4, name, producer, committed=committed)
        twins.wait_for_end(name)
    key = b"\0\0" + len(name).to_bytes(2, "big") + name.encode()
    ours, kafkas = (each.records() for each in twins.brokers)
    assert ours[key] == kafkas[key]
    assert len(ours[key]) == 8
    assert ours.keys() == kafkas.keys()
