"""ZooKeeper's answers by hand. What ZooKeeper does with a write is for its model to say."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from logquake.zk.operations import Operation


class ManualSession:
    """Answers operations, in order, when told to; remembers how much was under way at most."""

    def __init__(self) -> None:
        self.asked: deque[tuple[Operation[Any], Callable[[Any], None]]] = deque()
        self.most_asked = 0

    def submit(self, operation: Operation[Any], done: Callable[[Any], None]) -> None:
        self.asked.append((operation, done))
        self.most_asked = max(self.most_asked, len(self.asked))

    def close(self) -> None: ...

    def answer(self, outcome: Any = None) -> None:
        """Answer the operation that was asked first."""
        _, done = self.asked.popleft()
        done(outcome)
