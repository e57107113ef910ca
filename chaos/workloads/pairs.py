"""A producer of whatever it is given: idempotent, acks=all, its outcomes in arrays.

For a million lines of somebody's text, whose fate a program wants to know while it goes on; what
is to be judged together with others writes rows (`producers.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from time import monotonic

from confluent_kafka import Producer

from logquake.chaos.history.outcomes import Outcomes
from logquake.chaos.workloads.clients import IDEMPOTENT
from logquake.chaos.workloads.sending import Record, Sender


class PairProducer:
    """Sends (key, value) pairs to one topic and keeps their outcomes, and the times of the acks."""

    def __init__(self, bootstrap_servers: str, topic: str, **overrides: str | int | bool) -> None:
        options = {key.replace("_", "."): value for key, value in overrides.items()}
        settings = {**IDEMPOTENT, **options, "bootstrap.servers": bootstrap_servers}
        self.acks = Acks()
        self._sender = Sender(Producer(settings), topic, self.acks)

    @property
    def outcomes(self) -> Outcomes:
        return self.acks.outcomes

    def run(
        self,
        pairs: Iterable[tuple[bytes, bytes]],
        *,
        each: Callable[[int], None] = lambda _number: None,
    ) -> None:
        """Send all pairs, waiting while the client's queue is full; ``each`` sees every number."""
        for key, value in pairs:
            number = len(self.outcomes)
            self._sender.send(Record(number, key, value))
            each(number)

    def finish(
        self, timeout_s: float, progress: Callable[[int], None] = lambda _acked: None
    ) -> int:
        """Wait for the outcomes that are still missing; how many never came."""
        return self._sender.finish(timeout_s, lambda: progress(self.outcomes.acked))


class Acks:
    """A log of sends (`sending.py:SendLog`) that knows how long each partition was silent."""

    def __init__(self) -> None:
        self.outcomes = Outcomes()
        self.gaps: dict[int, float] = {}  # partition -> longest time between two acks
        self._last: dict[int, float] = {}
        self._count: Counter[int] = Counter()

    def sent(self, _record: Record) -> int:
        return self.outcomes.sent()

    def acked(self, _record: Record, number: int, partition: int, offset: int | None) -> None:
        if offset is None:
            self.outcomes.lose_sight(number, "acked without a place")
            return
        self.outcomes.ack(number, partition, offset)
        now = monotonic()
        gap = now - self._last.get(partition, now)
        self.gaps[partition] = max(gap, self.gaps.get(partition, 0.0))
        self._last[partition] = now
        self._count[partition] += 1

    def refused(self, _record: Record, number: int, _why: str) -> None:
        self.outcomes.refuse(number)

    def unknown(self, _record: Record, number: int, why: str) -> None:
        self.outcomes.lose_sight(number, why)

    def busiest_partition(self) -> int:
        """The partition with the most acks so far; 0 before the first."""
        return max(self._count, key=self._count.__getitem__, default=0)
