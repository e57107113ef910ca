"""What clients had of it: how much was acked, and how long an ack took."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from math import log10

from logquake.chaos.report.canvas import CHART, LEFT, RIGHT, WIDTH, Scale, label, svg, tip
from logquake.chaos.report.series import Bucket, Buckets, Series

_LATENCIES = ((1.0, "1 ms"), (10.0, "10 ms"), (100.0, "100 ms"), (1e3, "1 s"), (1e4, "10 s"))
_USUAL = 0.95  # the share of buckets that a chart of rates shows in full


def rate_chart(series: Series, scale: Scale | None = None) -> str:
    """Acks below, what failed above them, and bands where nothing was acked.

    After an outage clients send all at once what they held back: such peaks are cut off, so that
    the rest can be seen.
    """
    scale = scale or Scale(series.duration_s)
    buckets = series.within(scale.begins_s, scale.ends_s)
    counts = sorted(filter(None, (one.acked + one.failed for one in buckets.all)))
    usual = counts[int(_USUAL * (len(counts) - 1))] if counts else 1
    top = float(min(2 * usual, counts[-1] if counts else 1))
    silences = [one for one in series.silences() if scale.meets(*one)]
    bars = [_silence(scale, *one) for one in silences]
    bars += [_rate_bars(scale, begins_s, buckets.width_s, one, top) for begins_s, one in buckets]
    most = f"{top / buckets.width_s:,.0f}/s"
    return svg(scale, CHART, bars, [label("sends", CHART / 2, "axis"), label(most, 8, "dim")])


def latency_chart(series: Series, scale: Scale | None = None) -> str:
    """Medians and 99th of each bucket's acks, by a logarithmic scale from 1 ms on."""
    scale = scale or Scale(series.duration_s)
    buckets = series.within(scale.begins_s, scale.ends_s)
    worst = max([10.0, *(max(one.latencies_ms) for one in buckets.all if one.latencies_ms)])

    def height(ms: float) -> float:
        return CHART * (1 - _log(max(ms, 1.0)) / _log(worst))

    marks = [(height(ms), text) for ms, text in _LATENCIES if ms <= worst]
    lines = [f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>' for y, _ in marks]
    for share, name in ((0.99, "p99"), (0.5, "p50")):
        lines += _lines(scale, buckets, height, share, name)
    labels = [label(text, max(y, 4), "dim") for y, text in marks]
    return svg(scale, CHART, lines, [*labels, label("latency", CHART / 2, "axis")])


def _silence(scale: Scale, begins_s: float, ends_s: float) -> str:
    left = scale.x(begins_s)
    return (
        f'<rect class="silence" x="{left}" y="0" width="{scale.x(ends_s) - left:.1f}" '
        f'height="{CHART}">{tip(f"no ack from {begins_s:.1f} to {ends_s:.1f} s")}</rect>'
    )


def _rate_bars(scale: Scale, begins_s: float, width_s: float, bucket: Bucket, top: float) -> str:
    left = scale.x(begins_s)
    width = max(0.5, scale.x(begins_s + width_s) - left)
    base, bars = float(CHART), ""
    for kind, count in (("acked", bucket.acked), ("failed", bucket.failed)):
        height = min(CHART * count / top, base)
        base -= height
        if count:
            bars += (
                f'<rect class="{kind}" x="{left}" y="{base:.1f}" width="{width:.1f}" '
                f'height="{height:.1f}"/>'
            )
    said = f"{begins_s:.1f} s: {bucket.acked:,} acked, {bucket.failed:,} failed"
    return f"<g>{tip(said)}{bars}</g>" if bars else ""


def _lines(
    scale: Scale, buckets: Buckets, height: Callable[[float], float], share: float, name: str
) -> Iterable[str]:
    """One for each stretch in which something was acked all the time."""
    found = [(begins_s, bucket.quantile_ms(share)) for begins_s, bucket in buckets]
    for is_acked, stretch in groupby(found, lambda one: one[1] is not None):
        if is_acked:
            points = [
                (scale.x(begins_s + buckets.width_s / 2), height(ms or 0))
                for begins_s, ms in stretch
            ]
            if len(points) == 1:  # a line of one point is none
                points.append((points[0][0] + 2, points[0][1]))
            text = " ".join(f"{x},{y:.1f}" for x, y in points)
            yield f'<polyline class="{name}" points="{text}">{tip(name)}</polyline>'


def _log(ms: float) -> float:
    return max(log10(ms), 1e-9)
