"""A steady stream of numbered records, sent by a thread of its own until it is told to end."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event, Thread
from time import monotonic

from logquake.chaos.history.outcomes import Outcomes
from logquake.chaos.workloads.pacing import Pace
from logquake.chaos.workloads.pairs import PairProducer

_STEP_S = 0.01


class RecordStream:
    """Sends (key, number) pairs at about ``per_second``, over ``keys`` different keys."""

    def __init__(self, producer: PairProducer, *, per_second: int, keys: int = 50) -> None:
        self._producer = producer
        self._keys = keys
        self._stop = Event()
        self._pace = Pace(per_second, self._stop.wait)
        self._thread = Thread(target=self._run, name="record-stream", daemon=True)

    def __enter__(self) -> RecordStream:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end(timeout_s=60.0)

    @property
    def outcomes(self) -> Outcomes:
        return self._producer.outcomes

    def pair(self, number: int) -> tuple[bytes, bytes]:
        """What send ``number`` carries."""
        return b"key-%d" % (number % self._keys), b"%d" % number

    def wait_for_acks(self, count: int, timeout_s: float) -> None:
        """Until ``count`` more sends are acked. Raises TimeoutError, saying how many were."""
        deadline = monotonic() + timeout_s
        before = self.outcomes.acked
        while self.outcomes.acked < before + count:
            if monotonic() > deadline:
                came = self.outcomes.acked - before
                raise TimeoutError(f"{came} of {count} acks came in {timeout_s:g} s")
            self._stop.wait(_STEP_S)

    def end(self, timeout_s: float) -> int:
        """Stop sending and wait for the outcomes; how many sends never had one."""
        self._stop.set()
        self._thread.join(timeout_s)
        return self._producer.finish(timeout_s)

    def _run(self) -> None:
        self._producer.run(self._pairs())

    def _pairs(self) -> Iterator[tuple[bytes, bytes]]:
        number = 0
        while self._pace.comes_before(self._stop):
            yield self.pair(number)
            number += 1
