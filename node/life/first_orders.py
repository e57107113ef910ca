"""Whether the controller has told a broker, since its start, what its replicas are to do.

A registered broker accepts connections, and until the controller's first requests have come its
replicas neither lead nor follow: a Produce or Fetch is answered with an error. Kafka's controller
sends the whole image by UpdateMetadata, then one LeaderAndIsr for every replica on the broker, then
UpdateMetadata again (KafkaController.onBrokerStartup). A broker without replicas gets no
LeaderAndIsr: it has its orders when the image, which names none of it, is there.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.waiters import MetadataWaiters


class FirstOrders:
    """``has_leader_and_isr`` says whether a LeaderAndIsr was applied."""

    def __init__(
        self,
        broker_id: int,
        cache: MetadataCache,
        waiters: MetadataWaiters,
        has_leader_and_isr: Callable[[], bool],
    ) -> None:
        self._broker_id = broker_id
        self._cache = cache
        self._waiters = waiters
        self._has_leader_and_isr = has_leader_and_isr

    def wait(self, done: Callable[[], None]) -> None:
        """Call done once they have come, however long that takes."""
        self._waiters.wait(self._have_come, None, done)

    def _have_come(self) -> bool:
        return self._cache.is_fed and (
            self._has_leader_and_isr() or not self._cache.names_replica(self._broker_id)
        )
