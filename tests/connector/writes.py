"""Rows written through either format: the same records, where it is said where they go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from benchmarks.spark.connector import CONNECTORS
from tests.connector.outcomes import Case, Done
from tests.connector.reads import plain
from tests.connector.topics import make

_PARTITIONS = 3
_TIMED = "timestamp"
_KEY = "cast(id % 5 as string)"
_VALUE = "if(id % 7 = 0, null, concat('value ', id))"
_HEADERS = "array(struct(cast(id as string) as key, cast('x' as binary) as value))"


def write_cases(spark: Any, bootstrap: str) -> list[Case]:
    def case(
        name: str,
        columns: str,
        options: Mapping[str, str] | None = None,
        differs: str | None = None,
    ) -> Case:
        times = ["timestamp"] if name == _TIMED else []
        run = partial(_write, spark, bootstrap, columns.split("; "), options or {}, name, times)
        return Case(f"write: {name}", run, differs)

    keyed = f"{_KEY} as key; {_VALUE} as value"
    return [
        case("by key", keyed),
        case("binary", "cast(cast(id as string) as binary) as key; cast('v' as binary) as value"),
        case("partition", f"{keyed}; cast(id % 3 as int) as partition"),
        case("headers", f"{keyed}; {_HEADERS} as headers"),
        case(
            "a column that is none of the sink's",
            f"{keyed}; id as number",
        ),
        case("no value", f"{_KEY} as key"),
        case("a number as value", "id as value"),
        case("a partition that there is not", f"{keyed}; 17 as partition"),
        case(
            _TIMED,
            f"{keyed}; timestamp_millis(1700000000000 + id) as timestamp",
            None,
            "the connector leaves the column alone and records have the time of their writing, "
            "ours writes it",
        ),
        case("compressed", keyed, {"kafka.compression.type": "zstd"}),
    ]


def _write(
    spark: Any,
    bootstrap: str,
    columns: list[str],
    options: Mapping[str, str],
    name: str,
    times: Sequence[str],
    of_format: str,
) -> Done:
    topic = f"written-by-{of_format}-{abs(hash(name))}"
    make(bootstrap, {topic: _PARTITIONS})
    options = {"topic": topic, **options}
    selected = ["topic", "partition", "key", "value", "headers", *times]
    rows = spark.range(40).repartition(1).selectExpr(*columns)
    written = rows.write.format(of_format).options(**options).mode("append")
    written.option("kafka.bootstrap.servers", bootstrap).save()
    reader = spark.read.format(CONNECTORS).option("includeHeaders", "true")
    frame = reader.option("kafka.bootstrap.servers", bootstrap).option("subscribe", topic).load()
    found = sorted(map(plain, frame.select("offset", *selected).collect()), key=lambda row: row[:3])
    return [(row[0], *row[2:]) for row in found]  # the topics' names differ
