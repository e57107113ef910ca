"""Programs that write to several partitions in transactions, with the client's own producer.

A program has lives: one that dies, or is mistaken for dead, has a successor with the same
transactional id, and may go on beside it until it is told that it was replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from logquake.client.driving.steps import Steps
from logquake.client.errors import ClientError, TimedOutError
from logquake.client.producer.producing import Producing
from logquake.wire.topic_partition import TopicPartition
from tests.sim.client_driver import SimDriver
from tests.sim.host import Host, HostScheduler
from tests.sim.network import Fabric
from tests.sim.programs.living import Do, Life, SimClock, Sleep, live
from tests.sim.settings import PORT
from tests.sim.transactions.ledger import Attempt, Ledger
from tests.sim.transactions.watch import TransactionWatch
from tests.sim.world import World

TIMEOUT_MS = 1_200
REQUEST_TIMEOUT_MS = 700
DELIVERY_MS = 1_500
MAX_BLOCK_MS = 1_500
ATTEMPTS = 5  # of one call, each for max.block.ms
COMMIT_SHARE = 0.7
DEATH_SHARE = 0.15  # of the transactions
SUCCESSION_SHARE = 0.15
LONGEST_PAUSE_MS = 150


class _OutOfPatienceError(Exception):
    """A call took too long, again and again."""


class TransactionalProgram:
    def __init__(
        self,
        name: str,
        partitions: Sequence[TopicPartition],
        fabric: Fabric,
        world: World,
        rng: Random,
        ledger: Ledger,
    ) -> None:
        self.name = name
        self.partitions = list(partitions)
        self.fabric = fabric
        self.world = world
        self.rng = rng
        self.ledger = ledger
        self.is_stopped = False
        self._watches: list[TransactionWatch] = []
        self._lives: list[_Life] = []
        self._records = 0

    @property
    def sent(self) -> set[int]:
        """The values of all batches that left."""
        return set().union(*(watch.sent for watch in self._watches))

    @property
    def is_finished(self) -> bool:
        return self.is_stopped and not self._lives

    def start(self) -> None:
        """Another life, beside those that are not over."""
        if self.is_stopped:
            return
        life = _Life(self, len(self._watches))
        self._watches.append(life.watch)
        self._lives.append(life)
        life.begin()

    def die(self) -> None:
        """Amid whatever it does, and nobody follows."""
        self.is_stopped = True
        for life in list(self._lives):
            self.end(life)

    def end(self, life: _Life) -> None:
        """Its process; another one follows unless all are to end."""
        if life in self._lives:
            self._lives.remove(life)
            life.host.die()
            if not self._lives:
                self.later(20, 300, self.start)

    def later(self, shortest_ms: int, longest_ms: int, action: Callable[[], None]) -> None:
        delay_us = 1000 * self.rng.randint(shortest_ms, longest_ms)
        self.fabric.clock.after(delay_us, f"of {self.name}", action)

    def unique_value(self) -> bytes:
        self._records += 1
        return f"{self.name}-{self._records}".encode()


class _Life:
    """One process.

    After a transaction of which the coordinator did not answer a request it ends, so that the next
    epoch begins: that request may come late, and would be of its next transaction, which an EndTxn
    would decide (KAFKA-17754; the second part of KIP-890 mends it). Of records that were lost the
    client itself makes that sure.
    """

    def __init__(self, owner: TransactionalProgram, number: int) -> None:
        self.host = Host(f"{owner.name}.{number}", owner.fabric.clock)
        scheduler = HostScheduler(self.host)
        self.watch = TransactionWatch(owner.name, owner.world, scheduler, owner.ledger)
        self._owner = owner
        self._rng = owner.rng
        self._scheduler = scheduler
        self._producing = self._new_producing(owner, scheduler)
        self._driver = SimDriver(
            owner.fabric,
            self.host,
            self._producing.foundation.links,
            self._producing.core,
            self.watch,
            self._producing.telling.tell,
        )

    def _new_producing(self, owner: TransactionalProgram, scheduler: HostScheduler) -> Producing:
        machines = owner.world.machines.values()
        keys = {
            "bootstrap_servers": [f"{one.endpoint.host}:{PORT}" for one in machines],
            "client_id": self.host.name,
            "transactional_id": owner.name,
            "transaction_timeout_ms": TIMEOUT_MS,
            "request_timeout_ms": REQUEST_TIMEOUT_MS,
            "delivery_timeout_ms": DELIVERY_MS,
            "max_block_ms": MAX_BLOCK_MS,
            "linger_ms": owner.rng.choice([0, 5]),
        }
        random = Random(owner.rng.getrandbits(64))
        return Producing(keys, None, clock=SimClock(scheduler), random=random)

    def begin(self) -> None:
        live(self._live(), self._scheduler, lambda: self._owner.end(self))

    def _live(self) -> Life:
        transactions = self._producing.transactions
        try:
            yield from self._patiently(transactions.init)
            while not (self._owner.is_stopped or self.watch.was_lost):
                yield Sleep(self._rng.randint(1, LONGEST_PAUSE_MS))
                self._draw_its_end()
                yield from self._transaction()
        except _OutOfPatienceError:
            pass
        except ClientError as error:
            if not self.watch.was_refused_for_good:
                self._owner.ledger.give_up(self._owner.name, error)

    def _draw_its_end(self) -> None:
        owner = self._owner
        if owner.is_stopped:
            return
        if self._rng.random() < DEATH_SHARE:
            owner.later(0, LONGEST_PAUSE_MS, self._die)
        elif self._rng.random() < SUCCESSION_SHARE:
            owner.later(0, 200, owner.start)

    def _die(self) -> None:
        if not self._owner.is_stopped:
            self._owner.end(self)

    def _transaction(self) -> Life:
        transactions, ledger, producer = (
            self._producing.transactions,
            self._owner.ledger,
            self.watch.producer,
        )
        if producer is None:
            raise RuntimeError("init() has ended, and no id was told")
        self.watch.attempt = attempt = ledger.begin(self._owner.name, producer)
        yield Do(self._driver, transactions.begin())
        try:
            yield from self._write(attempt)
            commits = self._rng.random() < COMMIT_SHARE
            yield from self._patiently(transactions.commit if commits else transactions.abort)
        except ClientError:
            commits = False
            yield from self._patiently(transactions.abort)
        ledger.tell(attempt, committed=commits)

    def _write(self, attempt: Attempt) -> Life:
        owner = self._owner
        wanted = self._rng.sample(owner.partitions, self._rng.randint(1, len(owner.partitions)))
        for place in wanted:
            for _ in range(self._rng.randint(1, 2)):
                value = owner.unique_value()
                outgoing = self._producing.prepare(
                    place.topic, value, None, place.partition, None, (), None
                )
                yield Do(self._driver, self._producing.appending.in_time(outgoing))
                attempt.records.add(value)
            yield Sleep(self._rng.choice([0, 5, 60]))

    def _patiently(self, call: Callable[[], Steps[None]]) -> Life:
        """The same call again, while it takes too long."""
        for _ in range(ATTEMPTS):
            try:
                yield Do(self._driver, call())
            except TimedOutError:
                continue
            return
        raise _OutOfPatienceError
