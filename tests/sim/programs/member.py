"""A program that reads as a member of a group, with the client's own consumer."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from random import Random
from typing import ClassVar, TypeAlias

from logquake.client.consumer.callers import Threads
from logquake.client.consumer.consuming import Consuming
from logquake.client.consumer.facade import found_consumer
from logquake.client.consumer.fetch.taken import Taken
from logquake.client.consumer.records import ConsumerRecords
from logquake.client.errors import ClientError
from logquake.seams.network import Disconnected
from logquake.wire.messages.group_offsets import OffsetCommitRequest
from logquake.wire.messages.transaction_commit import TxnOffsetCommitRequest
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition
from tests.sim.client_driver import SimDriver
from tests.sim.host import Host, HostScheduler
from tests.sim.network import Fabric
from tests.sim.programs.living import Do, Life, SimClock, Sleep, live
from tests.sim.programs.produce_watch import ProduceWatch
from tests.sim.programs.reading import Reading
from tests.sim.settings import PORT
from tests.sim.world import World

SESSION_MS, HEARTBEAT_MS, POLL_INTERVAL_MS = 700, 150, 1_500
AUTO_COMMIT_MS = 200
REQUEST_TIMEOUT_MS = 700
API_TIMEOUT_MS = 1_500
Wish: TypeAlias = "Collection[str] | re.Pattern[str]"  # what a member subscribes to
SLOW_SHARE = 0.02  # of the polls after which it works for too long


def consumer_keys(world: World, name: str, group: str, strategy: str) -> dict[str, object]:
    return {
        "bootstrap_servers": [f"{one.endpoint.host}:{PORT}" for one in world.machines.values()],
        "client_id": name,
        "group_id": group,
        "session_timeout_ms": SESSION_MS,
        "heartbeat_interval_ms": HEARTBEAT_MS,
        "max_poll_interval_ms": POLL_INTERVAL_MS,
        "auto_commit_interval_ms": AUTO_COMMIT_MS,
        "request_timeout_ms": REQUEST_TIMEOUT_MS,
        "default_api_timeout_ms": API_TIMEOUT_MS,
        "fetch_max_wait_ms": 300,
        # A broker that has just started may not tell of partitions without a leader.
        "metadata_max_age_ms": 2_000,
        "auto_offset_reset": "earliest",
        "partition_assignment_strategy": [strategy],
    }


class Listener:
    """Notes what the program is told that it owns."""

    def __init__(self, name: str, reading: Reading) -> None:
        self._name = name
        self._reading = reading
        self.consuming: Consuming | None = None

    def on_assigned(self, places: Sequence[TopicPartition]) -> None:
        if self.consuming is not None:
            generation = self.consuming.group_metadata().generation_id
            owned = self.consuming.assignment()
            self._reading.assigned(self._name, generation, places, owned)

    def on_revoked(self, places: Sequence[TopicPartition]) -> None:
        self._reading.given_up(self._name, places)

    on_lost = on_revoked


class CommitWatch:
    """Commits as they leave."""

    def __init__(self, name: str, reading: Reading) -> None:
        self._name = name
        self._reading = reading

    def asked(self, _broker: str, request: Message) -> None:
        if isinstance(request, OffsetCommitRequest | TxnOffsetCommitRequest):
            offsets = {
                TopicPartition(topic.name, each.partition_index): each.committed_offset
                for topic in request.topics
                for each in topic.partitions
            }
            self._reading.commits_leave(self._name, _generation_of(request), offsets)

    def answered(self, broker: str, request: Message, answer: Message | Disconnected) -> None:
        pass


def _generation_of(commit: OffsetCommitRequest | TxnOffsetCommitRequest) -> int:
    if isinstance(commit, OffsetCommitRequest):
        return commit.generation_id_or_member_epoch
    return commit.generation_id


class Member:
    """It has lives; each is another process on the same host."""

    AUTOMATIC_SHARE: ClassVar[float] = 0.5  # of the lives: offsets are committed by themselves
    MOST_RECORDS: ClassVar[Sequence[int]] = (1, 3, 500)  # of a poll

    def __init__(
        self,
        name: str,
        group: str,
        topic: str,
        strategy: str,
        fabric: Fabric,
        world: World,
        rng: Random,
        reading: Reading,
    ) -> None:
        self.name = name
        self.host = Host(name, fabric.clock)
        self.rng = rng
        self.is_stopped = False
        self.watches: list[ProduceWatch] = []  # of what it produces, in each life
        self._group = group
        self._topic = topic
        self._strategy = strategy
        self._fabric = fabric
        self._world = world
        self._reading = reading
        self._lives = 0
        self._wish: Wish = [topic]

    # Its lives

    def start(self) -> None:
        self._lives += 1
        name = self._identity()
        scheduler = HostScheduler(self.host)
        is_automatic = self.rng.random() < self.AUTOMATIC_SHARE
        listener = Listener(name, self._reading)
        founded = found_consumer(
            None,
            {
                **self._keys(name),
                "enable_auto_commit": is_automatic,
                "max_poll_records": self.rng.choice(self.MOST_RECORDS),
            },
            key_deserializer=None,
            value_deserializer=None,
            interceptors=(),
            assignors=None,
            on_event=None,
            callers=Threads(lambda: name),
            clock=SimClock(scheduler),
            random=Random(self.rng.getrandbits(64)),
        )
        consuming = listener.consuming = founded.consuming
        watch = self._new_watch(name)
        driver = SimDriver(
            self._fabric,
            self.host,
            founded.foundation.links,
            consuming.core,
            watch,
            founded.telling.tell,
        )
        life = self._life(name, driver, consuming, listener, is_automatic=is_automatic)
        live(life, scheduler, lambda: self._close(name))

    def _identity(self) -> str:
        """What its group knows this life by."""
        return f"{self.name}.{self._lives}"

    def _keys(self, name: str) -> dict[str, object]:
        return consumer_keys(self._world, name, self._group, self._strategy)

    def _new_watch(self, name: str) -> CommitWatch:
        return CommitWatch(name, self._reading)

    def die(self) -> None:
        """kill -9; another life follows."""
        if self.host.alive:
            self._reading.is_over(self._identity())
            self.host.die()
            self._fabric.clock.after(
                self.rng.randint(10_000, 1_500_000), f"{self.name} is back", self._come_back
            )

    def sleep(self) -> None:
        """SIGSTOP for a while."""
        if self.host.alive and not self.host.paused:
            self.host.pause()
            awake_us = self.rng.randint(100_000, 2_500_000)
            self._fabric.clock.after(awake_us, f"{self.name} wakes", self.host.resume)

    def _come_back(self) -> None:
        self.host.revive()
        self.start()

    def _close(self, name: str) -> None:
        """It left in order."""
        self._reading.is_over(name)

    def _life(
        self,
        name: str,
        driver: SimDriver,
        consuming: Consuming,
        listener: Listener,
        *,
        is_automatic: bool,
    ) -> Life:
        yield Do(driver, consuming.subscribe(self._wish, listener))
        while True:
            try:
                records: ConsumerRecords = yield Do(driver, consuming.poll(100, Taken()))
            except ClientError:
                yield Sleep(20)
                continue
            for record in records:
                self._reading.handed(name, record)
            yield Sleep(self._pause_ms())
            if not is_automatic:
                yield from self._commit(driver, consuming)

    def _pause_ms(self) -> int:
        is_slow = self.rng.random() < SLOW_SHARE and not self.is_stopped
        return self.rng.randint(1, 2 * POLL_INTERVAL_MS if is_slow else 40)

    def _commit(self, driver: SimDriver, consuming: Consuming) -> Life:
        try:
            if self.rng.random() < 0.5:
                yield Do(driver, consuming.committing.commit(None, API_TIMEOUT_MS))
            else:
                yield Do(driver, consuming.committing.commit_async(None, None))
        except ClientError:
            yield Sleep(20)
