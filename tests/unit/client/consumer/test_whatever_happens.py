"""Whatever happens to brokers, a reader is given each record behind its position once, in order.

Logs have holes, empty batches and aborted transactions, and lose their beginnings; leaders move,
connections and sessions are lost, nearer replicas are behind, answers are cut; the program seeks,
pauses, and reads as it likes.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from random import Random

import pytest

from logquake.client.consumer.fetch.taken import Taken
from logquake.client.consumer.records import ConsumerRecord
from logquake.client.errors import TimedOutError
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.consumer.lone_consumer import LoneConsumer
from tests.unit.client.consumer.model_brokers import Log, ModelBrokers

PARTITIONS = 3
STEPS = 80
TIMEOUT_MS = 700
SEEDS = range(10)


class Reader:
    """A program, and what it is to be given next: in each partition what follows ``at``."""

    def __init__(self, seed: int) -> None:
        self.random = random = Random(seed)
        self.lone = LoneConsumer(
            {},
            auto_offset_reset="earliest",
            isolation_level="read_committed",
            max_poll_records=random.choice((1, 3, 10, 500)),
            client_rack=random.choice(("", "r2")),
            default_api_timeout_ms=TIMEOUT_MS,
            request_timeout_ms=400,
            retry_backoff_ms=20,
            metadata_max_age_ms=3_000,
        )
        self.lone.most_passes = 100_000
        self.brokers = ModelBrokers(random, self.lone.clock, PARTITIONS)
        self.lone.network.handlers |= self.brokers.handlers()
        self.consuming = self.lone.consuming
        self.at: dict[TopicPartition, int] = {}
        self.paused: set[TopicPartition] = set()

    def log(self, place: TopicPartition) -> Log:
        return self.brokers.logs[place.partition]

    # What it does

    def run(self) -> None:
        calls = (
            self.poll,
            self.loop,
            self.seek,
            self.pause,
            self.position,
            self.assign,
            self.idle,
        )
        self.assign()
        for _ in range(STEPS):
            self.random.choices(calls, (10, 3, 3, 2, 3, 1, 3))[0]()
        self.brokers.is_calm = True
        self.brokers.move()
        self.consuming.seeking.resume(list(self.paused))
        self.paused.clear()
        for _ in range(3_000):
            if not any(self.left(place) for place in self.at):
                break
            self.take(self.lone.call(self.consuming.poll(100, Taken())))
        assert [place for place in self.at if self.left(place)] == []

    def assign(self) -> None:
        places = [TopicPartition("t", each) for each in range(PARTITIONS)]
        chosen = self.random.sample(places, self.random.randrange(1, PARTITIONS + 1))
        self.lone.call(self.consuming.assign(chosen))
        self.at = {place: self.at.get(place, 0) for place in chosen}
        self.paused &= self.at.keys()

    def poll(self) -> None:
        records = self.lone.call(self.consuming.poll(self.random.choice((0, 0, 20, 300)), Taken()))
        self.take(records)
        for place, offset in records.next_offsets.items():
            self.check_position(place, offset.offset)

    def loop(self) -> None:
        left = self.random.randrange(1, 15)
        for _ in range(20):
            for record in self.consuming.one_by_one:
                self.take([record])
                left -= 1
                if self.random.random() < 0.1:
                    self.random.choice((self.seek, self.pause, self.position))()
                if left <= 0:
                    return
            self.lone.call(self.consuming.poll_for_loop(50))

    def seek(self) -> None:
        place = self.random.choice(sorted(self.at))
        log = self.log(place)
        how = self.random.randrange(4)
        if how == 0:
            self.consuming.seeking.seek_to_beginning([place])
            self.at[place] = log.start
        else:
            self.at[place] = self.random.randrange(log.start, log.end + 1)
            self.consuming.seeking.seek(place, self.at[place])

    def pause(self) -> None:
        place = self.random.choice(sorted(self.at))
        if place in self.paused:
            self.consuming.seeking.resume([place])
            self.paused.remove(place)
        else:
            self.consuming.seeking.pause([place])
            self.paused.add(place)

    def position(self) -> None:
        place = self.random.choice(sorted(self.at))
        with suppress(TimedOutError):
            position = self.lone.call(self.consuming.seeking.position(place, TIMEOUT_MS))
            self.check_position(place, position)

    def idle(self) -> None:
        self.lone.be_left_alone(self.random.choice((1, 30, 400)))

    # What holds

    def left(self, place: TopicPartition) -> list[int]:
        """Offsets that are there, and that it has not been given."""
        log = self.log(place)
        return log.seen_from(max(self.at[place], log.start))

    def take(self, records: Iterable[ConsumerRecord]) -> None:
        for record in records:
            assert record.place in self.at.keys() - self.paused
            log, at = self.log(record.place), self.at[record.place]
            if record.offset != log.seen_from(at)[0]:  # that is deleted meanwhile
                assert at < log.start
                assert record.offset == self.left(record.place)[0]
            assert record.value == b"%d" % record.offset
            self.at[record.place] = record.offset + 1

    def check_position(self, place: TopicPartition, position: int) -> None:
        """Nothing is passed over, and nothing comes again."""
        left = self.left(place)
        assert self.at[place] <= position <= (left[0] if left else self.log(place).end)


@pytest.mark.parametrize("seed", SEEDS)
def test_each_record_is_given_once_and_in_order(seed: int) -> None:
    Reader(seed).run()
