"""Calls a listener, and handles what it raises (ConsumerRebalanceListenerInvoker)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

from logquake.client.clock import Clock
from logquake.client.consumer.group.listener import RebalanceListener
from logquake.client.consumer.group.statistics import GroupStatistics
from logquake.client.driving.steps import Call, Steps
from logquake.client.errors import RebalanceListenerError, WakeupError
from logquake.wire.topic_partition import TopicPartition

_LOG = logging.getLogger(__name__)

_Hearing: TypeAlias = Callable[[Sequence[TopicPartition]], object]


class ListenerInvoker:
    """For calls that belong together: their errors are raised at the end, a wakeup at once."""

    def __init__(
        self, listener: RebalanceListener, statistics: GroupStatistics, clock: Clock
    ) -> None:
        self._listener = listener
        self._statistics = statistics
        self._clock = clock
        self._failure: Exception | None = None

    def assigned(self, places: Iterable[TopicPartition]) -> Steps[None]:
        return self._tell("assigned", self._listener.on_assigned, places)

    def revoked(self, places: Iterable[TopicPartition]) -> Steps[None]:
        return self._tell("revoked", self._listener.on_revoked, places)

    def lost(self, places: Iterable[TopicPartition]) -> Steps[None]:
        return self._tell("lost", self._listener.on_lost, places)

    def check(self) -> None:
        """Raises RebalanceListenerError."""
        if self._failure is not None:
            raise RebalanceListenerError(
                f"the rebalance listener failed: {self._failure!r}"
            ) from self._failure

    def _tell(self, what: str, hear: _Hearing, places: Iterable[TopicPartition]) -> Steps[None]:
        in_order = tuple(sorted(places))
        _LOG.info("%s: %s", what, ", ".join(map(str, in_order)) or "no partitions")
        since_ms = self._clock.now_ms()
        try:
            yield Call(partial(hear, in_order))
        except WakeupError:
            raise
        except Exception as error:  # noqa: BLE001 - the program's own, may be any
            self._failure = self._failure or error
        now_ms = self._clock.now_ms()
        self._statistics.listeners[what].add(now_ms - since_ms, now_ms)
