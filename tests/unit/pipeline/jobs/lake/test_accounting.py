"""What a lake says it covers, counted from what was written; and what its next batch reads."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from logquake.pipeline.jobs.lake.compacting import CompactionSettings, merges
from logquake.pipeline.jobs.lake.ledger import LakeError
from logquake.pipeline.jobs.lake.planning import Logs, next_ranges
from logquake.pipeline.jobs.lake.report import summary, table
from logquake.pipeline.jobs.lake.shape import Shape
from logquake.pipeline.jobs.lake.staged import (
    after,
    check_same_rows,
    files_at,
    moves_of,
    parquet_in,
    staged_files,
)
from logquake.pipeline.jobs.lake.state import Covered, LakeState, from_text
from logquake.pipeline.source.admission import DataLossError
from logquake.pipeline.source.options import ReadOptions, parse_options
from logquake.pipeline.source.planning import OffsetRange
from logquake.wire.topic_partition import TopicPartition

RAW = Shape()
ORDERS = TopicPartition("orders", 0)


def staged(root: Path, hour: int, partitions: list[int], name: str = "part-0") -> None:
    folder = root / "topic=orders" / "date=2026-11-23" / f"hour={hour}"
    folder.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.table({"partition": partitions}), folder / f"{name}.parquet")


def asked(**options: str) -> ReadOptions:
    return parse_options({"kafka.bootstrap.servers": "here:1", **options})


def test_rows_are_counted_by_partition_and_late_ones_too(tmp_path: Path) -> None:
    staged(tmp_path, 9, [0, 0, 1])
    staged(tmp_path, 13, [0])
    ranges = [OffsetRange("orders", 0, 5, 9), OffsetRange("orders", 1, 0, 1)]
    first = after(LakeState("raw"), ranges, staged_files(tmp_path, RAW))
    assert first.partitions == {
        ORDERS: Covered(5, 9, rows=3, newest_hour="2026-11-23T13"),
        TopicPartition("orders", 1): Covered(0, 1, rows=1, newest_hour="2026-11-23T09"),
    }
    assert (first.batch, first.late, first.rows) == (1, 0, 4)

    again = [OffsetRange("orders", 0, 11, 14), OffsetRange("orders", 1, 1, 2)]
    second = after(first, again, staged_files(tmp_path, RAW))
    assert second.late == 2, "of partition 0, which had come to 13 o'clock"
    assert second.partitions[ORDERS] == Covered(5, 14, 6, lost=2, newest_hour="2026-11-23T13")


def test_a_state_is_read_as_it_was_written() -> None:
    state = LakeState("raw", 3, 1, 2, {ORDERS: Covered(0, 9, 7, 1, "2026-11-23T13")})
    assert from_text(json.dumps(state.to_document())) == state


def test_no_two_batches_have_a_name_in_common(tmp_path: Path) -> None:
    staged(tmp_path, 9, [0])
    staged(tmp_path, 9, [0], "part-1")
    files = staged_files(tmp_path, RAW)
    targets = [move.target for batch in (1, 2) for move in moves_of(files, tmp_path, batch)]
    assert len(set(targets)) == 4
    assert targets[0] == "topic=orders/date=2026-11-23/hour=9/000000000001-00000.parquet"


def test_a_batch_begins_where_the_last_one_ended_and_new_partitions_at_their_beginning() -> None:
    new = TopicPartition("orders", 1)
    state = LakeState("raw", partitions={ORDERS: Covered(0, 10)})
    logs = Logs({ORDERS: 4, new: 7}, {ORDERS: 30, new: 27})
    ranges = next_ranges(state, logs, 20, asked(subscribe="orders"))
    assert ranges == [OffsetRange("orders", 0, 10, 20), OffsetRange("orders", 1, 7, 17)]


@pytest.mark.parametrize(
    ("logs", "lost"),
    [
        (Logs({ORDERS: 12}, {ORDERS: 30}), "lost offsets 10 to 11"),
        (Logs({ORDERS: 0}, {ORDERS: 3}), "ends at offset 3"),
        (Logs({}, {}), "is gone"),
    ],
)
def test_what_is_gone_before_it_was_read_is_told(logs: Logs, lost: str) -> None:
    state = LakeState("raw", partitions={ORDERS: Covered(0, 10)})
    with pytest.raises(DataLossError, match=lost):
        next_ranges(state, logs, 20, asked(subscribe="orders"))
    ranges = next_ranges(state, logs, 20, asked(subscribe="orders", failOnDataLoss="false"))
    assert ranges == ([OffsetRange("orders", 0, 12, 30)] if 30 in logs.latest.values() else [])


@pytest.mark.parametrize(
    "selector",
    [
        {"subscribe": "orders"},
        {"subscribePattern": "order."},
        {"assign": '{"orders": [0]}'},
    ],
)
def test_topics_that_are_not_asked_for_any_more_are_not_lost(selector: dict[str, str]) -> None:
    bills, offsets = TopicPartition("bills", 0), TopicPartition("__consumer_offsets", 0)
    covered = {ORDERS: Covered(0, 10), bills: Covered(0, 5), offsets: Covered(0, 9)}
    state = LakeState("raw", partitions=covered)
    logs = Logs({ORDERS: 0}, {ORDERS: 30})
    assert next_ranges(state, logs, 20, asked(**selector)) == [OffsetRange("orders", 0, 10, 30)]


def test_an_internal_topic_that_a_pattern_passes_by_is_not_lost() -> None:
    offsets = TopicPartition("__consumer_offsets", 0)
    state = LakeState("raw", partitions={offsets: Covered(0, 9)})
    assert next_ranges(state, Logs({}, {}), 20, asked(subscribePattern=".*")) == []


def test_an_hour_with_many_small_files_is_merged(tmp_path: Path) -> None:
    for index in range(4):
        staged(tmp_path, 9, [0], f"{index}")
    staged(tmp_path, 10, [0])
    found = list(merges(tmp_path, CompactionSettings(most_files=3)))
    assert [(len(merge.files), merge.pieces) for merge in found] == [(4, 1)]
    assert list(merges(tmp_path, CompactionSettings(most_files=4))) == []
    assert list(merges(tmp_path, CompactionSettings(most_files=3, file_bytes=2))) == []


@pytest.mark.parametrize(("merged", "now"), [([0, 0, 1], 2), ([0, 0, 0, 0, 1], 4), ([1], 0)])
def test_a_merge_with_other_rows_than_what_it_replaces_is_refused(
    tmp_path: Path, merged: list[int], now: int
) -> None:
    root, aside = tmp_path / "lake", tmp_path / "aside"
    staged(root, 9, [0, 0], "1")
    staged(root, 9, [0, 1], "2")
    replaced = files_at(parquet_in(root), root, RAW)
    staged(aside, 9, [1, 0, 0, 0])
    check_same_rows(replaced, staged_files(aside, RAW))
    staged(aside, 9, merged)
    told = f"orders-0 has 3 rows of 2026-11-23T09, and merged they are {now}"
    with pytest.raises(LakeError, match=told):
        check_same_rows(replaced, staged_files(aside, RAW))


def test_a_report_says_what_is_covered(tmp_path: Path) -> None:
    staged(tmp_path, 9, [0])
    state = LakeState("raw", late=3, partitions={ORDERS: Covered(5, 1_010, 1_000, lost=2)})
    assert summary(tmp_path, state, 400) == (
        f"400 rows new; {tmp_path} has 1,000 rows of orders in 1 files of 1 hours, "
        "3 of them came late, 0 malformed"
    )
    assert [line.split() for line in table(state)][1] == [
        *["orders", "0", "5", "1,010", "1,000", "3", "2"]
    ]
