"""The page around the charts. What it shows of rows was written by programs: all is escaped."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from math import ceil
from typing import NamedTuple

from markupsafe import Markup, escape

from logquake.chaos.card.card import Card
from logquake.chaos.card.measuring import Measuring
from logquake.chaos.history.rows import Row
from logquake.chaos.report.canvas import Scale, clock
from logquake.chaos.report.card_tables import HEADINGS, card_tables
from logquake.chaos.report.client_charts import latency_chart, rate_chart
from logquake.chaos.report.fault_chart import faults_chart
from logquake.chaos.report.partition_chart import partitions_chart
from logquake.chaos.report.series import MICROSECONDS, WRONG, Gatherer, Mark, Series
from logquake.chaos.report.templates import environment_of, verdicts_told
from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.judgement import ExitStatus, RunJudgement
from logquake.chaos.scenarios.files import write_scenario
from logquake.chaos.scenarios.scenario import Scenario

_TEMPLATE = "page.html"
_STRETCH_S = 300  # of a run that takes more than two of them
_VERDICTS = {
    ExitStatus.HELD: "What was to hold held, and what was to be seen was seen.",
    ExitStatus.BROKE: "An invariant that was to hold did not, or more was seen than may be.",
    ExitStatus.INCONCLUSIVE: "What was to be seen was not, or too little happened to judge by.",
}


class PageRows:
    """What the page and the card say of a run's rows, each of which is taken once, by time."""

    def __init__(self) -> None:
        self._gatherer, self._measuring = Gatherer(), Measuring()

    def take(self, row: Row) -> None:
        self._gatherer.take(row)
        self._measuring.take(row)

    def told(self) -> tuple[Series, Card]:
        return self._gatherer.series(), self._measuring.card()


def write_report(
    scenario: Scenario, folder: RunFolder, judgement: RunJudgement, rows: PageRows
) -> None:
    """And card.json."""
    series, card = rows.told()
    folder.card.write_text(json.dumps(card.to_json(), indent=2) + "\n")
    text = page(scenario, judgement, series, card, folder.root.name, list(_files(folder)))
    folder.report.write_text(text)


def page(
    scenario: Scenario,
    judgement: RunJudgement,
    series: Series,
    card: Card,
    folder: str,
    files: Sequence[tuple[str, str]] = (),
) -> str:
    """``files`` of the folder are linked to, each with what is in it."""
    environment = environment_of("logquake.chaos.report")
    environment.filters["prose"] = _prose
    began = datetime.fromtimestamp(series.began_us / MICROSECONDS).astimezone()
    series = replace(series, marks=[*series.marks, *_wrongs(judgement, series)])
    return environment.get_template(_TEMPLATE).render(
        scenario=scenario,
        judgement=judgement,
        status=judgement.status.name.lower(),
        verdict=_VERDICTS[judgement.status],
        meant=set(scenario.expect.verdicts),
        **verdicts_told(judgement.rulings, judgement.notes),
        files=files,
        figures=figures(judgement, series),
        began=f"{began:%Y-%m-%d %H:%M:%S %Z}",
        whole=_charts(series, Scale(series.duration_s)),
        stretches=list(_stretches(series)),
        card=card_tables(card),
        headings=HEADINGS,
        folder=folder,
        file=write_scenario(scenario),
    )


class Charts(NamedTuple):
    faults: Markup
    rates: Markup
    latencies: Markup
    partitions: Markup


def _charts(series: Series, scale: Scale) -> Charts:
    drawn = (faults_chart, rate_chart, latency_chart, partitions_chart)
    return Charts(*(Markup(chart(series, scale)) for chart in drawn))


def _stretches(series: Series) -> Iterator[tuple[str, Charts]]:
    """Of a long run, each part as wide as the whole; with what is in it, in words."""
    if series.duration_s <= 2 * _STRETCH_S:
        return
    for begins_s in range(0, ceil(series.duration_s), _STRETCH_S):
        scale = Scale(min(begins_s + _STRETCH_S, series.duration_s), begins_s)
        yield _told(series, scale), _charts(series, scale)


def _told(series: Series, scale: Scale) -> str:
    faults = sum(scale.begins_s <= one.begins < scale.ends_s for one in series.faults)
    kinds = Counter(mark.kind for mark in series.marks if scale.meets(mark.at, mark.at))
    silent_s = sum(
        min(end, scale.ends_s) - max(begin, scale.begins_s)
        for begin, end in series.silences()
        if scale.meets(begin, end)
    )
    acked = sum(bucket.acked for bucket in series.within(scale.begins_s, scale.ends_s).all)
    told = (
        f"{clock(scale.begins_s, series.duration_s)} to {clock(scale.ends_s, series.duration_s)}",
        f"{faults} faults",
        f"{kinds['leader'] + kinds['unclean']} elections",
        f"{acked:,} acked",
        f"{silent_s:.1f} s without any ack",
        *([f"{kinds[WRONG]} violations"] if kinds[WRONG] else []),
    )
    return " · ".join(told)


def _wrongs(judgement: RunJudgement, series: Series) -> Iterator[Mark]:
    """When and where invariants broke, as far as they say it."""
    for ruling in judgement.rulings:
        for one in ruling.violations:
            if one.partition is not None and one.since_us:
                text = f"{one.invariant}: {one.text}"
                yield Mark(series.seconds(one.since_us), WRONG, one.partition, text)


def _prose(text: str) -> Markup:
    """What stands between backticks as code, all else as it is."""
    pieces = [escape(piece) for piece in text.split("`")]
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if place % 2 else piece
        for place, piece in enumerate(pieces)
    )


def _files(folder: RunFolder) -> Iterator[tuple[str, str]]:
    for path in folder.history_files():
        yield str(path.relative_to(folder.root)), f"what {path.stem} asked, was told and saw"
    for path in sorted(folder.cluster.events.glob("*.jsonl")):
        yield str(path.relative_to(folder.root)), f"what {path.stem} decided, and why"
    yield folder.card.name, "what each client did under each fault"
    yield folder.verdict.name, "all of the verdicts, every chain whole"


def figures(judgement: RunJudgement, series: Series) -> list[tuple[str, str]]:
    counts, measures = judgement.counts, judgement.measures
    return [
        (f"{series.duration_s:,.0f} s", "from start to end"),
        (f"{len(series.faults):,}", "faults"),
        (f"{series.elections:,}", "elections of leaders"),
        (f"{counts.get('acked', 0):,}", "sends acked"),
        (f"{counts.get('unknown', 0) + counts.get('refused', 0):,}", "refused or unknown"),
        (f"{measures.lost:,}", "acked and lost"),
        (f"{measures.doubled:,}", "there more than once"),
        *([(f"{measures.skipped:,}", "skipped by a reader")] if measures.skipped else []),
        (f"{series.unavailable_s():,.1f} s", "without any ack"),
    ]
