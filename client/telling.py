"""A queue of the program's callbacks, run in order while nobody holds the core.

A core adds to it; its driver runs the queue after each pass, without any lock: a callback may take
long, and may use the client.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable

from logquake.client.callbacks import fails_alone

_LOG = logging.getLogger(__name__)


class Telling:
    def __init__(self) -> None:
        self._waiting: deque[Callable[[], object]] = deque()

    def add(self, function: Callable[[], object]) -> None:
        self._waiting.append(function)

    def tell(self) -> bool:
        """Whether there was anything. One that raises is logged, and keeps nobody else from being
        told.
        """
        was_any = bool(self._waiting)
        while self._waiting:
            function = self._waiting.popleft()
            try:
                function()
            except BaseException as error:
                if not fails_alone(error):
                    raise
                _LOG.exception("a callback of the program's fails")
        return was_any
