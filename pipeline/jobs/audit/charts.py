"""Lanes of lines, bars and bands, one for whoever is told of; the page has the colours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from logquake.chaos.report.canvas import (
    LEFT,
    MOST_TIPS,
    PLOT,
    WIDTH,
    Scale,
    label,
    svg,
    tip,
)
from logquake.pipeline.jobs.audit.looking import Part, Silence
from logquake.pipeline.jobs.audit.standings import Standings

_LANE = 34
_FOOT = 4
_MOST_LANES = 24
_BAR = 4.0  # pixels


def lag_chart(lags: Mapping[str, Standings], scale: Scale) -> str:
    """Those who were farthest behind, each by its own measure, which the lane names."""
    worst = {name: max((lag for _, lag in seen), default=0) for name, seen in lags.items()}
    parts: list[str] = []
    labels: list[str] = []
    for name, top in _lanes(worst):
        parts.append(_line(scale, lags[name], max(1, worst[name]), top))
        labels += [label(name, top + 10), label(f"up to {worst[name]:,}", top + 24, "dim")]
    return svg(scale, _height(worst), parts, labels)


def _line(scale: Scale, seen: Standings, most: int, top: float) -> str:
    """In steps: from one look to the next it is not known to have changed."""
    foot, path, level = top + _LANE - _FOOT, "", 0.0
    for at, (at_s, lag) in enumerate(seen):
        level = foot - (_LANE - 2 * _FOOT) * lag / most
        path += f"{'H' if at else 'M'}{scale.x(at_s):g}{'V' if at else ' '}{level:.1f}"
    return f'<path class="lag" d="{path}"/>'


def again_chart(again: Mapping[str, Sequence[tuple[float, int]]], scale: Scale) -> str:
    """Records handed out again, by group or reader."""
    sums = {name: sum(count for _, count in seen) for name, seen in again.items()}
    parts: list[str] = []
    labels: list[str] = []
    for name, top in _lanes(sums):
        most = max(count for _, count in again[name])
        parts += (_bar(scale, at_s, count, most, top) for at_s, count in again[name])
        labels += [label(name, top + 10), label(f"{sums[name]:,} in all", top + 24, "dim")]
    return svg(scale, _height(sums), parts, labels)


def _bar(scale: Scale, at_s: float, count: int, most: int, top: float) -> str:
    height = max(2.0, (_LANE - 2 * _FOOT) * count / most)
    said = tip(f"{count:,} at {at_s:.1f} s")
    return (
        f'<rect class="failed" x="{scale.x(at_s)}" y="{top + _LANE - _FOOT - height:.1f}" '
        f'width="{_BAR:g}" height="{height:.1f}">{said}</rect>'
    )


def silences_chart(silences: Iterable[Silence], scale: Scale) -> str:
    """Partitions without an ack, those longest so first."""
    by_partition: dict[str, list[Silence]] = {}
    for one in silences:
        by_partition.setdefault(one.partition, []).append(one)
    lasted = {name: sum(map(_lasted_s, all_)) for name, all_ in by_partition.items()}
    parts: list[str] = []
    labels: list[str] = []
    for name, top in _lanes(lasted):
        parts += (_band(scale, one, top) for one in by_partition[name])
        labels += [label(name, top + 10), label(f"{lasted[name]:,.1f} s", top + 24, "dim")]
    return svg(scale, _height(lasted), parts, labels)


def _lasted_s(silence: Silence) -> float:
    return silence.ends_s - silence.begins_s


def _band(scale: Scale, silence: Silence, top: float) -> str:
    left = scale.x(silence.begins_s)
    said = tip(f"{silence.begins_s:.1f} to {silence.ends_s:.1f} s")
    return (
        f'<rect class="offline" x="{left}" y="{top + _FOOT}" '
        f'width="{max(0.5, scale.x(silence.ends_s) - left):.1f}" '
        f'height="{_LANE - 2 * _FOOT}">{said}</rect>'
    )


def divergence_chart(parts: Iterable[Part]) -> str:
    """Partitions from their first offset to their last, those with most that is not alike first."""
    by_partition = {
        name: list(of_one) for name, of_one in groupby(sorted(parts), lambda one: one.partition)
    }
    unlike = {name: sum(map(_unlike, of_one)) for name, of_one in by_partition.items()}
    are_told = len(unlike) * PLOT // 4 <= MOST_TIPS
    drawn: list[str] = []
    for name, top in _lanes(unlike):
        drawn += [label(name, top + 10), label(f"{unlike[name]:,} unlike", top + 24, "dim")]
        drawn += _stripes(by_partition[name], top, are_told=are_told)
    height = _height(unlike)
    return f'<svg viewBox="0 0 {WIDTH} {height + 6}" role="img">{"".join(drawn)}</svg>'


def _unlike(part: Part) -> int:
    return part.on_some + part.differing + part.damaged


def _stripes(parts: Sequence[Part], top: float, *, are_told: bool) -> Iterator[str]:
    """Neighbours of one kind as one."""
    width = PLOT / len(parts)
    at = 0
    for kind, alike in groupby(parts, _kind):
        stripe = list(alike)
        said = f"from offset {stripe[0].begin}: {_told(stripe)}"
        yield (
            f'<rect class="{kind}" x="{LEFT + at * width:.1f}" y="{top + _FOOT}" '
            f'width="{len(stripe) * width:.1f}" height="{_LANE - 2 * _FOOT}">'
            f"{tip(said) if are_told or kind != 'whole' else ''}</rect>"
        )
        at += len(stripe)


def _kind(part: Part) -> str:
    """The worst of it, by the page's classes."""
    if part.differing or part.damaged:
        return "offline"
    return "shrunk" if part.on_some else "whole"


def _told(stripe: Sequence[Part]) -> str:
    sums = (
        (sum(one.alike for one in stripe), "alike on all"),
        (sum(one.on_some for one in stripe), "on some replicas alone"),
        (sum(one.differing for one in stripe), "differ"),
        (sum(one.damaged for one in stripe), "damaged"),
    )
    return ", ".join(f"{count:,} {said}" for count, said in sums if count)


def _lanes(measures: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """The names of the greatest, by name, each with where its lane begins."""
    greatest = sorted(measures, key=lambda name: (-measures[name], name))[:_MOST_LANES]
    return ((name, at * float(_LANE)) for at, name in enumerate(sorted(greatest)))


def _height(measures: Mapping[str, float]) -> float:
    return max(1, min(len(measures), _MOST_LANES)) * _LANE
