"""Threads for what would hold up the loop: fsync, recovery of logs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

T = TypeVar("T")


class Workers(Protocol):
    def run_in_worker(self, work: Callable[[], T], done: Callable[[Future[T]], None]) -> None:
        """Run work on another thread, then done on the loop with the finished future.

        Its result is what work returned, or raises what work raised.
        """
