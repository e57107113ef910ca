"""What the demo shows: one line of progress a step, and a closing table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

_OK, _BAD = "[green]ok[/]", "[red]NO[/]"


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the closing table; ``holds`` is None where there is nothing to hold."""

    what: str
    figure: str
    holds: bool | None = None


class Screen:
    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console()

    def say(self, text: str) -> None:
        self._console.print(text)

    def say_as_is(self, text: str) -> None:
        """What programs wrote is no markup."""
        self._console.print(text, markup=False, highlight=False)

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """A step that says when it begins and how long it took."""
        began = monotonic()
        self._console.print(f"[bold]{what}[/] ...")
        yield
        self._console.print(f"  [dim]{monotonic() - began:.1f} s[/]")

    @contextmanager
    def counting(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """A bar that is moved by calling what is yielded with the count so far."""
        columns = (
            TextColumn("[bold]{task.description}[/]"),
            BarColumn(),
            TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=self._console) as progress:
            task = progress.add_task(what, total=total)
            yield lambda count: progress.update(task, completed=count)

    def close(self, lines: list[Line]) -> None:
        table = Table(title="What survived", title_justify="left")
        table.add_column("")
        table.add_column("", justify="right")
        table.add_column("")
        for line in lines:
            mark = "" if line.holds is None else _OK if line.holds else _BAD
            table.add_row(line.what, line.figure, mark)
        self._console.print(table)
