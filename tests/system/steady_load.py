"""A producer that writes for as long as a test likes, and the proof that nothing acked is lost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from logquake.chaos.checks import check_readback
from logquake.chaos.workloads.pairs import PairProducer
from logquake.chaos.workloads.readback import read_all
from tests.waiting import PATIENCE_S, wait_for

KEYS = 50
VALUE_BYTES = 400
PAUSE_S = 0.001


@contextmanager
def steady_load(
    servers: str, topic: str, *, value_bytes: int = VALUE_BYTES
) -> Iterator[SteadyLoad]:
    """Within the block a thread sends; after it, check() reads all of it back."""
    load = SteadyLoad(servers, topic, value_bytes)
    thread = Thread(target=load.run)
    thread.start()
    try:
        load.wait_for_acks(100)
        yield load
    finally:
        load.stop()
        thread.join()
        load.finish()


class SteadyLoad:
    def __init__(self, servers: str, topic: str, value_bytes: int) -> None:
        self._servers = servers
        self._topic = topic
        self._value_bytes = value_bytes
        self._sent: list[tuple[bytes, bytes]] = []
        self._stop = Event()
        self._producer = PairProducer(servers, topic)

    def run(self) -> None:
        """Send until somebody says stop()."""
        self._producer.run(self._pairs())

    def stop(self) -> None:
        self._stop.set()

    def finish(self) -> None:
        """Wait for what is under way."""
        self._producer.finish(PATIENCE_S)

    @property
    def acked(self) -> int:
        return self._producer.outcomes.acked

    def wait_for_acks(self, more: int) -> None:
        """Until so many more sends were acked."""
        goal = self.acked + more
        wait_for(f"{goal} sends acked", lambda: self.acked, lambda acked: acked >= goal)

    def check(self) -> None:
        records = read_all(self._servers, self._topic, timeout_s=PATIENCE_S)
        verdict = check_readback(self._producer.outcomes, self._sent.__getitem__, records)
        assert verdict.holds, verdict
        assert verdict.acked > 0

    def _pairs(self) -> Iterator[tuple[bytes, bytes]]:
        while not self._stop.is_set():
            number = len(self._sent)
            value = b"%d " % number
            self._sent.append((b"%d" % (number % KEYS), value.ljust(self._value_bytes, b".")))
            yield self._sent[-1]
            time.sleep(PAUSE_S)
