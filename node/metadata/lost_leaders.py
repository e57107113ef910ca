"""Metadata that names a leader which has just died waits for the next one's name.

A client notices its leader's death as soon as anybody, asks at once who leads now, and is told
what the controller said last: the dead one. librdkafka then does not ask again for a second. So
every broker holds a connection to each other one (controller/channels/vigil.py), and a request for
topics led by a broker whose connection broke a moment ago is answered when the controller has named
other leaders, some milliseconds later, or after max_wait_ms as ever.

The client may even be faster: the system ends a dead process's connections one by one, that of a
client before that of a broker as it happens. So a request for topics that others lead is looked at
only after notice_ms, unless the loss that makes clients ask is known already: then several of one
client, one after the other, must not keep its next Produce waiting.

A connection can break for less, an idle one is closed by its broker: one that is made again, and
lasts, says that all is well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from logquake.controller.channels.vigil import Sign, Vigil, VigilTiming
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.waiters import MetadataWaiters
from logquake.seams.network import Endpoint, Network
from logquake.seams.scheduler import Scheduler
from logquake.wire.messages.update_metadata import UpdateMetadataPartitionState
from logquake.wire.sentinels import NO_LEADER

# A system that takes a dead process down may accept a connection more, and reset it.
_LASTING_MS = 30


@dataclass(frozen=True, slots=True)
class _Watched:
    endpoint: Endpoint
    vigil: Vigil


class LostLeaders:
    """``max_wait_ms`` and ``notice_ms`` are the broker's settings of lost leaders.

    Without ``timing`` nobody is watched over, and nobody waits.
    """

    def __init__(
        self,
        own_id: int,
        cache: MetadataCache,
        waiters: MetadataWaiters,
        network: Network,
        scheduler: Scheduler,
        timing: VigilTiming | None,
        max_wait_ms: int,
        notice_ms: int,
    ) -> None:
        self._own_id = own_id
        self._cache = cache
        self._waiters = waiters
        self._network = network
        self._scheduler = scheduler
        self._timing = timing
        self._max_wait_ms = max_wait_ms
        self._notice_ms = notice_ms
        self._watched: dict[int, _Watched] = {}
        self._lost_at_ms: dict[int, int] = {}

    def wait(self, topics: Iterable[str], answer: Callable[[], None]) -> None:
        """Call answer: at once if no other broker leads any of the topics, or if brokers were just
        lost and none of those does.
        """
        names = list(topics)
        wait = partial(self._wait_for_successors, names, answer)
        if self._lost_at_ms:
            wait()
        elif self._are_led_by_watched(names):
            self._scheduler.call_later(self._notice_ms, wait)
        else:
            answer()

    def on_metadata_update(self) -> None:
        """The live brokers may be others: watch over them. Before those who wait are looked at."""
        if self._timing is None:
            return
        endpoints = self._cache.endpoints()
        endpoints.pop(self._own_id, None)
        for broker_id, watched in list(self._watched.items()):
            if endpoints.get(broker_id) != watched.endpoint:
                watched.vigil.close()
                del self._watched[broker_id]
        for broker_id, endpoint in endpoints.items():
            if broker_id not in self._watched:
                vigil = self._new_vigil(endpoint, self._timing)
                self._watched[broker_id] = _Watched(endpoint, vigil)

    def close(self) -> None:
        for watched in self._watched.values():
            watched.vigil.close()
        self._watched.clear()

    def _wait_for_successors(self, topics: list[str], answer: Callable[[], None]) -> None:
        def have_leaders() -> bool:
            return not self._lost_at_ms or not any(
                map(self._is_without_leader_by_loss, self._states(topics))
            )

        self._waiters.wait(have_leaders, self._max_wait_ms, answer)

    def _states(self, topics: Iterable[str]) -> Iterator[UpdateMetadataPartitionState]:
        for name in topics:
            image = self._cache.topic(name)
            if image is not None:
                yield from image.partitions.values()

    def _are_led_by_watched(self, topics: Iterable[str]) -> bool:
        watched = self._watched
        return bool(watched) and any(state.leader in watched for state in self._states(topics))

    def _is_without_leader_by_loss(self, state: UpdateMetadataPartitionState) -> bool:
        """Led by a lost broker, or by none: a new controller says that first, then elects.

        Where no other broker is in sync there is nobody to elect.
        """
        if state.leader == NO_LEADER:
            return any(map(self._is_lost, state.replicas)) and any(map(self._is_there, state.isr))
        return self._is_lost(state.leader)

    def _is_there(self, broker_id: int) -> bool:
        return self._cache.is_alive(broker_id) and not self._is_lost(broker_id)

    def _is_lost(self, broker_id: int) -> bool:
        lost_at_ms = self._lost_at_ms.get(broker_id)
        return lost_at_ms is not None and self._scheduler.now_ms() - lost_at_ms < self._max_wait_ms

    def _new_vigil(self, endpoint: Endpoint, timing: VigilTiming) -> Vigil:
        return Vigil(
            endpoint,
            self._network,
            self._scheduler,
            timing,
            sign=Sign.NONE,
            on_refused=lambda: None,
            on_accepted=lambda: None,
            on_lost=partial(self._on_lost, endpoint.broker_id),
        )

    def _on_lost(self, broker_id: int) -> None:
        now_ms = self._scheduler.now_ms()
        self._lost_at_ms[broker_id] = now_ms
        self._scheduler.call_later(_LASTING_MS, partial(self._look_again, broker_id))
        self._scheduler.call_later(
            self._max_wait_ms, partial(self._forget, broker_id, lost_at_ms=now_ms)
        )

    def _look_again(self, broker_id: int) -> None:
        watched = self._watched.get(broker_id)
        if watched is not None and watched.vigil.is_held:
            self._forget(broker_id, lost_at_ms=self._lost_at_ms.get(broker_id))
            self._waiters.on_metadata_update()

    def _forget(self, broker_id: int, *, lost_at_ms: int | None) -> None:
        if self._lost_at_ms.get(broker_id) == lost_at_ms:
            self._lost_at_ms.pop(broker_id, None)
