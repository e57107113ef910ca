"""Columns as record batches: what the records' own codec makes of the same rows, to the byte, cut
where it cuts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logquake.client.producer.appended import RECORDS, RUNS, Way
from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.filling import Form
from logquake.client.producer.hashing import murmur2, partition_for
from logquake.client.producer.runs import Run
from logquake.wire.compression import Codec
from logquake.wire.records import Record, iterate_records, read_header, size_bound
from logquake.wire.sentinels import NO_TIMESTAMP
from logquake.wire.topic_partition import TopicPartition

pa = pytest.importorskip("pyarrow", reason="the extra logquake[spark] is not installed")

from logquake.pipeline.sink.encoding.cells import Cells  # noqa: E402
from logquake.pipeline.sink.encoding.hashing import hashes_of  # noqa: E402
from logquake.pipeline.sink.encoding.plain import rows_by_topic  # noqa: E402
from logquake.pipeline.sink.encoding.run import ColumnRun  # noqa: E402

PLACE = TopicPartition("t", 0)
NOW_MS = 1_700_000_000_000
US_PER_MS = 1_000
LARGEST_MS = (1 << 63) // US_PER_MS - 1

seeds = st.integers(0, 2**32)  # drawing each record by itself takes minutes


def any_bytes(random: Random) -> bytes | None:
    size = random.choice([-1, 0, 1, 3, 4, 63, 64, 200, 200, random.choice([200, 8191, 8192])])
    return None if size < 0 else random.randbytes(size)


def any_records(random: Random, count: int) -> list[Record]:
    largest_ms = random.choice([NOW_MS, NOW_MS + 100, NOW_MS + 10_000_000, LARGEST_MS])
    least_ms = random.choice([0, NOW_MS])
    return [
        Record(0, random.randint(least_ms, largest_ms), any_bytes(random), any_bytes(random))
        for _ in range(count)
    ]


def rows_of(records: Sequence[Record], **columns: Any) -> Any:
    """Text is bytes that are UTF-8: columns are of both."""
    columns = {
        "key": pa.array([record.key for record in records], pa.binary()),
        "value": pa.array([record.value for record in records], pa.binary()),
        "timestamp": pa.array(
            [record.timestamp_ms * US_PER_MS for record in records], pa.int64()
        ).cast(pa.timestamp("us", tz="UTC")),
    } | columns
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def runs_of(
    rows: Any, partition_count: int | None, topic: str | None = "t"
) -> Iterator[tuple[str, int | None, ColumnRun]]:
    for name, those in rows_by_topic(rows, topic):
        for partition, run in those.by_partition(partition_count, NOW_MS):
            yield name, partition, run


def filled(
    ways: Sequence[tuple[Way[Any, Any], Any]], form: Form, more: Callable[[Any], bool]
) -> list[bytes]:
    """Whatever goes in, one behind the other, into as many batches as are needed."""
    batches: list[ProducerBatch] = []
    for way, item in ways:
        while more(item):
            if not batches or way.try_append(batches[-1], item) is None:
                limit_bytes = max(form.limit_bytes, way.bound_bytes(item))
                wide = form._replace(limit_bytes=limit_bytes)
                batches.append(ProducerBatch(PLACE, 0, wide, None, way.new_filling))
                way.add_first(batches[-1], item)
            if way is RECORDS:
                break
    return [bytes(batch.build()) for batch in batches]


def as_records(records: Sequence[Record], form: Form) -> list[bytes]:
    return filled([(RECORDS, record) for record in records], form, lambda _: True)


def as_runs(runs: Sequence[Run], form: Form) -> list[bytes]:
    return filled([(RUNS, run) for run in runs], form, lambda run: run.left > 0)


def read_back(batch: bytes) -> list[Record]:
    view = memoryview(batch)
    return list(iterate_records(view, 0, read_header(view, 0), 1 << 30))


@given(seeds, st.sampled_from([90, 300, 16_384, 1 << 20]))
def test_batches_are_those_that_records_make(seed: int, limit_bytes: int) -> None:
    random = Random(seed)
    form = Form(limit_bytes, is_transactional=random.random() < 0.5)
    groups = [any_records(random, random.choice([1, 2, 70])) for _ in range(2)]
    runs = [run for group in groups for _, _, run in runs_of(rows_of(group), None)]
    assert as_runs(runs, form) == as_records([*groups[0], *groups[1]], form)


@given(seeds, st.sampled_from([c for c in Codec if c is not Codec.NONE]))
def test_compressed_ones_are_cut_by_estimate_where_records_are(seed: int, codec: Codec) -> None:
    random = Random(seed)
    form = Form(random.choice([300, 16_384]), codec, estimated_ratio=random.choice([0.1, 0.9, 1.0]))
    records = any_records(random, 30)
    runs = [run for _, _, run in runs_of(rows_of(records), None)]
    assert as_runs(runs, form) == as_records(records, form)


@given(st.lists(st.one_of(st.none(), st.binary(max_size=300)), min_size=1), st.integers(1, 100))
def test_keys_go_to_the_partitions_that_records_go_to(
    keys: list[bytes | None], partition_count: int
) -> None:
    records = [Record(0, at, key, None) for at, key in enumerate(keys)]
    expected: dict[int | None, list[int]] = {}
    for at, key in enumerate(keys):
        wanted = None if key is None else partition_for(key, partition_count)
        expected.setdefault(wanted, []).append(at)
    got = {
        partition: [record.timestamp_ms for record in read_back(as_runs([run], Form(1 << 20))[0])]
        for _, partition, run in runs_of(rows_of(records), partition_count)
    }
    assert got == expected


@given(st.lists(st.binary(max_size=300)))
def test_hashes_are_those_of_keys_one_by_one(keys: list[bytes]) -> None:
    column = pa.array([b"before", *keys], pa.binary())[1:]
    assert hashes_of(Cells.of(column)).tolist() == [murmur2(key) for key in keys]


def test_a_partition_that_a_row_names_goes_before_its_key() -> None:
    records = [Record(0, NOW_MS, b"k", b"0"), Record(0, NOW_MS, b"k", b"1")]
    by_key = partition_for(b"k", 10)
    other = (by_key + 1) % 10
    rows = rows_of(records, partition=pa.array([other, None], pa.int32()))
    assert {partition for _, partition, _ in runs_of(rows, 10)} == {by_key, other}
    assert {partition for _, partition, _ in runs_of(rows, None)} == {None, other}
    (named,) = (those for _, those in rows_by_topic(rows, "t"))
    assert named.largest_partition == other
    (unnamed,) = (those for _, those in rows_by_topic(rows_of(records), "t"))
    assert unnamed.largest_partition is None


def test_rows_of_a_topic_keep_their_order() -> None:
    records = [Record(0, at, None, b"%d" % at) for at in range(100)]
    topics = pa.array([f"topic-{at % 3}" for at in range(100)])
    by_topic = {
        topic: [record.value for record in read_back(as_runs([run], Form(1 << 20))[0])]
        for topic, _, run in runs_of(rows_of(records, topic=topics), 1, None)
    }
    for remainder in range(3):
        assert by_topic[f"topic-{remainder}"] == [b"%d" % at for at in range(remainder, 100, 3)]


def test_a_row_without_a_time_has_that_of_its_writing() -> None:
    stamps = pa.array([None, NO_TIMESTAMP * US_PER_MS, -1, 5_999], pa.int64())
    rows = rows_of(
        [Record(0, 0, None, b"v")] * 4, timestamp=stamps.cast(pa.timestamp("us", tz="UTC"))
    )
    (run,) = (run for _, _, run in runs_of(rows, None))
    times_ms = [record.timestamp_ms for record in read_back(as_runs([run], Form(1 << 20))[0])]
    assert times_ms == [NOW_MS, NOW_MS, NOW_MS, 5]


def test_text_and_parts_of_columns_are_written_as_their_bytes() -> None:
    """Spark hands slices over; with its option for large types, large ones."""
    for kind in (pa.string(), pa.large_string()):
        values = pa.array(["not this", "\u00e9", None, "", "x"], kind)[1:]
        rows = pa.RecordBatch.from_arrays([values], ["value"])
        (run,) = (run for _, _, run in runs_of(rows, None))
        assert [record.value for record in read_back(as_runs([run], Form(1 << 20))[0])] == [
            "\u00e9".encode(),
            None,
            b"",
            b"x",
        ]


@given(seeds)
def test_a_row_needs_as_much_as_its_record(seed: int) -> None:
    records = any_records(Random(seed), 20)
    ((_, rows),) = rows_by_topic(rows_of(records), "t")
    bounds = [size_bound(record) for record in records]
    assert rows.largest_bytes == max(bounds)
    ((_, run),) = rows.by_partition(None, NOW_MS)
    assert run.next_bytes == bounds[0]


def test_a_batch_may_be_of_many_records() -> None:
    """Whose places and times are numbers of one byte, of two and of three."""
    records = [Record(0, NOW_MS + 100 * at, None, b"") for at in range(9_000)]
    form = Form(1 << 20)
    runs = [run for _, _, run in runs_of(rows_of(records), None)]
    assert as_runs(runs, form) == as_records(records, form)
