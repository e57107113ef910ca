"""A Kafka 3.9 and ours, one of them controller: what clients ask of the other is done.

In ZooKeeper mode a Kafka forwards with zookeeper.metadata.migration.enable alone, and wants to know
of a quorum of KRaft then: one that nobody ever sees. Without that key it sends its clients to the
controller, and writes the znodes of topics that they name itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from logquake.cluster.api import Cluster
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.envelope import EnvelopeRequest, EnvelopeResponse
from tests.by_hand import broker_by_hand, own_chroot
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.sessions import LONG_MS
from tests.one_broker import OneBroker, held_ports
from tests.unit.node.requests.test_envelope import CREATE, REFUSED, envelope
from tests.waiting import wait_for

pytestmark = [pytest.mark.maven, pytest.mark.slow]

OURS, KAFKA = 1, 9
FORWARDING = {
    "zookeeper.metadata.migration.enable": "true",
    "controller.quorum.voters": "3000@127.0.0.1:1",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
}


class Mixed:
    """A cluster of two in a chroot of its own: who starts first is controller."""

    def __init__(
        self, programs: KafkaPrograms, zookeeper: str, folder: Path, ports: list[int]
    ) -> None:
        self._programs = programs
        self._zookeeper = own_chroot(zookeeper, folder.name)
        self._folder = folder
        self.ours, self.kafka = (OneBroker(port) for port in ports)

    @contextmanager
    def run_ours(self, **settings: str) -> Iterator[None]:
        with broker_by_hand(self._folder, self._properties(OURS, self.ours) | settings):
            self.ours.wait_to_know({OURS}, {OURS, KAFKA})
            yield

    @contextmanager
    def run_kafka(self, settings: dict[str, str]) -> Iterator[None]:
        with self._programs.broker(
            self._folder.name, self._properties(KAFKA, self.kafka) | settings
        ):
            self.kafka.wait_to_know({KAFKA}, {OURS, KAFKA})
            yield

    def wait_until_whole(self) -> None:
        for broker in (self.ours, self.kafka):
            broker.wait_to_know({OURS, KAFKA})

    def controller(self) -> int:
        return self.ours.metadata().controller_id

    def _properties(self, broker_id: int, broker: OneBroker) -> dict[str, Any]:
        return {
            "broker.id": broker_id,
            "listeners": f"PLAINTEXT://127.0.0.1:{broker.port}",
            "log.dirs": self._folder / f"data-{broker_id}",
            "zookeeper.connect": self._zookeeper,
            "default.replication.factor": 2,
            "num.partitions": 2,
            "logquake.auto.create.max.wait.ms": 60_000,  # the controller's word comes
            "zookeeper.session.timeout.ms": LONG_MS,
            "offsets.topic.num.partitions": 3,
            "offsets.topic.replication.factor": 2,
        }


@pytest.fixture
def mixed(kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path: Path) -> Iterator[Mixed]:
    with held_ports(2) as ports:
        yield Mixed(kafka_programs, cluster.zookeeper_connect, tmp_path, ports)


def partitions_of(broker: OneBroker, topic: str) -> int:
    return len(broker.topic(topic).partitions)


def wait_for_partitions(broker: OneBroker, topic: str, count: int) -> None:
    wait_for(f"{topic} of {count}", lambda: partitions_of(broker, topic), count.__eq__)


def test_what_clients_ask_of_a_forwarding_kafka_is_done(mixed: Mixed) -> None:
    with mixed.run_ours(), mixed.run_kafka(FORWARDING):
        mixed.wait_until_whole()
        assert mixed.controller() == OURS
        kafka = mixed.kafka
        assert kafka.topic("named").error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        wait_for_partitions(kafka, "named", 2)
        assert kafka.create("created", 2, 2) == ("NONE", None)
        assert kafka.create("created", 2, 2)[0] == "TOPIC_ALREADY_EXISTS"
        assert kafka.create("no spaces")[0] == "INVALID_TOPIC_EXCEPTION"
        assert kafka.delete("created") == "NONE"
        assert kafka.delete("created") == "UNKNOWN_TOPIC_OR_PARTITION"


def test_a_kafka_that_does_not_forward_makes_the_topics_that_clients_name(mixed: Mixed) -> None:
    with mixed.run_ours(), mixed.run_kafka({}):
        mixed.wait_until_whole()
        assert mixed.controller() == OURS
        assert mixed.kafka.create("created")[0] == "NOT_CONTROLLER"
        assert mixed.kafka.topic("named").error_code == ErrorCode.LEADER_NOT_AVAILABLE
        wait_for_partitions(mixed.kafka, "named", 2)


def test_topics_that_clients_of_ours_name_are_made_while_kafka_is_controller(mixed: Mixed) -> None:
    with mixed.run_kafka({}), mixed.run_ours():
        mixed.wait_until_whole()
        assert mixed.controller() == KAFKA
        ours = mixed.ours
        for topic, partitions in (("named", 2), ("__consumer_offsets", 3)):
            assert ours.topic(topic).error_code == ErrorCode.LEADER_NOT_AVAILABLE
            wait_for_partitions(ours, topic, partitions)
        assert ours.topic("__transaction_state").error_code == ErrorCode.INVALID_REPLICATION_FACTOR


def test_envelopes_are_refused_as_by_a_forwarding_kafka(mixed: Mixed) -> None:
    """It has to be controller itself, else it says that it is not."""
    with mixed.run_kafka(FORWARDING):
        assert [said_of(mixed.kafka, each) for each, _ in REFUSED] == [code for _, code in REFUSED]
        assert said_of(mixed.kafka, envelope(CREATE)) == ErrorCode.NONE


def said_of(broker: OneBroker, content: EnvelopeRequest) -> int:
    answer: EnvelopeResponse = broker.ask(content, EnvelopeResponse, 0)
    return answer.error_code
