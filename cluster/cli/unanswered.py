"""Saying that no broker answers yet, while a command's first question waits for one."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from logquake.cluster.cli.output import say

SAY_AFTER_S = 5.0


class _LastTrouble(logging.Handler):
    """Of the connections of whatever clients there are."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.told = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.told = f": {record.getMessage()}"


@contextmanager
def saying_if_unanswered(after_s: float = SAY_AFTER_S) -> Iterator[None]:
    """Once, if the block takes that long; what it asks goes on."""
    trouble = _LastTrouble()
    logger = logging.getLogger("logquake.client.network")
    timer = threading.Timer(after_s, lambda: say(f"no broker answers yet, trying on{trouble.told}"))
    timer.daemon = True
    logger.addHandler(trouble)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        logger.removeHandler(trouble)
