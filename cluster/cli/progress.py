"""How many records went through, on standard error: as it goes on a terminal, else at the end."""

from __future__ import annotations

import sys
import time

from logquake.cluster.cli.output import say

SHOWN_EVERY_S = 1.0


class Progress:
    """Used with ``with``: the sum is told however the block ends."""

    def __init__(self, done: str, *, quiet: bool) -> None:
        self.records = 0
        self._done = done
        self._quiet = quiet
        self._live = sys.stderr.isatty() and not sys.stdout.isatty() and not quiet
        self._shown_at = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def add(self, records: int) -> None:
        self.records += records
        if self._live and time.monotonic() - self._shown_at >= SHOWN_EVERY_S:
            self._shown_at = time.monotonic()
            print(f"\r{self._text()}", end="", file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        if not self._quiet:
            say(f"\r{self._text()}" if self._live else self._text())

    def _text(self) -> str:
        return f"{self.records} record{'' if self.records == 1 else 's'} {self._done}"
