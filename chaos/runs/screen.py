"""What a person sees of a run: one screen of throughput, ISRs, faults and the last events.

Off a terminal, a line for each fault and step, for what brokers decided at once, and now and then
one of throughput, ISRs and faults.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from threading import Lock

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.history.writer import wall_us
from logquake.chaos.runs.status import Status
from logquake.chaos.runs.telling import Teller, clock, in_short, outcomes

_BARS = " ▁▂▃▄▅▆▇█"
_KEPT_EVENTS = 60
_SHOWN_FAULTS = 5
_KEPT_RATES = 60
_FRAME_ROWS, _FRAME_COLUMNS = 3, 4  # a border, and the row that a terminal leaves for its cursor
_BETWEEN_ROWS = 4  # blanks, and the heading of partitions
_COUNTS_COLUMNS = 62  # of the line of rates, without its bars
_REFRESHES_PER_S = 4
_LINE_EVERY_S = 15.0  # where there is no screen


class Rates:
    """Acks a second, over the last looks."""

    def __init__(self) -> None:
        self._last = (0.0, 0)
        self.recent: deque[float] = deque(maxlen=_KEPT_RATES)

    def note(self, elapsed_s: float, acked: int) -> None:
        before_s, before = self._last
        if elapsed_s - before_s >= 1:
            self.recent.append((acked - before) / (elapsed_s - before_s))
            self._last = (elapsed_s, acked)

    def spark(self, columns: int) -> str:
        """The last of them, the highest as a full bar."""
        shown = list(self.recent)[-columns:] if columns > 0 else []
        top = max(shown, default=0.0) or 1.0
        return "".join(_BARS[round(rate / top * (len(_BARS) - 1))] for rate in shown)


class LiveScreen:
    """One screen, redrawn; as high and as wide as the terminal is at that moment."""

    def __init__(self, title: str, console: Console) -> None:
        self._title = title
        self._console = console
        self._lock = Lock()
        self._events: deque[Text] = deque(maxlen=_KEPT_EVENTS)
        self._teller = Teller()
        self._status = Status("starting", 0.0, {}, {}, [])
        self._rates = Rates()
        self._live = Live(console=console, refresh_per_second=_REFRESHES_PER_S, transient=True)

    def __enter__(self) -> LiveScreen:
        self._live.start()
        self.show(self._status)
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def say(self, text: str) -> None:
        with self._lock:
            self._events.append(_line((f"{_now()}  {text}", "bold")))
        self.show(self._status)

    def happened(self, rows: Sequence[Row]) -> None:
        told = [_line((one.line, _STYLES.get(one.what, "dim"))) for one in self._teller.tell(rows)]
        with self._lock:
            self._events.extend(told)

    def show(self, status: Status) -> None:
        self._status = status
        self._rates.note(status.elapsed_s, status.counts.get(Kind.ACKED, 0))
        with self._lock:
            events = list(self._events)
        title = f"{status.phase} · {status.elapsed_s:.0f} s · {self._title}"
        size = self._console.size
        self._live.update(picture(title, status, self._rates, events, size.width, size.height))


def picture(
    title: str,
    status: Status,
    rates: Rates,
    events: Sequence[Text],
    columns: int,
    rows: int,
) -> Panel:
    """All that a terminal of that size has room for: faults first, then partitions, then events."""
    faults = _faults(status)
    rest = max(0, rows - _FRAME_ROWS - _BETWEEN_ROWS - len(faults))
    partitions = min(len(status.partitions), (rest + 1) // 2)
    table: list[RenderableType] = [_partitions(status, partitions), Text()] if partitions else []
    shown: list[RenderableType] = [
        _throughput(status, rates, columns - _FRAME_COLUMNS),
        *faults,
        Text(),
        *table,
        *events[max(0, len(events) - (rest - partitions)) :],
    ]
    return Panel(Group(*shown), title=title, title_align="left")


def _throughput(status: Status, rates: Rates, columns: int) -> Text:
    rate = rates.recent[-1] if rates.recent else 0.0
    return _line(
        (f"{rate:,.0f} acks/s ", "bold"),
        (rates.spark(columns - _COUNTS_COLUMNS), "cyan"),
        f"  {outcomes(status.counts)}",
    )


def _line(*parts: str | tuple[str, str]) -> Text:
    """Of one row, however narrow the terminal is."""
    return Text.assemble(*parts, no_wrap=True, overflow="ellipsis")


class PlainScreen:
    """Lines, for logs and pipes."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._teller = Teller()
        self._phase = ""
        self._last = (0.0, 0)  # when a line of all was written, and what was acked by then

    def say(self, text: str) -> None:
        self._print(f"{_now()}  {text}")

    def happened(self, rows: Sequence[Row]) -> None:
        for told in self._teller.tell(rows):
            self._print(told.line)

    def show(self, status: Status) -> None:
        last_s, last_acked = self._last
        if status.phase == self._phase and status.elapsed_s - last_s < _LINE_EVERY_S:
            return
        acked = status.counts.get(Kind.ACKED, 0)
        rate = (acked - last_acked) / max(status.elapsed_s - last_s, 0.001)
        self._phase, self._last = status.phase, (status.elapsed_s, acked)
        self._print(f"{_now()}  {in_short(status, rate)}")

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


class NoScreen:
    """For who wants the verdict alone."""

    def say(self, text: str) -> None: ...
    def happened(self, rows: Sequence[Row]) -> None: ...
    def show(self, status: Status) -> None: ...


_STYLES: dict[str, str] = {Kind.FAULT_BEGUN: "red", Kind.FAULT_ENDED: "green"}


def _now() -> str:
    return clock(wall_us())


def _partitions(status: Status, rows: int) -> Table:
    """Those with the smallest ISRs: where it hurts is seen however many there are."""
    table = Table(box=None, pad_edge=False)
    for heading in ("partition", "leader", "epoch", "in sync", "high watermark"):
        table.add_column(heading, style="dim" if heading == "epoch" else "", no_wrap=True)
    hurt = sorted(status.partitions.values(), key=lambda row: (_in_sync(row), row.subject))
    for row in sorted(hurt[:rows], key=lambda row: row.subject):
        leader = row.after["leader"]
        table.add_row(
            row.subject,
            "[red]none[/]" if leader is None else str(leader),
            str(row.epoch),
            _isr(row.after["isr"], row.after["replicas"]),
            "" if row.offset is None else f"{row.offset:,}",
        )
    return table


def _in_sync(row: Row) -> int:
    return len(row.after["isr"] or ())


def _isr(isr: list[int] | None, replicas: list[int]) -> str:
    if isr is None:
        return "[dim]changing[/]"
    members = " ".join(map(str, sorted(isr)))
    return f"[yellow]{members}[/]" if len(isr) < len(replicas) else members


def _faults(status: Status) -> list[Text]:
    if not status.standing:
        return [_line(("nothing is broken", "dim"))]
    shown = [_line((f"✗ {fault} ({subject})", "red")) for fault, subject in status.standing]
    if len(shown) <= _SHOWN_FAULTS:
        return shown
    more = len(shown) - _SHOWN_FAULTS + 1
    return [*shown[: _SHOWN_FAULTS - 1], _line((f"and {more} faults more", "red"))]
