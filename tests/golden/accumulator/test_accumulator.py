"""What a producer gathers, and hands out to be sent."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from random import Random

import pytest

from logquake.client.errors import (
    ClientError,
    ConnectionLostError,
    ProducerClosedError,
    RecordTooLargeError,
)
from logquake.client.network.effects import Node
from logquake.client.network.snapshot import PartitionInfo, Snapshot, TopicInfo
from logquake.client.producer.accumulator import Accumulator, Flush
from logquake.client.producer.appended import RECORDS
from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.delivery import Delivery, RecordMetadata
from logquake.client.producer.leaders import Leaders
from logquake.client.producer.memory import Lease
from logquake.client.producer.numbering import Unnumbered
from logquake.client.producer.settings import BatchingSettings
from logquake.wire.compression import Codec
from logquake.wire.errors import ErrorCode
from logquake.wire.records import Record
from logquake.wire.sentinels import NO_TIMESTAMP
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.uuids import ZERO_UUID
from tests.golden.player import Chronicle, Player, check_script, scripts_beside

SEED = 7


@pytest.mark.parametrize("script", scripts_beside(__file__), ids=lambda path: path.stem)
def test_script(script: Path) -> None:
    check_script(script, AccumulatorPlayer())


def cluster(*leaders: str) -> Leaders:
    """``t-0=1`` is led by broker 1, ``t-0=1/4`` since epoch 4, and ``t-0=-`` by nobody."""
    topics: dict[str, dict[int, PartitionInfo]] = {}
    nodes = {}
    for told in leaders:
        place, leader = told.split("=")
        topic, partition = place.rsplit("-", 1)
        node, _, epoch = leader.partition("/")
        led_by = -1 if node == "-" else int(node)
        nodes[led_by] = Node(led_by, "localhost", 9092)
        info = PartitionInfo(led_by, int(epoch or 0), ErrorCode.NONE)
        topics.setdefault(topic, {})[int(partition)] = info
    nodes.pop(-1, None)
    infos = {name: TopicInfo(ZERO_UUID, ErrorCode.NONE, each) for name, each in topics.items()}
    return Leaders(Snapshot(nodes, infos))


class AccumulatorPlayer(Player):
    """Records are named r1, r2... as they are appended, batches b1, b2... as they are drained, and
    who waits for memory w1, w2...
    """

    def __init__(self) -> None:
        self._chronicle = Chronicle()
        self._now_ms = 0
        self._leaders = cluster("t-0=1", "t-1=1", "t-2=2")
        self._settings = BatchingSettings(batch_bytes=200, retry_backoff_max_ms=100)
        self._accumulator: Accumulator | None = None
        self._records = 0
        self._batches: dict[str, ProducerBatch] = {}
        self._leases: dict[str, tuple[Lease, str, int]] = {}
        self._flush: Flush | None = None

    def outcome(self) -> list[str]:
        return self._chronicle.take_log()

    # What the producer is, and what it knows

    def do_with(self, **settings: str) -> None:
        """Before all else; BatchingSettings by name."""
        values = {
            name: Codec[value.upper()] if name == "codec" else int(value)
            for name, value in settings.items()
        }
        self._settings = BatchingSettings(
            **{"batch_bytes": 200, "retry_backoff_max_ms": 100, **values}  # type: ignore[arg-type]
        )

    def do_cluster(self, **leaders: str) -> None:
        self._leaders = cluster(*(f"{place}={leader}" for place, leader in leaders.items()))

    def do_wait(self, ms: str) -> None:
        self._now_ms += int(ms)

    # What is appended

    def do_append(self, where: str, size: str = "20", times: str = "1", value: str = "x") -> None:
        """``t-0``, or ``t`` for whatever partition; that many bytes of value."""
        for _ in range(int(times)):
            self._records += 1
            self._append(f"r{self._records}", where, value * int(size))

    def do_again(self, waiting: str) -> None:
        """Who waited for memory comes again."""
        lease, where, size = self._leases.pop(waiting)
        self._append(f"r{waiting[1:]}", where, "x" * size, lease)

    def do_give_up(self, waiting: str) -> None:
        self._core.memory.release(self._leases.pop(waiting)[0])

    def _append(self, name: str, where: str, value: str, lease: Lease | None = None) -> None:
        topic, _, partition = where.partition("-")
        record = Record(0, self._now_ms, None, value.encode())
        lease = lease or Lease()
        try:
            result = self._core.append(
                RECORDS,
                topic,
                int(partition) if partition else None,
                record,
                self._leaders,
                self._now_ms,
                lease,
            )
        except (ProducerClosedError, RecordTooLargeError) as error:
            self._log(f"{name}: {type(error).__name__}: {error}")
            return
        if result is None:
            waiting = f"w{name[1:]}"
            self._leases[waiting] = (lease, where, len(value))
            self._log(f"{name}: memory is short, {waiting} waits")
            return
        if not lease.is_used:
            self._core.memory.release(lease)
        self._log(f"{name}: {result.place}{', wakes the sender' if result.wakes else ''}")
        result.delivery.when_done(partial(self._told, name, result.delivery))

    def _told(self, name: str, delivery: Delivery) -> None:
        outcome = delivery.outcome
        if isinstance(outcome, RecordMetadata):
            self._log(f"{name} is at {outcome.topic}-{outcome.partition}:{outcome.offset}")
        else:
            self._log(f"{name} failed: {outcome}")

    # What the sender does

    def do_ready(self) -> None:
        ready = self._core.ready(self._leaders, self._now_ms)
        nodes = ", ".join(map(str, ready.nodes)) or "nobody"
        wait = "" if ready.wait_ms is None else f", more in {ready.wait_ms} ms"
        lacking = "".join(f", {topic} lacks a leader" for topic in ready.leaderless)
        self._log(f"for {nodes}{wait}{lacking}")

    def do_drain(self, node: str, max_bytes: str = "10000") -> None:
        drained = self._core.drain(int(node), self._leaders, int(max_bytes), self._now_ms)
        for batch in drained:
            name = next((known for known, one in self._batches.items() if one is batch), None)
            if name is None:
                name = f"b{len(self._batches) + 1}"
                self._batches[name] = batch
            self._log(f"{name}: {batch.place}, {batch.count} records, {len(batch.build())} bytes")
        if not drained:
            self._log("nothing")

    def do_written(self, batch: str, at: str) -> None:
        self._batches[batch].written(int(at), NO_TIMESTAMP)
        self._core.release(self._batches[batch])

    def do_retry(self, batch: str) -> None:
        self._core.try_again(self._batches[batch], ConnectionLostError("lost"), self._now_ms)

    def do_split(self, batch: str) -> None:
        self._log(f"into {self._core.split(self._batches[batch])}")

    def do_mute(self, place: str) -> None:
        self._core.mute(_place(place))

    def do_unmute(self, place: str) -> None:
        self._core.unmute(_place(place))

    def do_took(self, node: str, drained: str) -> None:
        """Whether the broker was able to take what there was for it."""
        self._core.latencies.note(int(node), self._now_ms, can_drain=drained == "yes")

    def do_expire(self) -> None:
        for batch in self._core.expired(self._now_ms):
            self._log(f"{batch.place} gives up {batch.count} records")
            batch.failed(lambda _: ClientError("too late"))
            self._core.release(batch)
        self._log(f"next at {self._core.next_expiry_ms()} ms")

    # The end

    def do_flush(self) -> None:
        self._flush = self._core.flush()

    def do_is_flushed(self) -> None:
        self._log("yes" if self._flush and self._flush.is_done else "no")

    def do_close(self) -> None:
        self._core.close()

    def do_abort(self) -> None:
        self._core.abort(ProducerClosedError("closed by force"))

    def do_memory(self) -> None:
        memory = self._core.memory
        granted = [name for name, (lease, *_) in self._leases.items() if lease.is_granted]
        self._log(f"{memory.available_bytes} bytes, {memory.waiting} wait, granted: {granted}")

    @property
    def _core(self) -> Accumulator:
        if self._accumulator is None:
            self._accumulator = Accumulator(self._settings, Unnumbered(), Random(SEED))
        return self._accumulator

    def _log(self, line: str) -> None:
        self._chronicle.log(line)


def _place(text: str) -> TopicPartition:
    topic, partition = text.rsplit("-", 1)
    return TopicPartition(topic, int(partition))
