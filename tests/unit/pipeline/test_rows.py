"""Stored batches as Arrow columns of exactly the connector's types."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.client.cursor import ReadBatch
from logquake.pipeline.record_columns import USUAL, Rows, schema_of
from logquake.wire.records import BatchFlag, Record, encode_batch, read_header


@pytest.fixture
def pa() -> Any:
    return pytest.importorskip("pyarrow", reason="the extra logquake[spark] is not installed")


def read_batch(*records: Record, flags: int = 0) -> ReadBatch:
    header = read_header(memoryview(encode_batch(records, flags=flags)))
    return ReadBatch(header, list(records))


def test_columns_and_types_are_the_connectors(pa: Any) -> None:
    rows = Rows("t", 3, (*USUAL, "headers"))
    rows.add(read_batch(Record(5, 1700, b"k", None, (("h", b"x"), ("n", None)))))
    rows.add(read_batch(Record(6, -1, None, b"v"), flags=BatchFlag.LOG_APPEND_TIME))
    assert len(rows) == 2
    batch = rows.take()
    header = pa.struct([("key", pa.string()), ("value", pa.binary())])
    assert batch.schema == pa.schema(
        [
            ("key", pa.binary()),
            ("value", pa.binary()),
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("offset", pa.int64()),
            ("timestamp", pa.timestamp("us", tz="UTC")),
            ("timestampType", pa.int32()),
            ("headers", pa.list_(header)),
        ]
    )
    assert batch.column("key").to_pylist() == [b"k", None]
    assert batch.column("value").to_pylist() == [None, b"v"]
    assert batch.column("offset").to_pylist() == [5, 6]
    assert batch.column("timestamp").cast(pa.int64()).to_pylist() == [1_700_000, -1000]
    assert batch.column("timestampType").to_pylist() == [0, 1]
    assert batch.column("headers").to_pylist() == [
        [{"key": "h", "value": b"x"}, {"key": "n", "value": None}],
        None,
    ]


def test_taking_starts_over_and_headers_are_only_there_when_asked_for(pa: Any) -> None:
    rows = Rows("t", 0, USUAL)
    rows.add(read_batch(Record(0, 1, b"k", b"v")))
    assert isinstance(rows.take(), pa.RecordBatch)
    assert len(rows) == 0
    rows.add(read_batch(Record(1, 1, b"k", b"v")))
    again = rows.take()
    assert again.column("offset").to_pylist() == [1]
    assert "headers" not in again.schema.names


@pytest.mark.usefixtures("pa")
def test_a_column_that_nobody_asked_for_is_not_gathered() -> None:
    rows = Rows("t", 4, ("partition", "offset"))
    rows.add(read_batch(Record(7, 1, b"k", b"v")))
    assert rows.take().to_pylist() == [{"partition": 4, "offset": 7}]
    assert schema_of(("partition", "offset")) == "partition int, offset bigint"
