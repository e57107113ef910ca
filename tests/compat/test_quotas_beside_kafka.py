"""Client quotas: what a real Kafka answers, and writes to ZooKeeper, is what was stored.

Ours is held against the same in tests/unit/node/requests/test_client_quotas.py. UPDATE_VECTORS=1
stores Kafka's answers anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from kazoo.client import KazooClient

from logquake.cluster.api import Cluster
from logquake.wire.api import ApiKey, response_type
from logquake.wire.schema import decode, encode
from tests.compat.config_cases import Case
from tests.compat.lone_kafka import LoneKafka, Wire
from tests.compat.quota_cases import cases, readable, store, stored, znodes

pytestmark = [pytest.mark.slow, pytest.mark.maven]


@pytest.fixture
def zookeeper(cluster: Cluster) -> Iterator[KazooClient]:
    client = KazooClient(f"{cluster.zookeeper_connect}/alone")
    client.start()
    yield client
    client.stop()
    client.close()


@pytest.fixture
def wire(lone_kafka: LoneKafka) -> Iterator[Wire]:
    """One for all cases: some limit how many connections may come from here."""
    host, port = lone_kafka.servers.split(":")
    with closing(Wire(host, int(port))) as wire:
        yield wire


def outcome(wire: Wire, zookeeper: KazooClient, case: Case) -> list[str]:
    schema = type(case.request).__schema__
    reply_type = response_type(ApiKey(schema.key or 0))
    assert reply_type is not None
    body = encode(case.request, case.version)
    is_flexible = case.version in schema.flexible
    answer = wire.send(schema.key or 0, case.version, body, flexible=is_flexible)
    answered = readable(decode(reply_type, case.version, memoryview(bytearray(answer))))
    return answered + list(
        znodes(zookeeper.get_children, lambda path: zookeeper.get(path)[0] or b"")
    )


def test_a_real_kafka_answers_and_writes_as_was_stored(
    wire: Wire,
    zookeeper: KazooClient,
    record_property: Callable[[str, object], None],
) -> None:
    if os.environ.get("UPDATE_VECTORS"):
        store({case.name: outcome(wire, zookeeper, case) for case in cases()})
    expected = stored()
    for case in cases() if not os.environ.get("UPDATE_VECTORS") else ():
        assert outcome(wire, zookeeper, case) == expected[case.name], case.name
        record_property("answers of a real Kafka on client quotas are as stored", 1)
