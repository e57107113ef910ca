"""A thread that does the same again and again, until it is stopped (ShutdownableThread)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

_log = logging.getLogger(__name__)

_AFTER_A_FAILURE_S = 0.2


class Worker:
    """``stopping`` is set once it is to end; what it does looks at it where it waits. What it
    raises is logged, and it goes on.
    """

    def __init__(self, name: str, work: Callable[[threading.Event], None]) -> None:
        self.stopping = threading.Event()
        self._work = work
        self._name = name
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """It ends soon; join() waits for that."""
        self.stopping.set()

    def join(self) -> None:
        if self._thread.ident is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        while not self.stopping.is_set():
            try:
                self._work(self.stopping)
            except Exception:  # noqa: BLE001 - the next round may go better
                if not self.stopping.is_set():
                    _log.exception("%s failed", self._name)
                    self.stopping.wait(_AFTER_A_FAILURE_S)
