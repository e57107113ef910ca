"""What became of partitions: a lane each, its height the ISR, its line the high watermark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from logquake.chaos.report.canvas import MOST_TIPS, Scale, label, svg, tip
from logquake.chaos.report.series import CONTROLLER, Look, Mark, Series

_LANE = 34
_MOST_PARTITIONS = 24
# What is seen where there is not a pixel for each: the worst.
_BY_HARM = ("whole", "changing", "shrunk", "offline")


def partitions_chart(series: Series, scale: Scale | None = None) -> str:
    """Those whose leader or ISR changed most, below the controller's office."""
    scale = scale or Scale(series.duration_s)
    changed = sorted(series.looks, key=lambda name: (-_changes(series.looks[name]), name))
    shown = sorted(changed[:_MOST_PARTITIONS])
    marks = _by_subject(series.marks, scale)
    names = [*([CONTROLLER] if CONTROLLER in marks else []), *shown]
    parts: list[str] = []
    labels: list[str] = []
    for at, name in enumerate(names):
        top = at * _LANE
        parts += _lane(scale, series.looks.get(name, ()), marks.get(name, ()), top)
        labels.append(label(name, top + _LANE / 2))
    return svg(scale, max(1, len(names)) * _LANE, parts, labels)


def _by_subject(marks: Iterable[Mark], scale: Scale) -> dict[str, list[Mark]]:
    found: dict[str, list[Mark]] = {}
    for mark in marks:
        if scale.meets(mark.at, mark.at):
            found.setdefault(mark.subject, []).append(mark)
    return found


def _changes(looks: Sequence[Look]) -> int:
    states = [(look.leader, look.in_sync) for look in looks]
    return sum(one != other for one, other in pairwise(states))


def _lane(scale: Scale, looks: Sequence[Look], marks: Sequence[Mark], top: float) -> Iterator[str]:
    bands = list(_bands(scale, looks))
    if len(bands) <= MOST_TIPS // _MOST_PARTITIONS:
        yield from (_telling(band, top) for band in bands)
    else:
        yield from _silent(bands, top)
    yield from _watermark(scale, looks, top)
    yield from (_mark(scale, mark, top) for mark in marks)


class _Band(NamedTuple):
    """From one pixel to another a partition was in one state; ``share`` of its replicas in sync."""

    left: float
    width: float
    kind: str
    share: float
    tip: str


def _bands(scale: Scale, looks: Sequence[Look]) -> Iterator[_Band]:
    for look, ends_s in _merged(looks, scale.ends_s):
        if not scale.meets(look.at, ends_s):
            continue
        left = scale.x(look.at)
        kind, share = _state(look)
        leader = "nobody leads" if look.leader is None else f"broker {look.leader} leads"
        said = f"{leader}, {look.in_sync} of {look.replicas} in sync, from {look.at:.1f} s"
        yield _Band(left, max(0.5, scale.x(ends_s) - left), kind, share, said)


def _merged(looks: Sequence[Look], last_s: float) -> Iterator[tuple[Look, float]]:
    """Looks that saw the same, as one; with when another saw something else."""
    first: Look | None = None
    for look in looks:
        if first is None:
            first = look
        elif (look.leader, look.in_sync) != (first.leader, first.in_sync):
            yield first, look.at
            first = look
    if first is not None:
        yield first, max(last_s, looks[-1].at)


def _state(look: Look) -> tuple[str, float]:
    if look.leader is None:
        return "offline", 1.0
    if look.in_sync is None:
        return "changing", 1.0
    kind = "whole" if look.in_sync >= look.replicas else "shrunk"
    return kind, look.in_sync / max(1, look.replicas)


def _telling(band: _Band, top: float) -> str:
    height = _height(band)
    return (
        f'<rect class="{band.kind}" x="{band.left}" y="{_foot(top) - height:.1f}" '
        f'width="{band.width:.1f}" height="{height:.1f}">{tip(band.tip)}</rect>'
    )


def _silent(bands: Iterable[_Band], top: float) -> Iterator[str]:
    """A path for each state. Of bands narrower than a pixel the worst fills it."""
    drawn: dict[str, list[_Band]] = {kind: [] for kind in _BY_HARM}
    narrow: dict[int, _Band] = {}
    for band in bands:
        if band.width >= 1:
            drawn[band.kind].append(band)
        else:
            pixel = int(band.left)
            narrow[pixel] = max(narrow.get(pixel, band), band, key=_harm)
    for pixel, band in narrow.items():
        drawn[band.kind].append(band._replace(left=float(pixel), width=1.0))
    for kind, of_kind in drawn.items():
        if of_kind:
            text = "".join(
                f"M{band.left:g} {_foot(top):g}v-{_height(band):.0f}h{band.width:.1f}"
                f"v{_height(band):.0f}z"
                for band in of_kind
            )
            yield f'<path class="{kind}" d="{text}"/>'


def _harm(band: _Band) -> tuple[int, float]:
    return _BY_HARM.index(band.kind), -band.share


def _foot(top: float) -> float:
    return top + _LANE - 3


def _height(band: _Band) -> float:
    return (_LANE - 6) * band.share


def _watermark(scale: Scale, looks: Sequence[Look], top: float) -> Iterator[str]:
    seen = [
        (look.at, look.high_watermark)
        for look in looks
        if look.high_watermark is not None and scale.meets(look.at, look.at)
    ]
    if not seen:
        return
    low, high = min(mark for _, mark in seen), max(mark for _, mark in seen)
    points = [
        (scale.x(at), round(2 * (top + 4 + (_LANE - 8) * _above(mark, low, high))) / 2)
        for at, mark in seen
    ]
    text = " ".join(f"{x:g},{y:g}" for x, y in _bends(points))
    said = f"high watermark, {low:,} to {high:,}"
    yield f'<polyline class="watermark" points="{text}">{tip(said)}</polyline>'


def _above(mark: int, low: int, high: int) -> float:
    """Where it lies between the highest, 0, and the lowest, 1."""
    return 1 - (mark - low) / max(1, high - low)


def _bends(points: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Without those that lie as high as both of their neighbours."""
    for at, point in enumerate(points):
        beside = (*points[max(0, at - 1) : at], *points[at + 1 : at + 2])
        if len(beside) < 2 or any(other[1] != point[1] for other in beside):
            yield point


def _mark(scale: Scale, mark: Mark, top: float) -> str:
    return (
        f'<path class="mark {mark.kind}" d="M{scale.x(mark.at)} {top + 2}v{_LANE - 5}">'
        f"{tip(f'{mark.at:.2f} s, {mark.text}')}</path>"
    )
