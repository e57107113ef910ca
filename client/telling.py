"""What a client's users want to hear of, told in order, when nobody has the core to himself.

A core adds to it whenever something is so; its driver tells after each pass, without any lock: a
callback of the program's may take long, and may use the client.
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
