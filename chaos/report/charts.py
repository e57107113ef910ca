"""A run's series as SVG. Colours are the page's, by class: light and dark are its affair."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import groupby, pairwise
from math import log10

from logquake.chaos.report.series import Bucket, FaultBar, Look, Mark, Series, lanes

WIDTH, LEFT, RIGHT = 1100, 130, 16
_PLOT = WIDTH - LEFT - RIGHT
_LANE, _PARTITION, _CHART = 20, 34, 110
_MOST_PARTITIONS = 24
_TICKS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600)
_MOST_TICKS = 12
_CHARACTER = 6.2  # pixels, about
_MOST_LANES = 14  # with more, bars that are narrower than their texts have them as tips alone
_LATENCIES = ((1.0, "1 ms"), (10.0, "10 ms"), (100.0, "100 ms"), (1e3, "1 s"), (1e4, "10 s"))
_USUAL = 0.95  # the share of buckets that a chart of rates shows in full


class Scale:
    """Seconds to pixels."""

    def __init__(self, duration_s: float) -> None:
        self.duration_s = duration_s

    def x(self, seconds: float) -> float:
        return round(LEFT + _PLOT * min(1.0, seconds / self.duration_s), 1)

    def seconds(self, x: float) -> float:
        return (x - LEFT) / _PLOT * self.duration_s

    def ticks(self) -> Iterable[float]:
        step = next((one for one in _TICKS if self.duration_s / one <= _MOST_TICKS), _TICKS[-1])
        return range(0, int(self.duration_s) + 1, step)


def faults_chart(series: Series) -> str:
    """With their names, as long as there is room for them."""
    scale = Scale(series.duration_s)
    rows = lanes(series.faults, lambda fault: scale.seconds(_named_to(scale, fault)))
    has_room = len(rows) <= _MOST_LANES
    if not has_room:
        rows = lanes(series.faults)
    bars = [
        _fault(scale, fault, index * _LANE, is_named=has_room)
        for index, lane in enumerate(rows)
        for fault in lane
    ]
    return _svg(scale, max(1, len(rows)) * _LANE, bars, [_label("faults", _LANE / 2)])


def partitions_chart(series: Series) -> str:
    """Those first whose leader or ISR changed most; the band is the ISR, the line what is read."""
    scale = Scale(series.duration_s)
    names = sorted(series.looks, key=lambda name: (-_changes(series.looks[name]), name))
    shown = sorted(names[:_MOST_PARTITIONS])
    marks: dict[str, list[Mark]] = {}
    for mark in series.marks:
        marks.setdefault(mark.subject, []).append(mark)
    parts, labels = [], []
    for index, name in enumerate(shown):
        top = index * _PARTITION
        parts += _partition(scale, series.looks[name], marks.get(name, ()), top)
        labels.append(_label(name, top + _PARTITION / 2))
    return _svg(scale, max(1, len(shown)) * _PARTITION, parts, labels)


def rate_chart(series: Series) -> str:
    """Acks below, what failed above them, and bands where nothing was acked.

    After an outage clients send all at once what they held back: such peaks are cut off, so that
    the rest can be seen.
    """
    scale = Scale(series.duration_s)
    counts = sorted(filter(None, (one.acked + one.failed for one in series.buckets)))
    usual = counts[int(_USUAL * (len(counts) - 1))] if counts else 1
    top = float(min(2 * usual, counts[-1] if counts else 1))
    bars = [
        f'<rect class="silence" x="{scale.x(begin)}" y="0" height="{_CHART}" '
        f'width="{scale.x(end) - scale.x(begin):.1f}"><title>no ack from {begin:.1f} to {end:.1f} s'
        "</title></rect>"
        for begin, end in series.silences()
    ]
    for index, bucket in enumerate(series.buckets):
        bars += _rate_bars(scale, series, index, bucket, top)
    most = f"{top / series.bucket_s:,.0f}/s"
    return _svg(scale, _CHART, bars, [_label("sends", _CHART / 2, "axis"), _label(most, 8, "dim")])


def latency_chart(series: Series) -> str:
    """Medians and 99th of each bucket's acks, by a logarithmic scale from 1 ms on."""
    scale = Scale(series.duration_s)
    worst = max(
        [10.0, *(max(bucket.latencies_ms) for bucket in series.buckets if bucket.latencies_ms)]
    )

    def height(ms: float) -> float:
        return _CHART * (1 - _log(max(ms, 1.0)) / _log(worst))

    marks = [(height(ms), text) for ms, text in _LATENCIES if ms <= worst]
    lines = [f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>' for y, _ in marks]
    for share, name in ((0.99, "p99"), (0.5, "p50")):
        lines += _lines(scale, series, height, share, name)
    labels = [_label(text, max(y, 4), "dim") for y, text in marks]
    return _svg(scale, _CHART, lines, [*labels, _label("latency", _CHART / 2, "axis")])


def _fault(scale: Scale, fault: FaultBar, top: float, *, is_named: bool) -> str:
    left, width = scale.x(fault.begins), _width(scale, fault)
    tip = f"{fault.kind} {fault.subject} {fault.details}, {fault.begins:.1f} to {fault.ends:.1f} s"
    if fault.refused is not None:
        tip += f": {fault.refused}"
    kind = "refused" if fault.refused is not None else _family(fault.kind)
    return (
        f'<g><title>{escape(tip)}</title><rect class="{kind}" x="{left}" y="{top + 2}" '
        f'width="{width:.1f}" height="{_LANE - 4}" rx="3"/>'
        f"{_name_of_fault(fault, left, width, top, is_named=is_named)}</g>"
    )


def _name_of_fault(
    fault: FaultBar, left: float, width: float, top: float, *, is_named: bool
) -> str:
    """On its bar where that is wide enough, else behind it."""
    text = _short(fault)
    if len(text) * _CHARACTER + 8 <= width:
        return f'<text class="on" x="{left + 4}" y="{top + 14}">{escape(text)}</text>'
    if not is_named:
        return ""
    return f'<text class="beside" x="{left + width + 3:.1f}" y="{top + 14}">{escape(text)}</text>'


def _short(fault: FaultBar) -> str:
    return f"{fault.kind} {fault.subject.replace('broker-', '')}"


def _width(scale: Scale, fault: FaultBar) -> float:
    return max(3.0, scale.x(fault.ends) - scale.x(fault.begins))


def _named_to(scale: Scale, fault: FaultBar) -> float:
    """Where its name ends, or its bar."""
    width, name = _width(scale, fault), len(_short(fault)) * _CHARACTER + 8
    return scale.x(fault.begins) + (width if name <= width else width + name)


_FAMILIES = {
    "process": {"kill", "stop", "pause", "restart", "restart-storm", "starve", "slow-start"},
    "link": {"partition", "isolate", "cut", "delay", "throttle", "reset", "drop-after"}
    | {"half-open", "inject"},
}


def _family(kind: str) -> str:
    return next((name for name, kinds in _FAMILIES.items() if kind in kinds), "machine")


def _changes(looks: Sequence[Look]) -> int:
    states = [(look.leader, look.in_sync) for look in looks]
    return sum(one != other for one, other in pairwise(states))


def _partition(scale: Scale, looks: Sequence[Look], marks: Iterable[Mark], top: float) -> list[str]:
    parts = []
    ends = [look.at for look in looks[1:]] + [scale.duration_s]
    for look, end in _merged(looks, ends):
        parts.append(_isr_band(scale, look, end, top))
    most = max((look.high_watermark or 0 for look in looks), default=0)
    points = [
        f"{scale.x(look.at)},{top + 4 + (_PARTITION - 8) * (1 - look.high_watermark / most):.1f}"
        for look in looks
        if look.high_watermark is not None and most
    ]
    parts.append(
        f'<polyline class="watermark" points="{" ".join(points)}">'
        f"<title>high watermark, up to {most:,}</title></polyline>"
    )
    parts += [_mark(scale, mark, top) for mark in marks]
    return parts


def _merged(looks: Sequence[Look], ends: Sequence[float]) -> list[tuple[Look, float]]:
    """Looks that saw the same, as one."""
    merged: list[tuple[Look, float]] = []
    for look, end in zip(looks, ends, strict=True):
        if merged and _state(merged[-1][0]) == _state(look):
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((look, end))
    return merged


def _state(look: Look) -> tuple[int | None, int | None]:
    return look.leader, look.in_sync


def _isr_band(scale: Scale, look: Look, end: float, top: float) -> str:
    if look.leader is None:
        kind, share = "offline", 1.0
    elif look.in_sync is None:
        kind, share = "changing", 1.0
    else:
        kind = "whole" if look.in_sync >= look.replicas else "shrunk"
        share = look.in_sync / max(1, look.replicas)
    height = (_PARTITION - 6) * share
    left = scale.x(look.at)
    leader = "nobody leads" if look.leader is None else f"broker {look.leader} leads"
    tip = f"{leader}, {look.in_sync} of {look.replicas} in sync, from {look.at:.1f} s"
    return (
        f'<rect class="{kind}" x="{left}" y="{top + _PARTITION - 3 - height:.1f}" '
        f'width="{max(0.5, scale.x(end) - left):.1f}" height="{height:.1f}">'
        f"<title>{escape(tip)}</title></rect>"
    )


def _mark(scale: Scale, mark: Mark, top: float) -> str:
    x = scale.x(mark.at)
    return (
        f'<path class="mark {mark.kind}" d="M{x} {top + 2}v{_PARTITION - 5}">'
        f"<title>{escape(f'{mark.at:.2f} s, {mark.text}')}</title></path>"
    )


def _rate_bars(
    scale: Scale, series: Series, index: int, bucket: Bucket, top: float
) -> Iterable[str]:
    left = scale.x(index * series.bucket_s)
    width = max(0.5, scale.x((index + 1) * series.bucket_s) - left)
    said = f"{index * series.bucket_s:.1f} s: {bucket.acked:,} acked, {bucket.failed:,} failed"
    base = float(_CHART)
    for kind, count in (("acked", bucket.acked), ("failed", bucket.failed)):
        height = min(_CHART * count / top, base)
        base -= height
        if count:
            yield (
                f'<rect class="{kind}" x="{left}" y="{base:.1f}" width="{width:.1f}" '
                f'height="{height:.1f}"><title>{said}</title></rect>'
            )


def _lines(
    scale: Scale, series: Series, height: Callable[[float], float], share: float, name: str
) -> Iterable[str]:
    """One for each stretch in which something was acked all the time."""
    found = [bucket.quantile_ms(share) for bucket in series.buckets]
    for is_acked, stretch in groupby(enumerate(found), lambda one: one[1] is not None):
        if is_acked:
            points = [
                (scale.x((index + 0.5) * series.bucket_s), height(ms or 0)) for index, ms in stretch
            ]
            if len(points) == 1:  # a line of one point is none
                points.append((points[0][0] + 2, points[0][1]))
            text = " ".join(f"{x},{y:.1f}" for x, y in points)
            yield f'<polyline class="{name}" points="{text}"><title>{name}</title></polyline>'


def _log(ms: float) -> float:
    return max(log10(ms), 1e-9)


def _label(text: str, middle: float, kind: str = "name") -> str:
    left = 4 if kind == "axis" else LEFT - 8
    return f'<text class="{kind}" x="{left}" y="{middle + 4:.1f}">{escape(text)}</text>'


def _svg(scale: Scale, height: float, parts: Iterable[str], labels: Iterable[str]) -> str:
    grid = "".join(
        f'<path class="grid" d="M{scale.x(tick)} 0V{height}"/>'
        f'<text class="tick" x="{scale.x(tick)}" y="{height + 14}">{tick:g} s</text>'
        for tick in scale.ticks()
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {height + 20}" role="img">{grid}'
        f"{''.join(parts)}{''.join(labels)}</svg>"
    )
