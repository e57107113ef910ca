"""Commands of the controller, one after the other, in pieces that leave the loop to others between.

Kafka holds ReplicaManager's replicaStateChangeLock while it carries one out; its threads serve
clients meanwhile. A command is a generator: each step that it yields is given the function that
goes on with it, to be called later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

Step = Callable[[Callable[[], None]], None]


class CommandQueue:
    def __init__(self) -> None:
        self._commands: deque[Iterator[Step]] = deque()

    def add(self, command: Iterator[Step]) -> None:
        """Carry the command out, at once as far as its first step if none is under way."""
        self._commands.append(command)
        if len(self._commands) == 1:
            self._go_on()

    def close(self) -> None:
        """Leave what is not done yet: whoever asked will ask again."""
        self._commands.clear()

    def _go_on(self) -> None:
        while self._commands:
            step = next(self._commands[0], None)
            if step is not None:
                step(self._go_on)
                return
            self._commands.popleft()
