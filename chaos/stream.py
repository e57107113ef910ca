"""A steady stream of numbered records, sent by a thread of its own until it is told to end."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event, Thread
from time import monotonic

from logquake.chaos.history.outcomes import History
from logquake.chaos.workload import Workload

_STEP_S = 0.01


class RecordStream:
    """Sends (key, number) pairs at about ``per_second``, over ``keys`` different keys."""

    def __init__(self, workload: Workload, *, per_second: int, keys: int = 50) -> None:
        self._workload = workload
        self._per_step = max(1, round(per_second * _STEP_S))
        self._keys = keys
        self._stop = Event()
        self._thread = Thread(target=self._run, name="record-stream", daemon=True)

    def __enter__(self) -> RecordStream:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end(timeout_s=60.0)

    @property
    def history(self) -> History:
        return self._workload.history

    def pair(self, number: int) -> tuple[bytes, bytes]:
        """What send ``number`` carries."""
        return b"key-%d" % (number % self._keys), b"%d" % number

    def wait_for_acks(self, count: int, timeout_s: float) -> None:
        """Until ``count`` more sends are acked. Raises TimeoutError, saying how many were."""
        deadline = monotonic() + timeout_s
        before = self.history.acked
        while self.history.acked < before + count:
            if monotonic() > deadline:
                came = self.history.acked - before
                raise TimeoutError(f"{came} of {count} acks came in {timeout_s:g} s")
            self._stop.wait(_STEP_S)

    def end(self, timeout_s: float) -> int:
        """Stop sending and wait for the outcomes; how many sends never had one."""
        self._stop.set()
        self._thread.join(timeout_s)
        return self._workload.finish(timeout_s)

    def _run(self) -> None:
        self._workload.run(self._pairs())

    def _pairs(self) -> Iterator[tuple[bytes, bytes]]:
        number = 0
        while not self._stop.wait(_STEP_S):
            for _ in range(self._per_step):
                yield self.pair(number)
                number += 1
