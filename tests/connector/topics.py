"""The same topics in every cluster, whatever a source may meet in one."""

from __future__ import annotations

from collections.abc import Mapping

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

from tests.every_broker import wait_until_all_tell

FIRST_MS = 1_700_000_000_000
STEP_MS = 1_000
ORDERS, BILLS, LOST, DECIDED = "orders", "bills", "lost", "decided"
_PARTITIONS: Mapping[str, int] = {ORDERS: 3, BILLS: 2, LOST: 1, DECIDED: 1}
_KEPT = {"retention.ms": "-1"}  # the times are old
_RECORDS = 40
_LOST_BEFORE = 10
_TIMEOUT_S = 60


def _send(producer: Producer, topic: str, partition: int, index: int) -> None:
    headers: list[tuple[str, str | bytes | None]] = []
    if index % 3 == 0:
        headers = [("n", b"%d" % index), ("empty", None), ("n", b"again")]
    producer.produce(
        topic,
        None if index % 7 == 0 else b"value %d" % index,
        None if index % 4 == 0 else b"key %d" % (index % 5),
        partition=partition,
        timestamp=FIRST_MS + index * STEP_MS,
        headers=headers,
    )


def fill(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    make(bootstrap, {**_PARTITIONS})
    for topic, partitions in _PARTITIONS.items():
        if topic != DECIDED:
            send_some(bootstrap, topic, partitions, range(_RECORDS))
    gone = admin.delete_records([TopicPartition(LOST, 0, _LOST_BEFORE)])
    for future in gone.values():
        future.result(_TIMEOUT_S)
    _decide(bootstrap)


def send_some(bootstrap: str, topic: str, partitions: int, which: range) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "compression.type": "lz4"})
    for index in which:
        _send(producer, topic, index % partitions, index)
    producer.flush(_TIMEOUT_S)


def make(bootstrap: str, partitions: Mapping[str, int]) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    wanted = [NewTopic(name, count, 1, config=_KEPT) for name, count in partitions.items()]
    for future in admin.create_topics(wanted).values():
        future.result(_TIMEOUT_S)


def widen(bootstrap: str, topic: str, partitions: int) -> None:
    """To so many partitions, which all brokers tell of then."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    if len(admin.list_topics(topic, _TIMEOUT_S).topics[topic].partitions) < partitions:
        for future in admin.create_partitions([NewPartitions(topic, partitions)]).values():
            future.result(_TIMEOUT_S)
    wait_until_all_tell(bootstrap, topic, partitions)


def _decide(bootstrap: str) -> None:
    """Transactions, every other one aborted."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "decides"})
    producer.init_transactions(_TIMEOUT_S)
    for turn in range(6):
        producer.begin_transaction()
        for index in range(5):
            _send(producer, DECIDED, 0, 5 * turn + index)
        if turn % 2:
            producer.abort_transaction(_TIMEOUT_S)
        else:
            producer.commit_transaction(_TIMEOUT_S)
