"""An audit's charts by themselves, for notebooks: each brings its colours along."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from logquake.chaos.report.canvas import Scale
from logquake.pipeline.jobs.audit.charts import divergence_chart, lag_chart
from logquake.pipeline.jobs.audit.looking import Part
from logquake.pipeline.jobs.audit.standings import Standings

# Of light pages alone: an image does not know what it lies upon.
_STYLE = """\
svg { background: #fff; font-family: sans-serif; } text { font-size: 11px; fill: #20242a; }
.name, .dim { text-anchor: end; } .dim, .tick { fill: #6d747d; } .tick { text-anchor: middle; }
.grid { stroke: #e2e4e1; } .lag { fill: none; stroke: #2b6cb0; stroke-width: 1.5; }
.whole { fill: #9cc8b0; } .shrunk { fill: #f0c36d; } .offline { fill: #e58585; }
"""
_BEGINS = "<svg "


@dataclass(frozen=True)
class Plot:
    """Shown by whatever shows images of Jupyter's cells."""

    svg: str

    def _repr_svg_(self) -> str:
        namespace = 'xmlns="http://www.w3.org/2000/svg" '
        head, _, rest = self.svg.removeprefix(_BEGINS).partition(">")
        return f"{_BEGINS}{namespace}{head}><style>{_STYLE}</style>{rest}"


def lag_plot(lags: Mapping[str, Standings]) -> Plot:
    """Seconds and records behind, by whoever was."""
    ends_s = max((at_s for seen in lags.values() for at_s, _ in seen), default=1.0)
    return Plot(lag_chart(lags, Scale(ends_s)))


def divergence_plot(parts: Iterable[Part]) -> Plot:
    """Partitions from their first offset to their last."""
    return Plot(divergence_chart(parts))
