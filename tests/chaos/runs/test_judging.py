"""What a run left behind is read for all who ask."""

from __future__ import annotations

from pathlib import Path

from logquake.chaos.history.reader import read_history
from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.history.writer import HistoryWriter
from logquake.chaos.report.page import PageRows
from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.judging import judge_run
from logquake.chaos.runs.outcome import Outcome
from logquake.chaos.scenarios.files import find_scenario

SENDS = 3


def folder_of_a_run(root: Path) -> RunFolder:
    folder = RunFolder(root)
    folder.histories.mkdir(parents=True)
    with (
        HistoryWriter(folder.history_of("harness"), "harness") as harness,
        HistoryWriter(folder.history_of("producer"), "producer") as producer,
    ):
        harness.record(Kind.BEGAN, "harness")
        for number in range(SENDS):
            asked = producer.record(Kind.SEND, "orders-0", value=number)
            producer.record(Kind.ACKED, "orders-0", value=number, offset=number, caused_by=asked)
        harness.record(Kind.ENDED, "harness")
    return folder


def test_every_row_is_given_once_and_by_time_to_who_makes_the_page(tmp_path: Path) -> None:
    folder = folder_of_a_run(tmp_path)
    rows: list[Row] = []
    judgement = judge_run(find_scenario("storm"), folder, Outcome(), rows.append)
    assert rows == list(read_history(folder.row_files()))
    assert judgement.counts == {"began": 1, "send": SENDS, "acked": SENDS, "ended": 1}
    assert judgement.measures.lost == SENDS


def test_what_the_page_tells_is_of_all_rows(tmp_path: Path) -> None:
    rows = PageRows()
    judge_run(find_scenario("storm"), folder_of_a_run(tmp_path), Outcome(), rows.take)
    series, _ = rows.told()
    assert sum(bucket.acked for bucket in series.within(0, series.duration_s + 1).all) == SENDS
