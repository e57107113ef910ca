"""Whatever cuts off a send, Ctrl-C say, wherever it does: the batch that the record was to go into
is whole, has all records whose send returned, and no memory is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

import pytest

from logquake.client.errors import ClosedError
from logquake.client.network.effects import Node
from logquake.client.network.snapshot import PartitionInfo, Snapshot, TopicInfo
from logquake.client.producer.accumulator import Accumulator
from logquake.client.producer.appended import RECORDS, RUNS, Appended
from logquake.client.producer.appending.memory_waits import MemoryWaits
from logquake.client.producer.delivery import Delivery, RecordMetadata
from logquake.client.producer.leaders import Leaders
from logquake.client.producer.memory import Lease
from logquake.client.producer.numbering import Unnumbered
from logquake.client.producer.runs import Run
from logquake.client.producer.settings import BatchingSettings
from logquake.wire.compression import Codec
from logquake.wire.errors import ErrorCode
from logquake.wire.records import Record, check_crc, iterate_records, read_header
from logquake.wire.sentinels import NO_TIMESTAMP
from logquake.wire.uuids import ZERO_UUID
from tests.unit.client.at_once import at_once
from tests.unit.client.cut_off import CutOffError, cut_off_after, every_step
from tests.unit.client.producer.runs_of_records import RunOfRecords
from tests.unit.client.producer.test_producing import Program

NODE = 1
INFO = TopicInfo(ZERO_UUID, ErrorCode.NONE, {0: PartitionInfo(NODE, 0, ErrorCode.NONE)})
LEADERS = Leaders(Snapshot({NODE: Node(NODE, "one", 9092)}, {"t": INFO}))
MANY = 1 << 30
ROOMY = 1_000
FOR_TWO = 250  # records of 100 bytes
LATER_MS = 50  # the times of records differ


class Sending:
    """A producer's accumulator, and what was sent into it."""

    def __init__(self, batch_bytes: int = ROOMY, codec: Codec = Codec.NONE) -> None:
        self.settings = BatchingSettings(batch_bytes=batch_bytes, codec=codec)
        self.accumulator = Accumulator(self.settings, Unnumbered(), Random(1))
        self._memory = MemoryWaits(self.accumulator, self.settings.buffer_bytes, 1, str)
        self.records: list[Record] = []
        self.deliveries: dict[int, Delivery] = {}

    def send(self, *, sticks: bool, cut_off: int | None = None) -> None:
        """Raises CutOffError."""
        number = len(self.records)
        # Neither time is the largest one of its batch, and its first, by itself.
        time_ms = LATER_MS * (3 if number == 2 else 5 - number % 2)
        record = Record(0, time_ms, None, b"%d" % number * 100)
        self.records.append(record)
        call = self._to_any if sticks else self._to_the_first
        appended = (
            call(record) if cut_off is None else cut_off_after(cut_off, partial(call, record))
        )
        self.deliveries[number] = appended.delivery

    def _to_any(self, record: Record) -> Appended[Delivery]:
        appended = self.accumulator.append_to_open("t", record, lambda: LEADERS)
        appended = appended or self.accumulator.append(RECORDS, "t", None, record, LEADERS, 0)
        assert appended is not None
        return appended

    def _to_the_first(self, record: Record) -> Appended[Delivery]:
        def append(lease: Lease) -> Appended[Delivery] | None:
            return self.accumulator.append(RECORDS, "t", 0, record, LEADERS, 0, lease)

        return at_once(self._memory.appended(append, 0))

    def written(self) -> list[Record]:
        """All of it, by the offsets that the deliveries tell."""
        log: list[Record] = []
        while drained := self.accumulator.drain(NODE, LEADERS, MANY, 0):
            (batch,) = drained
            stored = memoryview(batch.build())
            header = read_header(stored, 0)
            check_crc(stored, 0, header)
            records = list(iterate_records(stored, 0, header, batch.plain_bytes))
            count = len(records)
            assert (header.record_count, header.last_offset_delta) == (count, count - 1)
            assert [each.offset for each in records] == list(range(count))
            assert header.max_timestamp == max(each.timestamp_ms for each in records)
            assert header.base_timestamp == records[0].timestamp_ms
            assert batch.count == count
            batch.written(len(log), NO_TIMESTAMP)
            self.accumulator.release(batch)
            log += records
        return log

    def check(self, cut_off: int) -> None:
        """All but one were sent; that may be there or not."""
        flush = self.accumulator.flush()
        log = self.written()
        assert flush.is_done
        assert not self.accumulator.has_incomplete
        memory = self.accumulator.memory
        assert (memory.available_bytes, memory.waiting) == (memory.total_bytes, 0)
        values = [each.value for each in log]
        sent = [each.value for each in self.records]
        assert values in (sent, sent[:cut_off] + sent[cut_off + 1 :])
        for number, delivery in self.deliveries.items():
            outcome = delivery.outcome
            assert isinstance(outcome, RecordMetadata)
            assert log[outcome.offset].value == sent[number]


