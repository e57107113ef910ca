"""Brokers of ours and of several releases of Kafka's, that the same client tests are held with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from logquake.wire.errors import ErrorCode
from logquake.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from logquake.wire.sentinels import CONSUMER_REPLICA_ID, LATEST_TIMESTAMP
from tests.by_hand import broker_by_hand, own_chroot
from tests.compat.kafka_programs import KafkaPrograms, programs_in
from tests.compat.twins import TWIN_ID, Twin, places_of
from tests.everything import IS_ASKED_FOR, WHY_NOT
from tests.one_broker import held_ports
from tests.waiting import wait_for

KINDS = ("ours", "3.9", "4.1")
"""4.1 has no ZooKeeper."""
WITH_OLD = (*KINDS, "2.4")
"""2.4 speaks few of the requests' newest versions."""

_CLUSTER_ID = "TG9ncXVha2UtdGVzdHMhIQ"  # of 16 bytes, as KRaft wants it

Properties = Mapping[str, object]


class Releases:
    """A broker of each kind, started when it is first asked for, all with the same properties."""

    def __init__(
        self, started: ExitStack, folder: Path, zookeeper: str, properties: Properties
    ) -> None:
        self._started = started
        self._folder = folder
        self._zookeeper = zookeeper
        self._properties = {"broker.id": TWIN_ID, **properties}
        self._twins: dict[str, Twin] = {}

    def __getitem__(self, kind: str) -> Twin:
        """Skips the test where there are no jars of that release."""
        if kind not in self._twins:
            starts: dict[str, Callable[[], AbstractContextManager[Twin]]] = {
                "ours": self._ours,
                "3.9": self._the_present_one,
                "2.4": lambda: self._beside_zookeeper("LOGQUAKE_KAFKA_2_LIBS"),
                "4.1": self._by_itself,
            }
            twin = self._started.enter_context(starts[kind]())
            twin.wait_to_know({TWIN_ID})
            self._twins[kind] = twin
        return self._twins[kind]

    @contextmanager
    def _ours(self) -> Iterator[Twin]:
        with self._twin("ours") as twin:
            folder = self._folder / "ours"
            folder.mkdir()
            with broker_by_hand(folder, self._properties | places_of(twin, folder / "data")):
                yield twin

    def _the_present_one(self) -> AbstractContextManager[Twin]:
        """Its jars are there for other tests anyway."""
        if not IS_ASKED_FOR:
            pytest.skip(WHY_NOT)
        return self._beside_zookeeper("LOGQUAKE_KAFKA_LIBS")

    @contextmanager
    def _beside_zookeeper(self, jars: str) -> Iterator[Twin]:
        folder = self._folder / jars.lower()
        programs = self._programs(jars, folder)
        with self._twin(folder.name) as twin:
            properties = self._properties | places_of(twin, folder / "data")
            with programs.broker("broker", properties):
                yield twin

    @contextmanager
    def _by_itself(self) -> Iterator[Twin]:
        folder = self._folder / "kraft"
        programs = self._programs("LOGQUAKE_KAFKA_4_LIBS", folder)
        with held_ports(2) as (port, controller):
            properties = {
                **self._properties,
                **kraft(TWIN_ID, controller),
                "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
                "log.dirs": folder / "data",
            }
            with programs.broker("broker", storage_formatted(programs, properties)):
                yield Twin(port, "")

    def _programs(self, jars: str, folder: Path) -> KafkaPrograms:
        folder.mkdir(exist_ok=True)  # each test of a release that is not there asks again
        return programs_in(jars, folder)

    @contextmanager
    def _twin(self, name: str) -> Iterator[Twin]:
        with held_ports(1) as (port,):
            yield Twin(port, own_chroot(self._zookeeper, f"{self._folder.name}-{name}"))


@contextmanager
def releases(folder: Path, zookeeper: str, properties: Properties) -> Iterator[Releases]:
    """``zookeeper`` is a server that runs, for those that need one."""
    with ExitStack() as started:
        yield Releases(started, folder, zookeeper, properties)


def make_topic(twin: Twin, name: str, partitions: int) -> None:
    """Its leaders serve. In KRaft a broker tells of partitions before it leads them: of an
    idempotent producer's first batches it may refuse one, and take the next.
    """
    assert twin.create(name, partitions) == ("NONE", None)
    asked = [
        ListOffsetsPartition(partition_index=each, timestamp=LATEST_TIMESTAMP)
        for each in range(partitions)
    ]
    request = ListOffsetsRequest(
        replica_id=CONSUMER_REPLICA_ID, topics=[ListOffsetsTopic(name=name, partitions=asked)]
    )

    def codes() -> set[int]:
        (topic,) = twin.ask(request, ListOffsetsResponse, 5).topics
        return {each.error_code for each in topic.partitions}

    wait_for(f"leaders of {name}", codes, lambda found: found == {ErrorCode.NONE})


def kraft(node_id: int, controller: int) -> dict[str, object]:
    """Of a broker that is its own controller, on that port."""
    return {
        "node.id": node_id,
        "process.roles": "broker,controller",
        "controller.quorum.voters": f"{node_id}@127.0.0.1:{controller}",
        "controller.listener.names": "CONTROLLER",
    }


def storage_formatted(programs: KafkaPrograms, properties: Properties) -> Properties:
    """As a broker of 4.1 wants its folders."""
    file = str(programs.settings("format", properties))
    programs.complete("kafka.tools.StorageTool", "format", "-t", _CLUSTER_ID, "-c", file)
    return properties
