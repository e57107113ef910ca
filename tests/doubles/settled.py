"""What a part of a call comes to, noted by whoever looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Settled:
    """Satisfies logquake.client.admin.asking.results.Outcome."""

    note: Callable[[Any], None] = lambda _: None
    is_done: bool = False
    outcome: Any = field(default=None)

    def settle(self, outcome: Any) -> None:
        if not self.is_done:
            self.is_done = True
            self.outcome = outcome
            self.note(outcome)
