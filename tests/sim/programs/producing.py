"""A program that produces with the client's own core: its accumulator, its sender, its ids."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from logquake.client.errors import ClientError
from logquake.client.network.links import Links
from logquake.client.network.metadata import Metadata, MetadataSettings
from logquake.client.network.metadata_updates import MetadataUpdates
from logquake.client.network.network_client import NetworkClient
from logquake.client.network.settings import NetworkSettings
from logquake.client.producer.accumulator import Accumulator
from logquake.client.producer.appended import RECORDS, Appended
from logquake.client.producer.delivery import Delivery
from logquake.client.producer.idempotence.idempotence import Idempotence
from logquake.client.producer.memory import Lease
from logquake.client.producer.sender import Sender
from logquake.client.producer.settings import BatchingSettings, SendingSettings
from logquake.wire.records import Record
from logquake.wire.topic_partition import TopicPartition
from tests.sim.client_driver import SimDriver
from tests.sim.history import Acked
from tests.sim.host import Host, HostScheduler
from tests.sim.network import Fabric
from tests.sim.programs.produce_watch import ProduceWatch
from tests.sim.programs.records import Told
from tests.sim.settings import PORT
from tests.sim.world import World

REQUEST_TIMEOUT_MS = 700
LONG_MS, SHORT_MS = 600_000, 1_200  # delivery.timeout.ms: some runs have producers that give up
SHORT_SHARE = 0.3
STICKY_SHARE = 0.3  # of the records
BURST_SHARE, BURST = 0.1, 15  # of the times that there is something to send; records
MOST_IN_FLIGHT = 5


class _Unsent(NamedTuple):
    """A record that waits for memory."""

    partition: int | None
    value: bytes
    lease: Lease


class ProducingProgram:
    """Idempotent, acks=all. What it sends is drawn from the seed, and how its producer is set."""

    def __init__(
        self,
        name: str,
        partitions: Sequence[TopicPartition],
        fabric: Fabric,
        world: World,
        rng: Random,
    ) -> None:
        host, random = Host(name, fabric.clock), Random(rng.getrandbits(64))
        self.name = name
        self.rng = rng
        self.is_stopped = False
        self._world = world
        self._scheduler = HostScheduler(host)
        self._partitions = list(partitions)
        self._topic = partitions[0].topic
        self._watch = ProduceWatch(name, world, self._scheduler)
        self._patience_ms = SHORT_MS if rng.random() < SHORT_SHARE else LONG_MS
        self._batching = drawn_batching(rng, self._patience_ms)
        network = NetworkSettings(
            client_id=name,
            request_timeout_ms=REQUEST_TIMEOUT_MS,
            max_in_flight_requests=rng.randint(1, MOST_IN_FLIGHT),
        )
        bootstrap = [(machine.endpoint.host, PORT) for machine in world.machines.values()]
        numbering, asking = Idempotence(), MetadataSettings()
        self._accumulator = Accumulator(self._batching, numbering, random)
        self._metadata = Metadata(asking, bootstrap, random)
        links = Links(network, random, on_ended=self._metadata.request_update)
        client = NetworkClient(network, links, self._metadata, random)
        self._sender = Sender(
            SendingSettings(
                request_timeout_ms=REQUEST_TIMEOUT_MS,
                is_one_at_a_time=network.max_in_flight_requests == 1,
            ),
            self._batching,
            self._accumulator,
            client,
            self._metadata,
            MetadataUpdates(asking, client, self._metadata),
            numbering,
        )
        self._driver = SimDriver(fabric, host, links, self._sender, self._watch)
        self._records = 0
        self._unsent: list[_Unsent] = []

    # What the simulation wants to know

    @property
    def sent(self) -> set[int]:
        """The values of all batches that left."""
        return self._watch.sent

    @property
    def acked(self) -> list[Acked]:
        return self._watch.acked

    @property
    def is_finished(self) -> bool:
        """Everything that was sent was told of, and nothing new will be sent."""
        return self.is_stopped and not self._accumulator.has_incomplete

    # Its life

    def start(self) -> None:
        if self.is_stopped:
            return
        self._metadata.use(self._topic, self._scheduler.now_ms())
        if not self._unsent:
            self._unsent = [self._drawn() for _ in range(self._how_many())]
        while self._unsent and self._send(self._unsent[0]):
            del self._unsent[0]
        self._driver.go_on()
        self._scheduler.call_later(self.rng.randint(1, 120), self.start)

    def finish(self) -> None:
        """Send nothing new, and the rest without waiting for more."""
        self.is_stopped = True
        self._accumulator.close()
        self._driver.go_on()

    def _how_many(self) -> int:
        """Once in a while so many that several batches of a partition are in flight."""
        return BURST if self.rng.random() < BURST_SHARE else self.rng.randint(1, 3)

    def _drawn(self) -> _Unsent:
        self._records += 1
        place = self.rng.choice(self._partitions)
        value = f"{self.name}-{self._records}".encode()
        is_sticky = self.rng.random() < STICKY_SHARE
        return _Unsent(None if is_sticky else place.partition, value, Lease())

    def _send(self, unsent: _Unsent) -> bool:
        """Whether there was memory for it, and, if it matters, the topic is known."""
        record = Record(0, self._scheduler.wall_ms(), None, unsent.value, ())
        if unsent.lease.is_asked_for and not unsent.lease.is_granted:
            return False
        told = self._sender.leaders().topics.get(self._topic)
        if unsent.partition is None and not (told and told.all):
            return False
        appended = self._accumulator.append(
            RECORDS,
            self._topic,
            unsent.partition,
            record,
            self._sender.leaders(),
            self._scheduler.now_ms(),
            lease=unsent.lease,
        )
        if appended is None:
            return False
        if not unsent.lease.is_used:
            self._accumulator.memory.release(unsent.lease)
        self._hand(appended, unsent.value)
        return True

    def _hand(self, appended: Appended[Delivery], value: bytes) -> None:
        now_ms = self._scheduler.now_ms()
        handed = self._world.records.hand(
            self.name, appended.place, value, now_ms, self._patience_ms
        )

        def told() -> None:
            outcome = appended.delivery.outcome
            if outcome is None:
                raise RuntimeError("told before it is done")
            if isinstance(outcome, ClientError):
                self._world.records.doubted.add((self.name, handed.place))
            self._world.tell(Told(handed, outcome, self._scheduler.now_ms()))

        appended.delivery.when_done(told)


def drawn_batching(rng: Random, patience_ms: int) -> BatchingSettings:
    """Batches of some records; in some runs the memory is short."""
    return BatchingSettings(
        batch_bytes=rng.choice([100, 150, 400]),
        linger_ms=rng.choice([0, 0, 5, 50]),
        buffer_bytes=rng.choice([1_000, 1 << 20]),
        delivery_timeout_ms=patience_ms,
        retry_backoff_ms=rng.choice([10, 100]),
    )
