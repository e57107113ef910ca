"""Rows that Spark hands over, as what is sent."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.client.errors import TimedOutError
from logquake.pipeline.options.values import OptionError
from logquake.pipeline.sink.writing import rows_of, write_at_least_once

pa = pytest.importorskip("pyarrow", reason="the extra logquake[spark] is not installed")

HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


def with_headers(headers: list[dict[str, Any] | None] | None) -> Any:
    columns = [pa.array([b"v"], pa.binary()), pa.array([headers], HEADERS)]
    return pa.RecordBatch.from_arrays(columns, ["value", "headers"])


def test_headers_are_pairs() -> None:
    (some,) = rows_of([with_headers([{"key": "h", "value": None}, {"key": "h", "value": b"x"}])])
    assert some.headers == (("h", None), ("h", b"x"))


@pytest.mark.parametrize("missing", [[], None])
def test_headers_may_be_missing(missing: list[dict[str, Any] | None] | None) -> None:
    (row,) = rows_of([with_headers(missing)])
    assert row.headers == ()


@pytest.mark.parametrize("header", [None, {"key": None, "value": b"x"}])
def test_a_header_without_a_key_is_refused_in_a_line(header: dict[str, Any] | None) -> None:
    with pytest.raises(OptionError, match="a header that is null, or has no key"):
        list(rows_of([with_headers([{"key": "h", "value": None}, header])]))


class Refusing:
    """A producer whose records all fail at once, as those to a topic that nobody knows."""

    def __init__(self) -> None:
        self.sends = 0

    def send(self, *_: object, on_delivery: Any = None, **__: object) -> None:
        self.sends += 1
        on_delivery(None, TimedOutError("topic nowhere is not known"))


def test_nothing_is_sent_after_a_row_that_failed() -> None:
    producer: Any = Refusing()
    rows = pa.RecordBatch.from_arrays([pa.array([b"a", b"b", b"c"], pa.binary())], ["value"])
    with pytest.raises(TimedOutError, match="nowhere"):
        write_at_least_once(producer, [rows], "nowhere")
    assert producer.sends == 1
