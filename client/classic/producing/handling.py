"""Handling messages: by the program's event.handler if there is one, and the default one."""

from __future__ import annotations

from logquake.client.classic.producing.event_handler import DefaultEventHandler
from logquake.client.classic.producing.hooks import EventHandler, Messages


class Handling:
    """For one thread at a time, except for give_up()."""

    def __init__(self, of_program: EventHandler | None, default: DefaultEventHandler) -> None:
        self._of_program = of_program
        self._default = default

    def handle(self, messages: Messages) -> None:
        """Raises what either handler raises."""
        if self._of_program is None:
            self._default.handle(messages)
        else:
            self._of_program.handle(messages, self._default.handle)

    def give_up(self) -> None:
        """From any thread: write no more messages."""
        self._default.give_up()

    def close(self) -> None:
        try:
            if self._of_program is not None:
                self._of_program.close()
        finally:
            self._default.close()
