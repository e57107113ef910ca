"""librdkafka's mock cluster: brokers in a thread of this process, which fail as a test orders.

It comes with confluent-kafka. What it is strict about is little: sequences, epochs and generations
are not looked at. It answers some errors with nulls that no version of Kafka's has, and so can be
ordered neither to refuse JoinGroup nor SyncGroup, and groups of several members do without it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import confluent_kafka
import pytest

from logquake.wire.api import ApiKey

LOST = -195  # RD_KAFKA_RESP_ERR__TRANSPORT: the mock ends the connection instead of an answer

_PRODUCER = 0  # RD_KAFKA_PRODUCER: some client has to own the cluster
_ERROR_BYTES = 512
# It announces versions of these that it does not read.
_NEWEST_READ = {
    ApiKey.JOIN_GROUP: 5,
    ApiKey.HEARTBEAT: 3,
    ApiKey.SYNC_GROUP: 3,
    ApiKey.LEAVE_GROUP: 1,
}


class MockCluster:
    """Its brokers are 1, 2 and so on. A topic that is asked about is made, if it is not there."""

    def __init__(self, library: ctypes.CDLL, cluster: int) -> None:
        self._library = library
        self._cluster = ctypes.c_void_p(cluster)
        self._killed: set[int] = set()
        self._slowed: set[int] = set()

    @property
    def servers(self) -> str:
        bootstraps = self._library.rd_kafka_mock_cluster_bootstraps
        bootstraps.restype = ctypes.c_char_p
        found: bytes = bootstraps(self._cluster)
        return found.decode()

    def create(self, topic: str, partitions: int, leader: int) -> None:
        self._do("topic_create", topic.encode(), partitions, 3)
        for partition in range(partitions):
            self.lead(topic, partition, leader)

    def lead(self, topic: str, partition: int, leader: int) -> None:
        self._do("partition_set_leader", topic.encode(), partition, leader)

    def coordinate(self, kind: str, key: str, broker: int) -> None:
        """``kind`` is "group" or "transaction"."""
        self._do("coordinator_set", kind.encode(), key.encode(), broker)

    def kill(self, broker: int) -> None:
        """Its connections end, and no others can be made."""
        self._do("broker_set_down", broker)
        self._killed.add(broker)

    def start(self, broker: int) -> None:
        self._do("broker_set_up", broker)
        self._killed.discard(broker)

    def slow_down(self, broker: int, round_trip_ms: int) -> None:
        self._do("broker_set_rtt", broker, round_trip_ms)
        self._slowed.add(broker)

    def refuse(self, api: ApiKey, *errors: int) -> None:
        """The next requests of that kind are answered with these errors, or not at all (LOST)."""
        array = (ctypes.c_int * len(errors))(*errors)
        push = self._library.rd_kafka_mock_push_request_errors_array
        push(self._cluster, ctypes.c_int16(api), ctypes.c_size_t(len(errors)), array)

    def recover(self) -> None:
        """All brokers are up and fast, and what is still to be refused is not.

        Only what was done is undone: the mock takes up to a second to hear of it.
        """
        for api in ApiKey:
            self._library.rd_kafka_mock_clear_request_errors(self._cluster, ctypes.c_int16(api))
        for broker in list(self._killed):
            self.start(broker)
        for broker in list(self._slowed):
            self.slow_down(broker, 0)
        self._slowed.clear()

    def announce(self, api: ApiKey, newest: int) -> None:
        versions = (ctypes.c_int16(0), ctypes.c_int16(newest))
        self._do("set_apiversion", ctypes.c_int16(api), *versions)

    def begin_groups_after(self, delay_ms: int) -> None:
        self._library.rd_kafka_mock_group_initial_rebalance_delay_ms(self._cluster, delay_ms)

    def _do(self, what: str, *arguments: object) -> None:
        failed = getattr(self._library, f"rd_kafka_mock_{what}")(self._cluster, *arguments)
        assert failed == 0, (what, arguments, failed)


@contextmanager
def mock_cluster(brokers: int) -> Iterator[MockCluster]:
    """Skips the test where confluent-kafka does not bring librdkafka along."""
    library = _library()
    said = ctypes.create_string_buffer(_ERROR_BYTES)
    size = ctypes.c_size_t(_ERROR_BYTES)
    settings = ctypes.c_void_p(library.rd_kafka_conf_new())
    library.rd_kafka_conf_set(settings, b"log_level", b"0", said, size)
    owner = ctypes.c_void_p(library.rd_kafka_new(_PRODUCER, settings, said, size))
    assert owner, said.value
    cluster = library.rd_kafka_mock_cluster_new(owner, brokers)
    try:
        mock = MockCluster(library, cluster)
        mock.begin_groups_after(100)
        for api, newest in _NEWEST_READ.items():
            mock.announce(api, newest)
        yield mock
    finally:
        library.rd_kafka_mock_cluster_destroy(ctypes.c_void_p(cluster))
        library.rd_kafka_destroy(owner)


def _library() -> ctypes.CDLL:
    found = sorted(Path(confluent_kafka.__file__).parent.with_suffix(".libs").glob("librdkafka*"))
    if not found:
        pytest.skip("confluent-kafka has no librdkafka of its own")
    library = ctypes.CDLL(str(found[0]))
    for makes in ("conf_new", "new", "mock_cluster_new"):
        getattr(library, f"rd_kafka_{makes}").restype = ctypes.c_void_p
    return library
