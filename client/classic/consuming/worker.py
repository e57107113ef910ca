"""A thread that repeats one function until it is stopped (ShutdownableThread)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

_log = logging.getLogger(__name__)

_AFTER_A_FAILURE_S = 0.2


class Worker:
    """``stopping`` is set when it has to end; the function checks it while waiting. Exceptions are
    logged, and it continues.
    """

    def __init__(self, name: str, work: Callable[[threading.Event], None]) -> None:
        self.stopping = threading.Event()
        self._work = work
        self._name = name
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Make it end soon; join() waits for that."""
        self.stopping.set()

    def join(self) -> None:
        if self._thread.ident is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        while not self.stopping.is_set():
            try:
                self._work(self.stopping)
            except Exception:  # noqa: BLE001 - the next round may succeed
                if not self.stopping.is_set():
                    _log.exception("%s failed", self._name)
                    self.stopping.wait(_AFTER_A_FAILURE_S)
