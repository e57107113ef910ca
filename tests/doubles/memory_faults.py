"""What goes wrong with a MemoryDisk: calls that fail, and power that goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

# Called with the operation and its path.
Watcher = Callable[[str, str], None]


class PowerCutError(Exception):
    """The disk is gone until ``MemoryDisk.crash()``; nothing in storage may catch this."""


@dataclass(slots=True)
class _Fault:
    calls_left: int
    error: Exception
    lasting: bool

    def strikes(self) -> bool:
        self.calls_left -= 1
        return self.calls_left == 0 or (self.lasting and self.calls_left < 0)


class Faults:
    """Told of every call before it happens; lets it happen, or raises.

    Changes and reads are counted apart. ``watcher`` sees every change before it is made.
    """

    def __init__(self) -> None:
        self.changes = 0
        self.reads = 0
        self.history: list[str] = []
        self.keep_history = False
        self.watcher: Watcher | None = None
        self._of_changes: _Fault | None = None
        self._of_reads: _Fault | None = None
        self._power_cut: PowerCutError | None = None

    def fail_change(self, call: int, error: Exception, *, lasting: bool) -> None:
        self._of_changes = _Fault(call, error, lasting)

    def fail_read(self, call: int, error: OSError, *, lasting: bool) -> None:
        self._of_reads = _Fault(call, error, lasting)

    def heal(self) -> None:
        self._of_changes = self._of_reads = self._power_cut = None

    def before_change(self, operation: str, path: str) -> None:
        self.changes += 1
        if self.keep_history:
            self.history.append(f"{operation} {path}")
        if self.watcher is not None:
            self.watcher(operation, path)
        self._strike(self._of_changes)

    def before_read(self) -> None:
        self.reads += 1
        self._strike(self._of_reads)

    def _strike(self, fault: _Fault | None) -> None:
        if self._power_cut is not None:
            raise self._power_cut
        if fault is not None and fault.strikes():
            if isinstance(fault.error, PowerCutError):
                self._power_cut = fault.error
            raise fault.error
