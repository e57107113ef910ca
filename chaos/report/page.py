"""The page around the charts. What it shows of rows was written by programs: all is escaped."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

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
    ExitStatus.BROKE: "An invariant that was to hold did not.",
    ExitStatus.INCONCLUSIVE: "What was to be seen was not, or too little happened to judge by.",
}


def write_report(scenario: Scenario, folder: RunFolder, judgement: RunJudgement) -> None:
    """Reads the run's rows once."""
    series = gather(read_history(folder.row_files()))
    folder.report.write_text(page(scenario, judgement, series, folder.root.name))


def page(scenario: Scenario, judgement: RunJudgement, series: Series, folder: str) -> str:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    began = datetime.fromtimestamp(series.began_us / MICROSECONDS).astimezone()
    return environment.get_template(_TEMPLATE).render(
        scenario=scenario,
        judgement=judgement,
        status=judgement.status.name.lower(),
        verdict=_VERDICTS[judgement.status],
        meant=set(scenario.expect.verdicts),
        figures=figures(judgement, series),
        began=f"{began:%Y-%m-%d %H:%M:%S %Z}",
        faults=Markup(charts.faults_chart(series)),
        rates=Markup(charts.rate_chart(series)),
        latencies=Markup(charts.latency_chart(series)),
        partitions=Markup(charts.partitions_chart(series)),
        folder=folder,
        file=write_scenario(scenario),
    )


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
