"""Passes of the loop that keep others waiting: what took them so long.

A broker answers nobody while one of its callbacks runs. The longest step of a pass is told with
the request that it took last, if it took one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

NO_API = -1
_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class BusyPass:
    """``step`` is the longest of the pass, ``api_key`` that of the request handled in it or NO_API.

    ``cpu_ms`` tells a loop that works from one that the machine gave no time.
    """

    duration_ms: int
    cpu_ms: int
    step: str
    step_ms: int
    api_key: int


class PassWatch:
    """Calls told with each pass that took longer than limit_ms; 0 watches nothing."""

    def __init__(
        self,
        limit_ms: int,
        told: Callable[[BusyPass], None],
        *,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
        cpu_ns: Callable[[], int] = time.thread_time_ns,
    ) -> None:
        self.api_key = NO_API  # of the request that is being handled
        self._limit_ns = limit_ms * _NS_PER_MS
        self._told = told
        self._monotonic_ns = monotonic_ns
        self._cpu_ns = cpu_ns
        self._began_ns = 0
        self._began_cpu_ns = 0
        self._step_began_ns = 0
        self._longest_ns = 0
        self._longest: object = None
        self._longest_api_key = NO_API

    def begin(self) -> None:
        """The wait is over: a pass begins."""
        self._began_ns = self._step_began_ns = self._monotonic_ns()
        self._began_cpu_ns = self._cpu_ns()
        self._longest_ns = 0

    def step_done(self, step: object) -> None:
        """A callback of the pass returned."""
        now_ns = self._monotonic_ns()
        took_ns = now_ns - self._step_began_ns
        if took_ns > self._longest_ns:
            self._longest_ns, self._longest = took_ns, step
            self._longest_api_key = self.api_key
        self.api_key = NO_API
        self._step_began_ns = now_ns

    def end(self) -> None:
        """The pass is over."""
        duration_ns = self._step_began_ns - self._began_ns
        if 0 < self._limit_ns < duration_ns:
            cpu_ns = self._cpu_ns() - self._began_cpu_ns
            self._told(
                BusyPass(
                    duration_ns // _NS_PER_MS,
                    cpu_ns // _NS_PER_MS,
                    _name_of(self._longest),
                    self._longest_ns // _NS_PER_MS,
                    self._longest_api_key,
                )
            )


def _name_of(step: object) -> str:
    """Such as Connection._on_ready, or what the step calls itself."""
    if isinstance(step, partial):
        step = step.func
    return str(getattr(step, "what", None) or getattr(step, "__qualname__", type(step).__name__))
