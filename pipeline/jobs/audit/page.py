"""An audit as one page: verdicts, and what Spark counted, drawn. What programs wrote is escaped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from markupsafe import Markup

from logquake.chaos.checkers.verdicts import Judgement, Verdict
from logquake.chaos.report.canvas import Scale
from logquake.chaos.report.client_charts import rate_chart
from logquake.chaos.report.fault_chart import faults_chart
from logquake.chaos.report.partition_chart import partitions_chart
from logquake.chaos.report.series import MICROSECONDS
from logquake.chaos.report.templates import environment_of, verdicts_told
from logquake.pipeline.jobs.audit.charts import (
    again_chart,
    divergence_chart,
    lag_chart,
    silences_chart,
)
from logquake.pipeline.jobs.audit.looking import Looks
from logquake.pipeline.jobs.audit.standings import Standings

_TITLES = {
    Verdict.HOLDS: "Every invariant that could be judged holds",
    Verdict.BROKEN: "An invariant is broken",
    Verdict.INCONCLUSIVE: "Too little happened to judge by",
}
_SHADES = {Verdict.HOLDS: "held", Verdict.BROKEN: "broke", Verdict.INCONCLUSIVE: "unsure"}


def page(name: str, judgement: Judgement, looks: Looks) -> str:
    """HTML that needs nothing else. ``name`` is the run's."""
    began = datetime.fromtimestamp(looks.series.began_us / MICROSECONDS).astimezone()
    template = environment_of("logquake.pipeline.jobs.audit").get_template("audit.html")
    return template.render(
        name=name,
        began=f"{began:%Y-%m-%d %H:%M:%S %Z}",
        title=_TITLES[judgement.verdict],
        shade=_SHADES[judgement.verdict],
        verdict=judgement.verdict,
        figures=figures(looks),
        charts=_charts(looks),
        stored_twice=[(name, f"{count:,}") for name, count in looks.stored_twice.items()],
        meant=set(),
        **verdicts_told(judgement.rulings, judgement.notes),
    )


def _charts(looks: Looks) -> Mapping[str, Markup]:
    """By name; empty where there is nothing to draw."""
    series = looks.series
    scale = Scale(series.duration_s)

    def drawn(chart: Callable[[Any, Scale], str], told: Iterable[Any]) -> Markup:
        return Markup(chart(told, scale) if told else "")

    return {
        "faults": Markup(faults_chart(series, scale)),
        "rates": Markup(rate_chart(series, scale)),
        "partitions": Markup(partitions_chart(series, scale)),
        "silences": drawn(silences_chart, looks.silences),
        "reader_lags": drawn(lag_chart, looks.reader_lags),
        "replica_lags": drawn(lag_chart, looks.replica_lags),
        "again": drawn(again_chart, looks.again),
        "divergence": Markup(divergence_chart(looks.parts) if looks.parts else ""),
    }


def figures(looks: Looks) -> Sequence[tuple[str, str]]:
    series, parts = looks.series, looks.parts
    acked = sum(bucket.acked for bucket in series.buckets)
    failed = sum(bucket.failed for bucket in series.buckets)
    again = sum(count for seen in looks.again.values() for _, count in seen)
    longest_s = max((one.ends_s - one.begins_s for one in looks.silences), default=0.0)
    return [
        (f"{series.duration_s:,.0f} s", "from start to end"),
        (f"{len(series.faults):,}", "faults"),
        (f"{series.elections:,}", "elections of leaders"),
        (f"{acked:,}", "sends acked"),
        (f"{failed:,}", "refused or unknown"),
        (f"{longest_s:,.1f} s", "the longest without an ack in a partition"),
        (f"{_most(looks.reader_lags):,}", "records a reader was behind at most"),
        (f"{_most(looks.replica_lags):,}", "records a replica was behind at most"),
        (f"{again:,}", "handed out again"),
        (f"{sum(looks.stored_twice.values()):,}", "stored more than once"),
        (f"{sum(one.differing for one in parts):,}", "offsets at which replicas differ"),
        (f"{sum(one.damaged for one in parts):,}", "damaged batches"),
    ]


def _most(lags: Mapping[str, Standings]) -> int:
    return max((lag for seen in lags.values() for _, lag in seen), default=0)
