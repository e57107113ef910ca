"""A page out of literal rows: what is drawn is what happened, and nothing in it is a script."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from logquake.chaos.card.card import Card
from logquake.chaos.card.measuring import card_of
from logquake.chaos.checkers.verdicts import Judgement, Ruling, Verdict, Violation
from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.report.client_charts import latency_chart, rate_chart
from logquake.chaos.report.fault_chart import faults_chart
from logquake.chaos.report.page import page
from logquake.chaos.report.partition_chart import partitions_chart
from logquake.chaos.report.series import FaultBar, Series, gather, lanes
from logquake.chaos.runs.judgement import judged
from logquake.chaos.scenarios.expectation import Expectation
from logquake.chaos.scenarios.measures import Measures
from logquake.chaos.scenarios.scenario import Scenario

SECOND = 1_000_000


def row(at_s: float, what: str, subject: str = "orders-0", **fields: Any) -> Row:
    process = fields.pop("process", "producer-1")
    return Row(int(at_s * SECOND), process, fields.pop("sequence", 1), what, subject, **fields)


def look(at_s: float, leader: int | None, isr: list[int] | None, watermark: int | None) -> Row:
    after = {"leader": leader, "isr": isr, "replicas": [1, 2, 3]}
    return row(at_s, Kind.OBSERVED, epoch=1, offset=watermark, after=after)


KILL = {"kind": "kill", "target": "broker-1"}
ROWS = [
    row(100.0, Kind.SEND, value=1),
    row(100.2, Kind.ACKED, value=1, offset=0),
    look(101, 1, [1, 2, 3], 10),
    row(102, Kind.FAULT_BEGUN, "broker-1", process="harness", sequence=7, after=KILL),
    look(102.5, None, [2, 3], None),
    row(103, "leader-elected", process="broker-3", why="<script>alert(1)</script>"),
    row(103.5, Kind.UNKNOWN, value=2, why="TIMED_OUT"),
    look(104, 2, None, 12),
    row(105, Kind.FAULT_ENDED, "broker-1", process="harness", caused_by=7),
    row(106, Kind.FAULT_BEGUN, "zookeeper", process="harness", sequence=9, after=KILL),
    look(110, 2, [2, 3], 20),
]


def test_faults_elections_and_answers_are_taken_out_of_rows() -> None:
    series = gather(ROWS)
    assert series.duration_s == 10
    assert series.faults == [
        FaultBar(2, 5, "kill", "broker-1", "target=broker-1", None),
        FaultBar(6, 10, "kill", "zookeeper", "target=broker-1", None),
    ]
    assert [(mark.at, mark.kind) for mark in series.marks] == [(3, "leader")]
    assert [one.in_sync for one in series.looks["orders-0"]] == [3, 2, None, 2]
    assert list(series.buckets[0].latencies_ms) == [200.0]
    assert series.elections == 1
    assert sum(bucket.failed for bucket in series.buckets) == 1


def test_time_without_an_ack_is_counted_between_the_first_and_the_last() -> None:
    acks = [row(at, Kind.ACKED, value=int(at)) for at in (0.0, 0.6, 3.0)]
    assert gather([*acks, row(9, Kind.ENDED)]).unavailable_s() == 2.0
    assert gather([row(0, Kind.BEGAN), row(4, Kind.ENDED)]).unavailable_s() == 4.0


def test_faults_that_overlap_have_lanes_of_their_own() -> None:
    one, two, three = (
        FaultBar(begins, ends, "kill", "broker-1", "", None)
        for begins, ends in ((0, 2), (1, 3), (2, 4))
    )
    assert lanes([one, two, three]) == [[one, three], [two]]


def test_every_chart_is_sound_xml_also_of_a_run_without_anything() -> None:
    for series in (gather(ROWS), gather([]), Series(1, 0, [], [], 0, {}, [])):
        for chart in (faults_chart, partitions_chart, rate_chart, latency_chart):
            ElementTree.fromstring(chart(series))


def test_what_programs_wrote_is_no_markup() -> None:
    told = ("<i>it was acked</i>",)
    violation = Violation("durable", "<b>offset 812</b> is gone", told, "orders-0", 104 * SECOND)
    judgement = judged(
        Judgement((Ruling(1, "durable", Verdict.BROKEN, violations=(violation,)),)),
        Expectation(),
        (),
        (),
        {"acked": 1},
        Measures(1, 0),
    )
    scenario = Scenario(name="x", title="a <title>", explanation="why", try_next="next")
    text = page(scenario, judgement, gather(ROWS), card_of(ROWS), "folder")
    assert "<script" not in text
    assert "<b>offset" not in text
    assert "<i>it" not in text
    assert "&lt;b&gt;offset 812" in text
    assert "durable is broken" in text
    assert "4.00 s, durable: &lt;b&gt;offset 812" in text
    assert "http" not in text


def storm(minutes: int) -> list[Row]:
    """A kill every 4 s, whose partition loses its leader, and 20 acks a second."""
    rows = []
    for second in range(60 * minutes):
        if second % 4 == 0:
            fault = {"process": "harness", "sequence": second, "after": KILL}
            rows.append(row(second, Kind.FAULT_BEGUN, "broker-1", **fault))
            rows.append(row(second + 0.2, "leader-elected", process="broker-2"))
            rows.append(look(second + 0.1, None, [2, 3], second))
        if second % 4 == 2:
            ended = {"process": "harness", "caused_by": second - 2}
            rows.append(row(second, Kind.FAULT_ENDED, "broker-1", **ended))
            rows.append(look(second, 2, [2, 3], second))
        else:
            rows.append(look(second + 0.5, 2, [1, 2, 3], second))
        for each in range(20):
            number = 20 * second + each
            rows.append(row(second + each / 20, Kind.SEND, value=number))
            rows.append(row(second + each / 20, Kind.ACKED, value=number, offset=number))
    return sorted(rows, key=lambda one: one.at_us)


def written(rows: list[Row]) -> str:
    nothing = judged(Judgement(()), Expectation(), (), (), {}, Measures(0, 0))
    scenario = Scenario(name="x", title="a storm")
    return page(scenario, nothing, gather(rows), card_of(rows), "folder")


def test_a_long_run_is_drawn_whole_and_in_parts_and_stays_small() -> None:
    text = written(storm(minutes=15))
    assert text.count("<details><summary>") == 3 + 1  # the last is the client's card
    assert "5:00 to 10:00 · 75 faults · 75 elections · 6,000 acked" in text
    assert "kill, the worst of 225" in text
    assert len(text) < 600_000
    assert "nobody leads" not in text.split("The same, bit by bit")[0]  # too many to point at


def test_a_short_run_says_of_each_fault_what_it_did_to_whom() -> None:
    text = written(storm(minutes=1))
    assert "The same, bit by bit" not in text
    assert "4.0 s: kill broker-1 for 2.0 s" in text
    assert "nobody leads, 2 of 3 in sync" in text


def test_a_page_of_a_run_without_clients_has_no_cards() -> None:
    nothing = judged(Judgement(()), Expectation(), (), (), {}, Measures(0, 0))
    text = page(Scenario(name="x", title=""), nothing, gather([]), Card((), {}, {}), "folder")
    assert "report card" not in text


def test_what_is_narrower_than_a_pixel_is_drawn_as_its_worst() -> None:
    looks = [look(100 + at, None if at == 500 else 2, [1, 2, 3], at) for at in range(4_000)]
    shaken = [look(100.5 + at, 2, [1, 2], at) for at in range(0, 4_000, 2)]
    text = partitions_chart(gather(sorted([*looks, *shaken], key=lambda one: one.at_us)))
    ElementTree.fromstring(text)
    assert '<path class="offline"' in text
    assert len(text) < 40_000
