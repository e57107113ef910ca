"""Histories and journals as rows of one schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from logquake.chaos.history.lines import to_line
from logquake.chaos.history.parquet import write_parquet
from logquake.chaos.history.rows import Row
from logquake.pipeline.formats.journal import find_files, read_rows
from logquake.pipeline.options.values import OptionError

ACKED = Row(1_000, "producer", 1, "acked", "orders-0", offset=5, value=7, after={"a": [1]})


def test_lines_and_parquet_are_the_same_rows(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "producer.jsonl").write_bytes(to_line(ACKED))
    write_parquet([ACKED], tmp_path / "all.parquet")
    (tmp_path / "verdict.json").write_text("{}")
    files = find_files({"path": str(tmp_path)})
    lines, parquet = ([batch.to_pylist() for batch in read_rows(file)] for file in files)
    assert lines == parquet
    ((row,),) = lines
    assert (row["subject"], row["offset"], row["after"]) == ("orders-0", 5, '{"a": [1]}')


def test_where_nothing_was_written_down_is_said(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no file"):
        find_files({"path": str(tmp_path)})
