from __future__ import annotations

import json
from pathlib import Path

import pytest

from logquake.cluster.errors import ClusterError
from logquake.cluster.layout import Layout
from logquake.cluster.observing.event_log import EventLog


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path / "cluster")
    made.prepare(range(1, 3))
    return made


def event(broker: int, time_ms: int, what: str, **more: object) -> str:
    fields = {"time_ms": time_ms, "broker": broker, "what": what, "subject": "orders-0", "why": "w"}
    return json.dumps(fields | more) + "\n"


def test_events_of_all_brokers_come_in_the_order_of_time(layout: Layout) -> None:
    (layout.events / "broker-1.jsonl").write_text(event(1, 1000, "first") + event(1, 3000, "third"))
    (layout.events / "broker-2.jsonl").write_text(event(2, 2000, "second"))
    lines = list(EventLog(layout, None).lines())
    assert [line.split()[2] for line in lines] == ["first", "second", "third"]
    assert lines[1].endswith(".000 broker-2 second orders-0: w")


def test_what_changed_is_shown(layout: Layout) -> None:
    (layout.events / "broker-1.jsonl").write_text(
        event(1, 1, "isr-shrunk", before=[1, 2], after=[1])
    )
    (line,) = EventLog(layout, 1).lines()
    assert line.endswith("isr-shrunk orders-0 [1, 2] -> [1]: w")


def test_old_events_and_those_of_internal_topics_are_left_out_when_asked(layout: Layout) -> None:
    (layout.events / "broker-1.jsonl").write_text(
        event(1, 1000, "old")
        + event(1, 2000, "internal", subject="__consumer_offsets-7")
        + event(1, 3000, "new")
    )
    (line,) = EventLog(layout, 1).lines(2000, internal=False)
    assert " new " in line
    assert len(list(EventLog(layout, 1).lines(2000))) == 2


def test_what_a_broker_printed_comes_last(layout: Layout) -> None:
    (layout.events / "broker-1.jsonl").write_text(event(1, 1, "registered"))
    layout.log_of("broker-1").write_text("Traceback\n")
    assert list(EventLog(layout, 1).lines())[-1] == "broker-1: Traceback"


def test_a_line_is_shown_once_and_only_when_it_is_whole(layout: Layout) -> None:
    path = layout.events / "broker-1.jsonl"
    whole = event(1, 2, "later")
    path.write_text(event(1, 1, "sooner") + whole[:10])
    log = EventLog(layout, 1)
    assert len(list(log.lines())) == 1
    with path.open("a") as file:
        file.write(whole[10:])
    assert [line.split()[2] for line in log.lines()] == ["later"]
    assert list(log.lines()) == []


def test_no_logs_is_an_error_that_says_what_to_do(layout: Layout) -> None:
    with pytest.raises(ClusterError, match="no logs of broker-9 in"):
        EventLog(layout, 9)
