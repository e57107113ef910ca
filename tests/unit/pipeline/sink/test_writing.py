"""Rows that Spark hands over, many at a time, and one by one where that is needed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from logquake.client.errors import TimedOutError
from logquake.pipeline.options.values import OptionError
from logquake.pipeline.sink.deliveries import Deliveries
from logquake.pipeline.sink.writing import send_batches, write_at_least_once

pa = pytest.importorskip("pyarrow", reason="the extra logquake[spark] is not installed")

HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
STAMP = pa.timestamp("us", tz="UTC")


class Refusing:
    """A producer whose records all fail at once, as those to a topic that nobody knows."""

    def __init__(self) -> None:
        self.sends = 0

    def send(self, *_: object, on_delivery: Any = None, **__: object) -> None:
        self._fail(lambda error: on_delivery(None, error))

    def send_rows(self, _: str, __: object, on_failure: Any) -> None:
        self._fail(on_failure)

    def _fail(self, told: Callable[[Exception], object]) -> None:
        self.sends += 1
        told(TimedOutError("topic nowhere is not known"))


class Noting:
    """A producer that takes everything, and says what was one by one."""

    def __init__(self) -> None:
        self.ones: list[tuple[str, bytes | None]] = []
        self.rows: list[tuple[str, int]] = []

    def send(self, topic: str, value: bytes | None, *_: object, **__: object) -> None:
        self.ones.append((topic, value))

    def send_rows(self, topic: str, rows: Any, _: object) -> None:
        self.rows.append((topic, len(rows)))


def batch(**columns: Any) -> Any:
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def with_headers(*headers: Any) -> Any:
    return batch(
        value=pa.array([b"v"] * len(headers), pa.binary()), headers=pa.array(headers, HEADERS)
    )


TWO_VALUES = pa.array([b"a", b"b"], pa.binary())
TWO_TOPICS = pa.array(["t", "u"])


@pytest.mark.parametrize("missing", [[], None])
def test_rows_are_handed_over_together(missing: list[Any] | None) -> None:
    producer: Any = Noting()
    topics = send_batches(producer, [with_headers(missing, None)], "t", Deliveries())
    assert (topics, producer.rows, producer.ones) == ({"t"}, [("t", 2)], [])


def test_rows_of_several_topics_are_handed_over_by_topic() -> None:
    producer: Any = Noting()
    rows = batch(value=pa.array([b"a", b"b", b"c"]), topic=pa.array(["t", "u", "t"]))
    assert send_batches(producer, [rows], None, Deliveries()) == {"t", "u"}
    assert producer.rows == [("t", 2), ("u", 1)]
    assert send_batches(producer, [rows], "of an option", Deliveries()) == {"of an option"}


def test_one_that_has_headers_has_its_batch_handed_over_one_by_one() -> None:
    producer: Any = Noting()
    send_batches(producer, [with_headers(None, [{"key": "h", "value": b"x"}])], "t", Deliveries())
    assert (producer.rows, len(producer.ones)) == ([], 2)


def test_no_rows_are_no_batch() -> None:
    producer: Any = Noting()
    none = batch(value=pa.array([], pa.binary()), topic=pa.array([], pa.string()))
    assert send_batches(producer, [none], "t", Deliveries()) == set()
    assert send_batches(producer, [none], None, Deliveries()) == set()
    assert producer.rows == []


def test_a_row_without_a_topic_is_refused_behind_those_that_have_one() -> None:
    producer: Any = Noting()
    rows = batch(value=TWO_VALUES, topic=pa.array(["t", None]))
    with pytest.raises(OptionError, match="a row has no topic, and there is no option topic"):
        send_batches(producer, [rows], None, Deliveries())
    assert producer.ones == [("t", b"a")]


@pytest.mark.parametrize("header", [None, {"key": None, "value": b"x"}])
def test_a_header_without_a_key_is_refused_in_a_line(header: dict[str, Any] | None) -> None:
    producer: Any = Noting()
    rows = with_headers([{"key": "h", "value": None}, header])
    with pytest.raises(OptionError, match="a header that is null, or has no key"):
        send_batches(producer, [rows], "t", Deliveries())


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("partition", pa.array([0, -1], pa.int32())),
        ("timestamp", pa.array([None, datetime(1960, 1, 1, tzinfo=UTC)], STAMP)),
    ],
)
def test_what_is_below_0_is_for_the_producer_to_refuse(name: str, column: Any) -> None:
    """One by one: it says of which row."""
    producer: Any = Noting()
    send_batches(producer, [batch(value=TWO_VALUES, **{name: column})], "t", Deliveries())
    assert len(producer.ones) == 2


@pytest.mark.parametrize("rows", [batch(value=TWO_VALUES), with_headers(*[[{"key": "h"}]] * 2)])
def test_nothing_is_sent_after_a_row_that_failed(rows: Any) -> None:
    producer: Any = Refusing()
    with pytest.raises(TimedOutError, match="nowhere"):
        write_at_least_once(producer, [rows, rows], "nowhere")
    assert producer.sends == 1
