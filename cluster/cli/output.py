"""Tables for people, plain where they are piped."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from logquake.cluster.observing.tables import Rows, as_text

_STYLES = {"running": "green", "paused": "yellow", "stopping": "yellow", "ended": "red"}


def print_table(columns: Sequence[str], rows: Rows) -> None:
    """In colour on a terminal; elsewhere aligned text that is never cut off."""
    if not sys.stdout.isatty():
        print(as_text(columns, rows))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(f"[{_STYLES[cell]}]{cell}" if cell in _STYLES else cell for cell in row))
    Console().print(table)


def print_json(document: Any) -> None:
    print(json.dumps(document, indent=2))


def say(line: str) -> None:
    """To the terminal, not into what is piped."""
    print(line, file=sys.stderr, flush=True)
