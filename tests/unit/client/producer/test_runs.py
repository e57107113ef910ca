"""Many records at once, encoded by who brings them: in batches as if they had come one by one."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest

from logquake.client.errors import ClientError, DeliveryError, RecordTooLargeError, TimedOutError
from logquake.client.network.effects import Node
from logquake.client.network.snapshot import PartitionInfo, Snapshot, TopicInfo
from logquake.client.producer.accumulator import Accumulator
from logquake.client.producer.appended import RECORDS, RUNS, Appended
from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.filling import Form
from logquake.client.producer.leaders import Leaders
from logquake.client.producer.numbering import Unnumbered
from logquake.client.producer.runs import Piece, Room, Run
from logquake.client.producer.settings import BatchingSettings
from logquake.wire.compression import Codec
from logquake.wire.errors import ErrorCode
from logquake.wire.records import Record, iterate_records, read_header
from logquake.wire.sentinels import NO_TIMESTAMP
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.uuids import ZERO_UUID
from tests.unit.client.at_once import at_once
from tests.unit.client.producer.runs_of_records import RowsOfRecords, RunOfRecords
from tests.unit.client.producer.test_producing import DELIVERY_TIMEOUT_MS, Program

PLACE = TopicPartition("t", 0)
NODE = 1
INFOS = {each: PartitionInfo(NODE, 0, ErrorCode.NONE) for each in range(3)}
LEADERS = Leaders(
    Snapshot({NODE: Node(NODE, "one", 9092)}, {"t": TopicInfo(ZERO_UUID, ErrorCode.NONE, INFOS)})
)


def records(*values: bytes) -> list[Record]:
    return [Record(0, 1_000 + at, None, value) for at, value in enumerate(values)]


def batch_of_runs(*runs: Iterable[Record], told: list[Exception] | None = None) -> ProducerBatch:
    batch = ProducerBatch(PLACE, 0, Form(10_000), None, RUNS.new_filling)
    for some in runs:
        delivery = RUNS.add_first(batch, RunOfRecords(some))
        if told is not None:
            delivery.when_failed(told.append)
    return batch


def values_in(batch: ProducerBatch) -> list[bytes | None]:
    view = memoryview(batch.build())
    return [record.value for record in iterate_records(view, 0, read_header(view), 1 << 20)]


def drained(accumulator: Accumulator) -> list[ProducerBatch]:
    batches: list[ProducerBatch] = []
    while some := accumulator.drain(NODE, LEADERS, 1 << 30, 0):
        batches += some
    return batches


def append_run(accumulator: Accumulator, partition: int | None, run: Run) -> None:
    while run.left:
        appended = accumulator.append(RUNS, "t", partition, run, LEADERS, 0, None)
        assert isinstance(appended, Appended)


def test_runs_follow_each_other_in_a_batch() -> None:
    batch = batch_of_runs(records(b"0", b"1"), records(b"2"))
    assert values_in(batch) == [b"0", b"1", b"2"]
    header = read_header(memoryview(batch.build()))
    assert (batch.count, header.record_count, header.last_offset_delta) == (3, 3, 2)
    assert (header.base_timestamp, header.max_timestamp) == (1_000, 1_001)


def test_records_and_runs_to_one_partition_keep_their_order_in_batches_of_their_own() -> None:
    accumulator = Accumulator(BatchingSettings(), Unnumbered(), Random(1))
    before, behind = records(b"0", b"3")
    accumulator.append(RECORDS, "t", 0, before, LEADERS, 0)
    append_run(accumulator, 0, RunOfRecords(records(b"1", b"2")))
    accumulator.append(RECORDS, "t", 0, behind, LEADERS, 0)
    assert [values_in(each) for each in drained(accumulator)] == [[b"0"], [b"1", b"2"], [b"3"]]


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
@pytest.mark.parametrize("seed", range(20))
def test_runs_for_any_partition_go_where_records_would(seed: int, codec: Codec) -> None:
    settings = BatchingSettings(batch_bytes=500, codec=codec)
    random = Random(seed)
    some = [
        records(*(random.randbytes(random.choice([1, 50, 600])) for _ in range(20)))
        for _ in range(3)
    ]
    one_by_one = Accumulator(settings, Unnumbered(), Random(seed))
    for record in [record for each in some for record in each]:
        one_by_one.append(RECORDS, "t", None, record, LEADERS, 0)
    together = Accumulator(settings, Unnumbered(), Random(seed))
    for each in some:
        append_run(together, None, RunOfRecords(each))
    assert [(each.place, values_in(each)) for each in drained(together)] == [
        (each.place, values_in(each)) for each in drained(one_by_one)
    ]


def test_a_run_that_is_written_tells_nobody() -> None:
    told: list[Exception] = []
    batch = batch_of_runs(records(b"0"), told=told)
    batch.written(7, NO_TIMESTAMP)
    batch.tell()
    assert told == []


def test_of_a_batch_that_fails_each_run_hears_by_its_first_record() -> None:
    told: list[Exception] = []
    batch = batch_of_runs(records(b"0", b"1"), records(b"2"), told=told)
    batch.failed(lambda index: ClientError(f"record {index}"))
    batch.tell()
    assert [str(error.cause) for error in told if isinstance(error, DeliveryError)] == [
        "record 0",
        "record 2",
    ]


def test_of_a_batch_that_is_split_a_run_hears_by_each_part_that_has_some_of_it() -> None:
    first: list[Exception] = []
    second: list[Exception] = []
    batch = batch_of_runs(records(*[b"x" * 100] * 3), told=first)
    RUNS.add_first(batch, RunOfRecords(records(b"y" * 100))).when_failed(second.append)
    parts = batch.split(300)
    assert [part.count for part in parts] == [2, 2]
    parts[0].written(0, NO_TIMESTAMP)
    parts[0].tell()
    assert (first, second) == ([], [])
    parts[1].failed(lambda index: ClientError(f"record {index}"))
    parts[1].tell()
    assert [len(first), len(second)] == [1, 1]


def test_a_callback_of_a_run_that_raises_keeps_nobody_from_being_told() -> None:
    told: list[Exception] = []

    def fails(_: Exception) -> None:
        raise ZeroDivisionError

    batch = batch_of_runs()
    RUNS.add_first(batch, RunOfRecords(records(b"0"))).when_failed(fails)
    RUNS.add_first(batch, RunOfRecords(records(b"1"))).when_failed(told.append)
    batch.failed(lambda _: ClientError("refused"))
    batch.tell()
    assert len(told) == 1


def plain_program(**others: object) -> Program:
    """Without anything of its own."""
    return Program(partitioner_class=None, interceptor_classes=(), **others)


def causes(told: list[Exception]) -> list[type[Exception]]:
    return [type(error.cause) for error in told if isinstance(error, DeliveryError)]


def test_rows_that_find_no_memory_have_failed_and_give_back_what_they_waited_for() -> None:
    told: list[Exception] = []
    program = plain_program(max_block_ms=DELIVERY_TIMEOUT_MS)
    rows = RowsOfRecords(records(b"x" * 600, b"y" * 600))
    steps = program.producing.appending_rows.in_time("t", rows, told.append)
    runs = next(steps)
    waits = steps.send(runs.function())  # type: ignore[union-attr]
    assert not waits.is_done()  # type: ignore[union-attr]
    tells = steps.send(False)
    tells.function()  # type: ignore[union-attr]
    assert causes(told) == [TimedOutError]
    assert "buffer.memory=1000 was used up" in str(told[0])
    program.clock.sleep_ms(DELIVERY_TIMEOUT_MS)
    program.producing.core.poll(program.clock.now_ms())  # the first one is given up
    assert program.available_bytes == 1_000


class RunThatFails(RunOfRecords):
    def take(self, room: Room) -> Piece:
        raise ZeroDivisionError(room)


def test_a_run_that_cannot_be_encoded_gives_its_memory_back() -> None:
    accumulator = Accumulator(BatchingSettings(), Unnumbered(), Random(1))
    with pytest.raises(ZeroDivisionError):
        append_run(accumulator, 0, RunThatFails(records(b"x")))
    assert accumulator.memory.available_bytes == accumulator.memory.total_bytes
    assert not accumulator.has_incomplete
    append_run(accumulator, 0, RunOfRecords(records(b"y")))
    assert [values_in(each) for each in drained(accumulator)] == [[b"y"]]


def test_a_row_that_is_larger_than_any_may_be_is_refused_before_any_is_sent() -> None:
    told: list[Exception] = []
    program = plain_program()
    rows = RowsOfRecords(records(b"x", b"y" * 2_000))
    at_once(program.producing.appending_rows.in_time("t", rows, told.append))
    assert causes(told) == [RecordTooLargeError]
    assert program.available_bytes == 1_000


@pytest.mark.parametrize("own", [{"interceptor_classes": ()}, {"partitioner_class": None}])
def test_rows_are_refused_where_something_of_the_programs_own_looks_at_records(
    own: dict[str, object],
) -> None:
    program = Program(**own)
    with pytest.raises(ValueError, match=r"send\(\) takes records"):
        next(program.producing.appending_rows.in_time("t", RowsOfRecords(records(b"x")), print))
