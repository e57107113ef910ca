"""Signals of a launcher that stays: passed on to the supervisor, which knows what to do.

The first one asks the supervisor for a clean end, a second one for an end at once; a signal that
comes while the cluster still starts ends the start. Here nothing else happens than waiting.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType, TracebackType

from logquake.cluster.launcher import Launched

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Foreground:
    """While entered, stopping signals reach the supervisor instead of this process."""

    def __init__(self, launched: Launched) -> None:
        self._launched = launched
        self._before: dict[signal.Signals, signal.Handlers | object] = {}
        self.was_asked_to_stop = False

    def __enter__(self) -> Foreground:
        for number in PASSED_ON:
            self._before[number] = signal.signal(number, self._pass_on)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what signal() returned

    def _pass_on(self, _number: int, _frame: FrameType | None) -> None:
        at_once = self.was_asked_to_stop
        self.was_asked_to_stop = True
        self._launched.ask_to_stop(at_once=at_once)
        if not at_once:
            # Not print(): the signal may have come in the middle of one.
            os.write(sys.stderr.fileno(), b"stopping; once more to stop at once\n")
