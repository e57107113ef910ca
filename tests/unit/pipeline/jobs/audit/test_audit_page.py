"""An audit's page out of literal counts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from logquake.chaos.checkers.verdicts import Judgement, Ruling, Verdict, Violation
from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.report.canvas import Scale
from logquake.chaos.report.series import gather
from logquake.pipeline.jobs.audit.charts import (
    again_chart,
    divergence_chart,
    lag_chart,
    silences_chart,
)
from logquake.pipeline.jobs.audit.looking import Looks, Part, Silence
from logquake.pipeline.jobs.audit.page import figures, page
from logquake.pipeline.starting.shipping import archive_into
from tests.waiting import PATIENCE_S

SECOND = 1_000_000
ROWS = [
    Row(0, "producer-1", 1, Kind.SEND, "orders-0", value=1),
    Row(9 * SECOND, "producer-1", 2, Kind.ACKED, "orders-0", value=1, offset=0),
]
LOOKS = Looks(
    gather(ROWS),
    reader_lags={"<b>g</b>": [(1.0, 40), (5.0, 0)]},
    replica_lags={"broker 1": [(1.0, 0), (5.0, 7)]},
    silences=[Silence("orders-0", 2.0, 4.5), Silence("orders-0", 6.0, 8.0)],
    again={"<b>g</b>": [(3.0, 5)]},
    stored_twice={"orders-0": 2},
    parts=[Part("orders-0", 0, 9, 0, 1, 0), Part("orders-0", 10, 8, 2, 0, 0)],
)
LOST = Ruling(1, "durable", Verdict.BROKEN, violations=(Violation("durable", "<i>lost</i>"),))
SCALE = Scale(LOOKS.series.duration_s)


def test_the_page_tells_verdicts_and_figures_and_nothing_in_it_is_a_tag_that_a_program_wrote() -> (
    None
):
    text = page("run-7", Judgement((LOST,)), LOOKS)
    assert "An invariant is broken" in text
    assert "&lt;i&gt;lost&lt;/i&gt;" in text
    assert "<b>g</b>" not in text
    assert "<i>lost" not in text
    assert not re.search(r'(src|href)="', text), "it needs nothing else"


def test_the_page_is_written_by_a_package_that_nobody_has_unpacked(tmp_path: Path) -> None:
    program = (
        "from logquake.pipeline.jobs.audit import page; "
        "page.environment_of('logquake.pipeline.jobs.audit').get_template('audit.html'); "
        "print(page.__file__)"
    )
    archive = archive_into(tmp_path)
    told = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": str(archive)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert told.stdout.startswith(str(archive)), told.stderr


def test_where_nothing_was_seen_the_page_says_so() -> None:
    nothing = Looks(gather(ROWS), {}, {}, [], {}, {}, [])
    text = page("run-7", Judgement(()), nothing)
    for said in ("None was seen", "There are no replicas", "No partition was without an ack"):
        assert said in text


def test_figures_are_sums_and_the_worst() -> None:
    told = {what: figure for figure, what in figures(LOOKS)}
    assert told["the longest without an ack in a partition"] == "2.5 s"
    assert told["records a reader was behind at most"] == "40"
    assert told["records a replica was behind at most"] == "7"
    assert told["handed out again"] == "5"
    assert told["stored more than once"] == "2"
    assert told["offsets at which replicas differ"] == "1"


def test_each_chart_is_xml_with_a_lane_for_whoever_is_told_of() -> None:
    for chart, name in (
        (lag_chart(LOOKS.reader_lags, SCALE), "<b>g</b>"),
        (again_chart(LOOKS.again, SCALE), "<b>g</b>"),
        (silences_chart(LOOKS.silences, SCALE), "orders-0"),
        (divergence_chart(LOOKS.parts), "orders-0"),
    ):
        texts = [one.text for one in ElementTree.fromstring(chart).iter("text")]
        assert name in texts


def test_stripes_are_as_wide_as_their_share_of_the_offsets_and_tell_the_worst() -> None:
    drawn = ElementTree.fromstring(divergence_chart(LOOKS.parts))
    stripes = list(drawn.iter("rect"))
    assert [one.get("class") for one in stripes] == ["offline", "shrunk"]
    assert stripes[0].get("width") == stripes[1].get("width")
    titles = [title.text for one in stripes for title in one]
    assert titles[0] == "from offset 0: 9 alike on all, 1 differ"
