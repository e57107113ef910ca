"""A program that copies what it reads exactly once: records and offsets are of one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import ClassVar

from logquake.client.consumer.consuming import Consuming
from logquake.client.consumer.fetch.taken import Taken
from logquake.client.consumer.records import ConsumerRecords
from logquake.client.errors import ClientError, TimedOutError
from logquake.client.producer.producing import Producing
from logquake.wire.topic_partition import TopicPartition
from tests.sim.client_driver import SimDriver
from tests.sim.host import HostScheduler
from tests.sim.programs.living import Do, Life, SimClock, Sleep
from tests.sim.programs.member import API_TIMEOUT_MS, REQUEST_TIMEOUT_MS, Listener, Member
from tests.sim.programs.produce_watch import ProduceWatch
from tests.sim.settings import PORT

COPIES = "copies"
ATTEMPTS = 5  # of one call, each for max.block.ms


def copy_of(value: bytes) -> bytes:
    return b"copy of " + value


class Copier(Member):
    """Its transactional.id is its name, whichever of its lives: each fences the one before."""

    AUTOMATIC_SHARE: ClassVar[float] = 0.0
    MOST_RECORDS: ClassVar[Sequence[int]] = (20, 500)  # a transaction takes its time

    def _life(
        self,
        name: str,
        driver: SimDriver,
        consuming: Consuming,
        listener: Listener,
        *,
        is_automatic: bool,  # noqa: ARG002 - its commits are its transactions'
    ) -> Life:
        producing, producer = self._new_producer(name)
        try:
            yield from self._patiently(lambda: Do(producer, producing.transactions.init()))
            yield Do(driver, consuming.subscribe([self._topic], listener))
            while True:
                yield from self._copy_some(name, driver, consuming, producer, producing)
        except ClientError:
            self.die()

    def _new_producer(self, name: str) -> tuple[Producing, SimDriver]:
        scheduler = HostScheduler(self.host)
        machines = self._world.machines.values()
        keys = {
            "bootstrap_servers": [f"{one.endpoint.host}:{PORT}" for one in machines],
            "client_id": name,
            "transactional_id": self.name,
            "transaction_timeout_ms": 2_000,
            "request_timeout_ms": REQUEST_TIMEOUT_MS,
            "delivery_timeout_ms": 1_500,
            "max_block_ms": API_TIMEOUT_MS,
            "linger_ms": self.rng.choice([0, 5]),
            "batch_size": 400,  # a segment of the simulation's logs takes no large ones
        }
        random = Random(self.rng.getrandbits(64))
        producing = Producing(keys, None, clock=SimClock(scheduler), random=random)
        watch = ProduceWatch(self.name, self._world, scheduler)
        self.watches.append(watch)
        links = producing.foundation.links
        tell = producing.telling.tell
        return producing, SimDriver(self._fabric, self.host, links, producing.core, watch, tell)

    def _copy_some(
        self,
        name: str,
        driver: SimDriver,
        consuming: Consuming,
        producer: SimDriver,
        producing: Producing,
    ) -> Life:
        try:
            records: ConsumerRecords = yield Do(driver, consuming.poll(100, Taken()))
        except ClientError:
            yield Sleep(20)
            return
        for record in records:
            self._reading.handed(name, record)
        if not records:
            return
        try:
            yield from self._copy(consuming, producer, producing, records)
        except ClientError:
            yield from self._patiently(lambda: Do(producer, producing.transactions.abort()))
            yield from self._go_back(name, driver, consuming)
        yield Sleep(self._pause_ms())

    def _copy(
        self,
        consuming: Consuming,
        producer: SimDriver,
        producing: Producing,
        records: ConsumerRecords,
    ) -> Life:
        transactions = producing.transactions
        yield Do(producer, transactions.begin())
        for record in records:
            outgoing = producing.prepare(
                COPIES, copy_of(record.value), None, record.partition, None, (), None
            )
            yield Do(producer, producing.appending.in_time(outgoing))
        group = consuming.group_metadata()
        yield Do(producer, transactions.send_offsets(records.next_offsets, group))
        yield from self._patiently(lambda: Do(producer, transactions.commit()))

    def _patiently(self, call: Callable[[], Do]) -> Life:
        """The same call again, while it takes too long."""
        for _ in range(ATTEMPTS):
            try:
                yield call()
            except TimedOutError:
                continue
            return
        raise TimedOutError("patience is over")

    def _go_back(self, name: str, driver: SimDriver, consuming: Consuming) -> Life:
        """To what is committed: the records that were copied in vain come again."""
        places = consuming.assignment()
        committed = yield Do(driver, consuming.committing.committed(places, API_TIMEOUT_MS))
        for place in sorted(places & consuming.assignment()):
            found = committed.get(place)
            self._reading.sought(name, place)
            consuming.seeking.seek(place, 0 if found is None else found.offset)


def places_of_copies(partitions: int) -> list[TopicPartition]:
    return [TopicPartition(COPIES, index) for index in range(partitions)]