@pytest.mark.parametrize("sticks", [True, False], ids=["any partition", "one that is named"])
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP], ids=str)
@pytest.mark.parametrize(
    ("before", "batch_bytes"),
    [(0, ROOMY), (2, ROOMY), (2, FOR_TWO), (3, FOR_TWO)],
    ids=["the first of all", "one of a batch", "the first of the next batch", "one that fills it"],
)
def test_a_send_that_is_cut_off_harms_no_other(
    before: int, batch_bytes: int, codec: Codec, sticks: bool
) -> None:
    for steps in every_step():
        sending = Sending(batch_bytes, codec)
        for _ in range(before):
            sending.send(sticks=sticks)
        try:
            sending.send(sticks=sticks, cut_off=steps)
        except CutOffError:
            for _ in range(3):
                sending.send(sticks=sticks)
            sending.check(before)
            continue
        assert steps > 50
        break


def test_a_send_that_is_cut_off_where_it_waits_for_memory_leaves_it_to_others() -> None:
    for steps in every_step():
        program = Program(partitioner_class=None, interceptor_classes=())
        appending = program.producing.appending
        first = appending.at_once(program.outgoing(partition=0))
        assert first is not None
        try:
            cut_off_after(steps, partial(at_once, appending.in_time(program.outgoing(partition=0))))
        except CutOffError:
            program.producing.core.abandon(ClosedError("given up"))
            assert program.available_bytes == 1_000
            assert program.producing.metrics()["producer-metrics"]["waiting-threads"] == 0
            continue
        assert steps > 50
        break


def test_what_a_signal_handler_raises_is_no_refusal_of_the_record() -> None:
    """It would be appended once more, and written twice."""
    for steps in every_step():
        program = Program(partitioner_class=None, interceptor_classes=(), batch_size=500)
        outgoing = program.outgoing()
        try:
            appended = cut_off_after(steps, partial(program.producing.appending.at_once, outgoing))
        except CutOffError:
            continue
        assert appended is not None
        assert steps > 50
        break


@pytest.mark.parametrize("before", [0, 1])
def test_a_run_that_is_cut_off_leaves_a_batch_that_is_whole(before: int) -> None:
    records = [Record(0, 1, None, b"a"), Record(0, 2, None, b"b")]
    for steps in every_step():
        sending = Sending()
        append = _appends_runs(sending.accumulator)
        for _ in range(before):
            append(RunOfRecords(records))
        try:
            cut_off_after(steps, partial(append, RunOfRecords(records)))
        except CutOffError:
            append(RunOfRecords(records))
            values = [each.value for each in sending.written()]
            assert values in ([b"a", b"b"] * (before + 1), [b"a", b"b"] * (before + 2))
            memory = sending.accumulator.memory
            assert memory.available_bytes == memory.total_bytes
            continue
        assert steps > 50
        break


def _appends_runs(accumulator: Accumulator) -> Callable[[Run], object]:
    def append(run: Run) -> object:
        return accumulator.append(RUNS, "t", 0, run, LEADERS, 0)

    return append
