"""Which faults stood when: with their names where there is room, else in a lane for each kind."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from logquake.chaos.report.canvas import Scale, label, svg, tip
from logquake.chaos.report.series import FaultBar, Series, lanes

_LANE = 20
_CHARACTER = 6.2  # pixels, about
_MOST_LANES = 14
_FAMILIES = {
    "process": {"kill", "stop", "pause", "restart", "restart-storm", "starve", "slow-start"},
    "link": {"partition", "isolate", "cut", "delay", "throttle", "reset", "drop-after"}
    | {"half-open", "inject"},
}


def faults_chart(series: Series, scale: Scale | None = None) -> str:
    scale = scale or Scale(series.duration_s)
    faults = [fault for fault in series.faults if scale.meets(fault.begins, fault.ends)]
    rows = lanes(faults, lambda fault: scale.seconds(_named_to(scale, fault)))
    if len(rows) <= _MOST_LANES:
        labels = [label("faults", _LANE / 2)]
        bars = _bars(scale, rows, are_named=True)
    else:
        rows = _by_kind(faults)
        labels = [label(row[0].kind, (at + 0.5) * _LANE) for at, row in enumerate(rows)]
        bars = _bars(scale, rows, are_named=False)
    return svg(scale, max(1, len(rows)) * _LANE, bars, labels)


def _by_kind(faults: Sequence[FaultBar]) -> list[list[FaultBar]]:
    """Those of a family together."""
    found: dict[tuple[str, str], list[FaultBar]] = {}
    for fault in faults:
        found.setdefault((_family(fault.kind), fault.kind), []).append(fault)
    return [found[key] for key in sorted(found)]


def _bars(scale: Scale, rows: Sequence[Sequence[FaultBar]], *, are_named: bool) -> list[str]:
    return [
        _bar(scale, fault, at * _LANE, is_named=are_named)
        for at, row in enumerate(rows)
        for fault in row
    ]


def _bar(scale: Scale, fault: FaultBar, top: float, *, is_named: bool) -> str:
    left, width = scale.x(fault.begins), _width(scale, fault)
    said = f"{fault.kind} {fault.subject} {fault.details}, {fault.begins:.1f} to {fault.ends:.1f} s"
    if fault.refused is not None:
        said += f": {fault.refused}"
    kind = "refused" if fault.refused is not None else _family(fault.kind)
    name = _name(fault, left, width, top) if is_named else ""
    return (
        f'<g>{tip(said)}<rect class="fault {kind}" x="{left}" y="{top + 2}" width="{width:.1f}" '
        f'height="{_LANE - 4}" rx="3"/>{name}</g>'
    )


def _name(fault: FaultBar, left: float, width: float, top: float) -> str:
    """On its bar where that is wide enough, else behind it."""
    text = _short(fault)
    if len(text) * _CHARACTER + 8 <= width:
        return f'<text class="on" x="{left + 4}" y="{top + 14}">{escape(text)}</text>'
    return f'<text class="beside" x="{left + width + 3:.1f}" y="{top + 14}">{escape(text)}</text>'


def _short(fault: FaultBar) -> str:
    return f"{fault.kind} {fault.subject.replace('broker-', '')}"


def _width(scale: Scale, fault: FaultBar) -> float:
    return max(3.0, scale.x(fault.ends) - scale.x(fault.begins))


def _named_to(scale: Scale, fault: FaultBar) -> float:
    """Where its name ends, or its bar."""
    width, name = _width(scale, fault), len(_short(fault)) * _CHARACTER + 8
    return scale.x(fault.begins) + (width if name <= width else width + name)


def _family(kind: str) -> str:
    return next((name for name, kinds in _FAMILIES.items() if kind in kinds), "machine")
