"""What all charts share: a stretch of time as pixels, and SVG around it.

Colours are the page's, by class: light and dark are its affair.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from math import ceil

WIDTH, LEFT, RIGHT = 1100, 130, 16
CHART = 110  # the height of one that is no lane
PLOT = WIDTH - LEFT - RIGHT
# So many parts of a chart tell what they are when they are pointed at. Where there are more they
# are too small for that, and would be most of the page.
MOST_TIPS = 1_500
_TICKS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600)
_MOST_TICKS = 12
_IN_SECONDS = 120.0  # above, minutes are told as well


class Scale:
    """Seconds to pixels, of a stretch of time."""

    def __init__(self, ends_s: float, begins_s: float = 0.0) -> None:
        self.begins_s = begins_s
        self.ends_s = ends_s

    @property
    def duration_s(self) -> float:
        return self.ends_s - self.begins_s

    def x(self, seconds: float) -> float:
        """Of the border, for what lies beyond it."""
        share = (seconds - self.begins_s) / self.duration_s
        return round(LEFT + PLOT * min(1.0, max(0.0, share)), 1)

    def seconds(self, x: float) -> float:
        return self.begins_s + (x - LEFT) / PLOT * self.duration_s

    def meets(self, begins_s: float, ends_s: float) -> bool:
        return ends_s >= self.begins_s and begins_s <= self.ends_s

    def ticks(self) -> Iterable[float]:
        step = next((one for one in _TICKS if self.duration_s / one <= _MOST_TICKS), _TICKS[-1])
        return range(ceil(self.begins_s / step) * step, int(self.ends_s) + 1, step)


def clock(seconds: float, longest_s: float) -> str:
    """``45 s``, or ``12:30`` where it goes on for minutes."""
    if longest_s <= _IN_SECONDS:
        return f"{seconds:g} s"
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def label(text: str, middle: float, kind: str = "name") -> str:
    left = 4 if kind == "axis" else LEFT - 8
    return f'<text class="{kind}" x="{left}" y="{middle + 4:.1f}">{escape(text)}</text>'


def tip(text: str) -> str:
    return f"<title>{escape(text)}</title>"


def svg(scale: Scale, height: float, parts: Iterable[str], labels: Iterable[str]) -> str:
    grid = "".join(
        f'<path class="grid" d="M{scale.x(tick)} 0V{height}"/>'
        f'<text class="tick" x="{scale.x(tick)}" y="{height + 14}">'
        f"{clock(tick, scale.ends_s)}</text>"
        for tick in scale.ticks()
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {height + 20}" role="img">{grid}'
        f"{''.join(parts)}{''.join(labels)}</svg>"
    )
