"""What ends a job is told in a line."""

from __future__ import annotations

from logquake.pipeline.__main__ import _parser
from logquake.pipeline.jobs.errors import line_of
from logquake.pipeline.options.values import OptionError
from logquake.pipeline.source.admission import DataLossError

TRACE = """[STREAM_FAILED] Query ended
Traceback (most recent call last):
  File "source.py", line 7, in read
logquake.client.errors.BrokerError: UNKNOWN_TOPIC_OR_PARTITION
logquake.pipeline.asking.BrokersError: planning a read at there:9092: there is no such topic
\tat org.apache.spark.Something
"""


def test_ours_is_told_as_it_is() -> None:
    assert line_of(OptionError("a topic is needed")) == "a topic is needed"


def test_of_a_workers_trace_the_line_of_ours() -> None:
    assert line_of(Exception(TRACE)) == (
        "BrokersError: planning a read at there:9092: there is no such topic"
    )


def test_a_damaged_history_is_told_with_its_file_and_line() -> None:
    trace = "Traceback\nlogquake.chaos.history.reader.HistoryError: p.jsonl, line 7: no JSON\n\tat"
    assert line_of(Exception(trace)) == "HistoryError: p.jsonl, line 7: no JSON"


def test_a_loss_is_told_with_the_argument_that_goes_on_without() -> None:
    told = "orders-0 is gone, with all from offset 7 on ({} goes on without)"
    lost = str(DataLossError.of(["orders-0 is gone, with all from offset 7 on"]))
    assert lost == told.format("failOnDataLoss=false")
    assert line_of(DataLossError(lost)) == told.format("--allow-data-loss")
    trace = f"Traceback\nlogquake.pipeline.source.admission.DataLossError: {lost}\n\tat"
    assert line_of(Exception(trace)) == f"DataLossError: {told.format('--allow-data-loss')}"


def test_of_another_the_first_line() -> None:
    assert line_of(Exception("\n[PATH_NOT_FOUND] no such path\nmore")) == (
        "[PATH_NOT_FOUND] no such path"
    )


def test_each_job_says_what_it_takes() -> None:
    text = _parser().format_help()
    for job in ("count", "audit", "lake", "replay", "mirror"):
        assert f"\n    {job} " in text
