"""Rows in and out of Spark, by batches and streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

from confluent_kafka import Producer

from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures
from benchmarks.rounds import Case
from benchmarks.spark.formats import Format, Spent
from benchmarks.topics import scratch_topic

_PARTITIONS = 6
_KEYS = 1_000
_POLL_EVERY = 1_000
_TIMEOUT_S = 300
_SUMS = ("count(*)", "sum(length(value))", "max(offset)")


@dataclass(frozen=True, slots=True)
class Load:
    record_bytes: int
    read_rows: int
    written_rows: int


LOADS = (Load(100, 2_000_000, 500_000), Load(1024, 400_000, 150_000))


@contextmanager
def row_cases(bootstrap: str, loads: Sequence[Load] = LOADS) -> Iterator[list[Case[Format]]]:
    """The topics to read are there for the length of the block."""
    with ExitStack() as topics:
        cases: list[Case[Format]] = []
        for load in loads:
            topic = topics.enter_context(scratch_topic(bootstrap, _PARTITIONS, 1))
            _fill(bootstrap, topic, load)
            cases += _cases(load, topic)
        yield cases


def _cases(load: Load, topic: str) -> list[Case[Format]]:
    def case(name: str, run: Callable[[Format], int], *, is_read: bool) -> Case[Format]:
        def measured(target: Format) -> Figures | None:
            if is_read and target.writing:  # it reads as the one without
                return None
            spent = Spent(target.spark)
            return spent.figures(run(target))

        return Case(f"{name}, {load.record_bytes} B", measured, lambda each: measured(each) or {})

    return [
        case("read a batch", lambda each: _read(each, topic, load.read_rows), is_read=True),
        case("read a stream", lambda each: _read_stream(each, topic), is_read=True),
        case("write a batch", lambda each: _write(each, load), is_read=False),
        case("copy by a stream", lambda each: _copy(each, topic), is_read=False),
    ]


def _read(target: Format, topic: str, rows: int) -> int:
    found: int = target.reader(topic).selectExpr(*_SUMS).collect()[0][0]
    if found != rows:
        raise BenchmarkError(f"{target.name} read {found} rows of {rows}")
    return found


def _read_stream(target: Format, topic: str) -> int:
    """Into nothing: a batch of all there is."""
    frame = target.stream(topic).selectExpr("length(value)", "offset")
    return _run(frame.writeStream.format("noop"))


def _write(target: Format, load: Load) -> int:
    rows = target.spark.range(load.written_rows).selectExpr(
        f"cast(id % {_KEYS} as string) as key", f"repeat('x', {load.record_bytes}) as value"
    )
    with scratch_topic(target.bootstrap, _PARTITIONS, 1) as topic:
        target.to(rows.write, topic).mode("append").save()
    return load.written_rows


def _copy(target: Format, topic: str) -> int:
    frame = target.stream(topic).selectExpr("key", "value")
    with scratch_topic(target.bootstrap, _PARTITIONS, 1) as copies:
        return _run(target.to(frame.writeStream, copies))


def _run(writer: Any) -> int:
    """To the end of what there is; how many rows that were. Raises BenchmarkError."""
    with TemporaryDirectory() as folder:
        query = writer.option("checkpointLocation", folder).trigger(availableNow=True).start()
        if not query.awaitTermination(_TIMEOUT_S):
            query.stop()
            raise BenchmarkError(f"a stream goes on after {_TIMEOUT_S} s")
        return sum(int(each["numInputRows"]) for each in query.recentProgress)


def _fill(bootstrap: str, topic: str, load: Load) -> None:
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "linger.ms": 20,
            "queue.buffering.max.messages": 1_000_000,
        }
    )
    value = b"x" * load.record_bytes
    for index in range(load.read_rows):
        while True:
            try:
                key = b"%d" % (index % _KEYS)
                producer.produce(topic, value, key, partition=index % _PARTITIONS)
                break
            except BufferError:
                producer.poll(0.1)
        if index % _POLL_EVERY == 0:
            producer.poll(0)
    if producer.flush(_TIMEOUT_S):
        raise BenchmarkError(f"{topic} is not filled after {_TIMEOUT_S} s")
