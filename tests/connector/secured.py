"""Rows written and read where brokers ask who comes: the same keys let either format in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.kafka_peer import NAME as KAFKA
from benchmarks.own_cluster import NAME as OURS
from logquake.client import Admin
from logquake.client.admin import NewTopic
from logquake.client.errors import ClientError
from logquake.cluster.api import Cluster
from tests.by_hand import broker_by_hand, own_chroot
from tests.compat.kafka_programs import programs_in
from tests.compat.secured_brokers import PASSWORD, PROTOCOLS, Brokers, brokers, for_java
from tests.connector.outcomes import Case, Done
from tests.connector.reads import plain
from tests.waiting import wait_for

_BROKER_ID = 1
_WAYS = [
    ("OPEN", "PLAIN"),
    ("OPEN", "OAUTHBEARER"),
    ("CLOSED", "SCRAM-SHA-256"),
    ("CLOSED", "SCRAM-SHA-512"),
    ("MUTUAL", None),
]
_ROWS = 30
_numbers = count()


@contextmanager
def secured_broker(name: str) -> Iterator[Brokers]:
    """One, of ours or of Kafka's, that lets everybody in who says who he is."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        cluster = stack.enter_context(Cluster(brokers=1))
        zookeeper = own_chroot(cluster.zookeeper_connect, "asks")
        one = stack.enter_context(brokers(folder, zookeeper, _BROKER_ID))
        stack.enter_context(_RUN[name](folder, one.properties(_BROKER_ID, folder / "data")))
        admin = stack.enter_context(Admin(_keys(one, "OPEN", "PLAIN")))
        wait_for("broker", lambda: admin.list_topics().result() or True, unready=(ClientError,))
        yield one


def _kafkas(folder: Path, properties: Mapping[str, object]) -> AbstractContextManager[object]:
    return programs_in("LOGQUAKE_KAFKA_LIBS", folder).broker("asks", properties)


_RUN: Mapping[str, Callable[..., AbstractContextManager[object]]] = {
    OURS: broker_by_hand,
    KAFKA: _kafkas,
}


def secured_cases(spark: Any, one: Brokers) -> list[Case]:
    cases = [
        Case(
            f"secured: {PROTOCOLS[listener]}, {mechanism}",
            partial(_there_and_back, spark, one, keys),
        )
        for listener, mechanism in _WAYS
        for keys in [_keys(one, listener, mechanism)]
    ]
    wrong = _keys(one, "CLOSED", "PLAIN")
    wrong["sasl.jaas.config"] = wrong["sasl.jaas.config"].replace(PASSWORD, "loud")
    stranger = _keys(one, "CLOSED", "PLAIN")
    del stranger["ssl.truststore.location"]
    return [
        *cases,
        Case("secured: a wrong password", partial(_there_and_back, spark, one, wrong)),
        Case("secured: an authority not trusted", partial(_there_and_back, spark, one, stranger)),
    ]


def _keys(one: Brokers, listener: str, mechanism: str | None) -> dict[str, str]:
    return {"bootstrap.servers": one.server(listener), **for_java(one, listener, mechanism)}


def _there_and_back(spark: Any, one: Brokers, keys: Mapping[str, str], of_format: str) -> Done:
    topic = f"secured-{next(_numbers)}"
    with Admin(_keys(one, "OPEN", "PLAIN")) as admin:
        admin.create_topics([NewTopic(topic, 1, 1)])[topic].result()
    options = {f"kafka.{key}": value for key, value in keys.items()}
    rows = spark.range(_ROWS).repartition(1).selectExpr("cast(id as string) value")
    rows.write.format(of_format).mode("append").options(**options, topic=topic).save()
    frame = spark.read.format(of_format).options(**options, subscribe=topic).load()
    return sorted(map(plain, frame.select("partition", "offset", "value").collect()))
