"""A run that is made up by arithmetic is sound: of its one loss all tell, and of nothing else."""

from __future__ import annotations

from pathlib import Path

from benchmarks.judging.plan import Plan
from benchmarks.judging.process import check, judged
from benchmarks.judging.rows import write_history
from logquake.chaos.checkers.verdicts import Verdict
from logquake.chaos.history.parquet import read_parquet
from tests.chaos.checkers.literals import rulings_of

PLAN = Plan(rows=20_000, partitions=4)


def test_one_loss_is_found_among_many_records_and_nothing_else(tmp_path: Path) -> None:
    history = tmp_path / "history.parquet"
    assert write_history(PLAN, history) >= PLAN.rows
    whole = judged(PLAN, history, rows_of_a_share=1_000_000)
    check(PLAN, whole)
    assert Verdict.INCONCLUSIVE not in {each.verdict for each in whole.rulings}
    in_shares = judged(PLAN, history, rows_of_a_share=6_000)
    assert rulings_of(in_shares) == rulings_of(whole)


def test_its_rows_are_those_of_a_history(tmp_path: Path) -> None:
    """By time, and each process counts its own."""
    history = tmp_path / "history.parquet"
    write_history(PLAN, history)
    rows = list(read_parquet(history))
    assert [row.at_us for row in rows] == sorted(row.at_us for row in rows)
    last: dict[str, int] = {}
    for row in rows:
        assert row.sequence > last.get(row.process, 0)
        last[row.process] = row.sequence
