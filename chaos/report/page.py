"""The page around the charts. What it shows of rows was written by programs: all is escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from logquake.chaos.checkers.verdicts import Verdict
from logquake.chaos.history.reader import read_history
from logquake.chaos.report import charts
from logquake.chaos.report.series import MICROSECONDS, Series, gather
from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.judgement import ExitStatus, RunJudgement
from logquake.chaos.scenarios.files import write_scenario
from logquake.chaos.scenarios.scenario import Scenario

_TEMPLATE = "page.html"
_VERDICTS = {
    ExitStatus.HELD: "What was to hold held, and what was to be seen was seen.",
    ExitStatus.BROKE: "An invariant that was to hold did not, or more was seen than may be.",
    ExitStatus.INCONCLUSIVE: "What was to be seen was not, or too little happened to judge by.",
}


def write_report(scenario: Scenario, folder: RunFolder, judgement: RunJudgement) -> None:
    """Reads the run's rows once."""
    series = gather(read_history(folder.row_files()))
    text = page(scenario, judgement, series, folder.root.name, list(_files(folder)))
    folder.report.write_text(text)


def page(
    scenario: Scenario,
    judgement: RunJudgement,
    series: Series,
    folder: str,
    files: Sequence[tuple[str, str]] = (),
) -> str:
    """``files`` of the folder are linked to, each with what is in it."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters["prose"] = _prose
    began = datetime.fromtimestamp(series.began_us / MICROSECONDS).astimezone()
    return environment.get_template(_TEMPLATE).render(
        scenario=scenario,
        judgement=judgement,
        status=judgement.status.name.lower(),
        verdict=_VERDICTS[judgement.status],
        meant=set(scenario.expect.verdicts),
        others=[one for one in judgement.rulings if one.verdict is not Verdict.HOLDS],
        holding=[one for one in judgement.rulings if one.verdict is Verdict.HOLDS],
        files=files,
        figures=figures(judgement, series),
        began=f"{began:%Y-%m-%d %H:%M:%S %Z}",
        faults=Markup(charts.faults_chart(series)),
        rates=Markup(charts.rate_chart(series)),
        latencies=Markup(charts.latency_chart(series)),
        partitions=Markup(charts.partitions_chart(series)),
        folder=folder,
        file=write_scenario(scenario),
    )


def _prose(text: str) -> Markup:
    """What stands between backticks as code, all else as it is."""
    pieces = [escape(piece) for piece in text.split("`")]
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if place % 2 else piece
        for place, piece in enumerate(pieces)
    )


def _files(folder: RunFolder) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.histories.glob("*.jsonl")):
        yield str(path.relative_to(folder.root)), f"what {path.stem} asked, was told and saw"
    for path in sorted(folder.cluster.events.glob("*.jsonl")):
        yield str(path.relative_to(folder.root)), f"what {path.stem} decided, and why"
    yield folder.verdict.name, "all of the verdicts, every chain whole"


def figures(judgement: RunJudgement, series: Series) -> list[tuple[str, str]]:
    counts, measures = judgement.counts, judgement.measures
    return [
        (f"{series.duration_s:,.0f} s", "from start to end"),
        (f"{len(series.faults):,}", "faults"),
        (f"{sum(one.kind == 'leader' for one in series.marks):,}", "elections of leaders"),
        (f"{counts.get('acked', 0):,}", "sends acked"),
        (f"{counts.get('unknown', 0) + counts.get('refused', 0):,}", "refused or unknown"),
        (f"{measures.lost:,}", "acked and lost"),
        (f"{measures.doubled:,}", "there more than once"),
        (f"{series.unavailable_s():,.1f} s", "without any ack"),
    ]
