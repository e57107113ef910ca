"""The source and the sink where brokers ask who comes and what he may: Kafka's own keys as options.

What Spark calls is called here without its JVM; the last test asks Spark itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest

from logquake.client import Admin, Consumer
from logquake.client.admin import NewTopic
from logquake.client.errors import ClientError
from logquake.cluster.api import Cluster
from logquake.wire.acls import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourceType,
)
from logquake.wire.principals import KafkaPrincipal
from logquake.wire.topic_partition import TopicPartition
from tests.by_hand import broker_by_hand, own_chroot
from tests.compat.secured_brokers import BROKER_PASSWORD, USER, Brokers, brokers, for_java
from tests.compat.sparks import SPARKS_WARNINGS
from tests.waiting import wait_for

pa = pytest.importorskip("pyarrow", reason="the extra logquake[spark] is not installed")

from logquake.pipeline.asking import (  # noqa: E402  # it needs pyarrow, as the others
    BrokersError,
    administering,
    producing,
)
from logquake.pipeline.sink.exactly_once import write_once  # noqa: E402
from logquake.pipeline.sink.marks import Task  # noqa: E402
from logquake.pipeline.sink.options import WriteOptions, parse_write_options  # noqa: E402
from logquake.pipeline.sink.writing import write_at_least_once  # noqa: E402
from logquake.pipeline.source.batch import LogquakeReader  # noqa: E402
from logquake.pipeline.source.options import parse_options  # noqa: E402

pytestmark = [pytest.mark.slow, *SPARKS_WARNINGS]

WAYS = [("OPEN", "SCRAM-SHA-256"), ("CLOSED", "PLAIN"), ("MUTUAL", None)]
AUTHORIZED = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:broker",
    "auto.create.topics.enable": "false",
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
}
VALUES = [b"%d" % number for number in range(50)]
ROWS = pa.RecordBatch.from_arrays([pa.array(VALUES, pa.binary())], ["value"])
_numbers = count()

Right = tuple[str, ResourceType, AclOperation]
DESCRIBE = ("topic", ResourceType.TOPIC, AclOperation.DESCRIBE)
READ = ("topic", ResourceType.TOPIC, AclOperation.READ)
WRITE = ("topic", ResourceType.TOPIC, AclOperation.WRITE)
WRITE_ID = ("id", ResourceType.TRANSACTIONAL_ID, AclOperation.WRITE)
READ_GROUP = ("id", ResourceType.GROUP, AclOperation.READ)
ALL = (READ, WRITE, WRITE_ID, READ_GROUP)


@dataclass(frozen=True)
class Place:
    """A topic of one partition, and who comes with which rights."""

    brokers: Brokers
    topic: str

    def keys(self, listener: str = "CLOSED", mechanism: str | None = "PLAIN") -> dict[str, str]:
        return {
            "bootstrap.servers": self.brokers.server(listener),
            **for_java(self.brokers, listener, mechanism),
        }

    def options(self, keys: Mapping[str, str] | None = None, **others: str) -> dict[str, str]:
        return {f"kafka.{key}": value for key, value in (keys or self.keys()).items()} | others

    @property
    def task(self) -> Task:
        return Task(f"load-of-{self.topic}", 0, 0)

    def grant(self, rights: Iterable[Right]) -> None:
        names = {"topic": self.topic, "id": self.task.name}
        entries = (
            AclBinding(
                ResourcePattern(kind, names[of], PatternType.LITERAL),
                AccessControlEntry(
                    KafkaPrincipal("User", USER), "*", operation, AclPermissionType.ALLOW
                ),
            )
            for of, kind, operation in rights
        )
        with Admin(brokers_keys(self.brokers)) as admin:
            for granted in admin.create_acls(entries).values():
                granted.result()

    def read(self, keys: Mapping[str, str] | None = None) -> list[bytes]:
        reader = LogquakeReader(parse_options(self.options(keys, subscribe=self.topic)))
        return [
            value
            for partition in reader.partitions()
            for batch in reader.read(partition)
            for value in batch.column("value").to_pylist()
        ]

    def write(self, guarantee: str, keys: Mapping[str, str] | None = None) -> None:
        given = self.options(keys, topic=self.topic, deliveryGuarantee=guarantee)
        options = parse_write_options(given)
        if options.is_exactly_once:
            self._write_once(options)
            return
        with producing(options.producer, "writing") as producer:
            write_at_least_once(producer, [ROWS], self.topic)

    def _write_once(self, options: WriteOptions) -> None:
        ids = {**options.producer, "transactional.id": self.task.name}
        with (
            administering(options.admin, "looking for marks") as admin,
            producing(ids, "writing") as producer,
        ):
            write_once(producer, admin, self.task, [ROWS], self.topic)

    def committed(self) -> int:
        """Records that readers of committed ones see, once no transaction is open."""
        place = TopicPartition(self.topic, 0)
        keys = brokers_keys(self.brokers) | {"auto.offset.reset": "earliest"}
        isolated = keys | {"isolation.level": "read_committed"}
        with Consumer(keys) as every, Consumer(isolated) as committed:

            def ends() -> list[int]:
                return [each.end_offsets([place])[place] for each in (every, committed)]

            end, _ = wait_for("end of transactions", ends, lambda both: both[0] == both[1])
            committed.assign([place])
            found = 0
            while committed.position(place) < end:
                found += len(committed.poll(1_000))
            return found


def brokers_keys(brokers: Brokers) -> dict[str, str]:
    """Of a client that may do all."""
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    return {
        "bootstrap.servers": brokers.server("OPEN"),
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{module} required username="broker" password="{BROKER_PASSWORD}";',
    }


@pytest.fixture(scope="module")
def guarded(
    spark: Any,  # noqa: ARG001 - what it leaves is not the cluster's: it begins before
    cluster: Cluster,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Brokers]:
    folder = tmp_path_factory.mktemp("guarded")
    with ExitStack() as stack:
        zookeeper = own_chroot(cluster.zookeeper_connect, "guarded")
        one = stack.enter_context(brokers(folder, zookeeper, 5))
        properties = one.properties(5, folder / "data") | AUTHORIZED
        stack.enter_context(broker_by_hand(folder, properties))
        admin = stack.enter_context(Admin(brokers_keys(one)))
        wait_for("broker", lambda: admin.list_topics().result() or True, unready=(ClientError,))
        yield one


@pytest.fixture
def place(guarded: Brokers) -> Place:
    topic = f"guarded-{next(_numbers)}"
    with Admin(brokers_keys(guarded)) as admin:
        admin.create_topics([NewTopic(topic, 1, 1)])[topic].result()
    return Place(guarded, topic)


@pytest.mark.parametrize(("listener", "mechanism"), WAYS)
def test_rows_are_written_once_and_read_by_whoever_may(
    place: Place, listener: str, mechanism: str | None
) -> None:
    place.grant(ALL)
    keys = place.keys(listener, mechanism)
    for _ in range(2):
        place.write("exactly-once", keys)
    assert place.read(keys) == VALUES


def test_tokens_are_those_of_a_function_that_an_option_names(place: Place) -> None:
    place.grant(ALL)
    keys = {
        **place.keys("OPEN", "OAUTHBEARER"),
        "sasl.login.callback.handler.class": "tests.compat.secured_brokers:bearers_token",
    }
    del keys["sasl.jaas.config"]
    place.write("exactly-once", keys)
    assert place.read(keys) == VALUES


@pytest.mark.parametrize(
    ("rights", "why"),
    [
        ((), r"planning a read at \S+: a right on the topic is missing .*: TOPIC_AUTH"),
        ((DESCRIBE,), r"reading guarded-\d+-0 at \S+: a right on the topic is missing .*: TOPIC_A"),
    ],
)
def test_a_read_without_the_right_says_which_is_missing(
    place: Place, rights: tuple[Right, ...], why: str
) -> None:
    place.grant((WRITE,))
    place.write("at-least-once")
    other = Place(place.brokers, place.topic) if rights else _untouched(place)
    other.grant(rights)
    with pytest.raises(BrokersError, match=why):
        other.read()


def _untouched(place: Place) -> Place:
    """Another topic, on which nobody has a right."""
    topic = f"{place.topic}-untouched"
    with Admin(brokers_keys(place.brokers)) as admin:
        admin.create_topics([NewTopic(topic, 1, 1)])[topic].result()
    return Place(place.brokers, topic)


@pytest.mark.parametrize(
    ("guarantee", "missing", "why"),
    [
        ("at-least-once", WRITE, "writing at .*: a right on the topic is missing"),
        ("exactly-once", WRITE, "writing at .*: a right on the topic is missing"),
        ("exactly-once", READ, "writing at .*: a right on the topic is missing"),
        ("exactly-once", WRITE_ID, "the right Write on the transactional id is missing"),
        ("exactly-once", READ_GROUP, "the right Read on the group is missing"),
    ],
)
def test_a_write_without_a_right_says_which_is_missing_and_writes_nothing(
    place: Place, guarantee: str, missing: Right, why: str
) -> None:
    place.grant(right for right in (*ALL, DESCRIBE) if right != missing)
    _untouched(place).grant((WRITE,))  # who may write anywhere may have a producer id
    with pytest.raises(BrokersError, match=why):
        place.write(guarantee)
    assert place.committed() == 0


@pytest.mark.parametrize("guarantee", ["at-least-once", "exactly-once"])
def test_that_a_topic_is_not_known_is_said_and_nothing_is_left_open(
    place: Place, guarantee: str
) -> None:
    unknown = Place(place.brokers, f"{place.topic}-unknown")
    unknown.grant(ALL)
    with pytest.raises(
        BrokersError, match=r"writing at \S+: topic guarded-\d+-unknown is not known"
    ):
        unknown.write(guarantee, unknown.keys() | {"max.block.ms": "1000"})
    with pytest.raises(BrokersError, match=r"planning .*: there is no such topic or partition"):
        unknown.read()


def test_who_is_not_let_in_is_told_so_at_once(place: Place) -> None:
    keys = place.keys() | {"sasl.jaas.config": place.keys()["sasl.jaas.config"].replace("hush", "")}
    for attempt in (place.read, lambda keys: place.write("exactly-once", keys)):
        with pytest.raises(BrokersError, match="Authentication failed") as told:
            attempt(keys)
        assert "alice" not in str(told.value)


def test_spark_hands_the_keys_on_and_ends_with_the_line(spark: Any, place: Place) -> None:
    from pyspark.errors import PySparkException

    rows = spark.range(10).selectExpr("cast(id as string) value")
    place.grant((WRITE, DESCRIBE))
    options = place.options(topic=place.topic)
    rows.write.format("logquake").mode("append").options(**options).save()
    read = spark.read.format("logquake").options(**place.options(subscribe=place.topic)).load()
    with pytest.raises(PySparkException) as refused:
        read.count()
    lines = [line for line in str(refused.value).splitlines() if "Error: " in line]
    assert f"reading {place.topic}-0 at {place.brokers.server('CLOSED')}" in lines[-1]
    assert "a right on the topic is missing" in lines[-1]
    place.grant((READ,))
    assert read.count() == 10
