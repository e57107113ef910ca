"""How far a long verification is."""

from __future__ import annotations

from collections.abc import Callable


class Progress:
    """``on_change`` is called after every batch or so: it decides how often to tell anybody."""

    def __init__(self, on_change: Callable[[Progress], None] | None = None) -> None:
        self.total_bytes = 0
        self.read_bytes = 0
        self.path = ""
        self._on_change = on_change

    def begin(self, path: str) -> None:
        self.path = path

    def read(self, size: int) -> None:
        self.read_bytes += size
        if self._on_change is not None:
            self._on_change(self)
