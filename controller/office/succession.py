"""The candidate's vigil over the broker whose controller is in office.

Whoever sees its connection break and the next one refused may take the office over at once
(candidacy.take_over), without waiting for the session that holds /controller.

Only a candidate that had reached that broker since it came into office may do so. Two brokers
that refuse each other, and both reach ZooKeeper, would otherwise depose one another for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from logquake.controller.channels.vigil import Sign, Vigil, VigilTiming
from logquake.controller.context.live_broker import LiveBroker
from logquake.controller.office.candidacy import Incumbent
from logquake.seams.network import Network
from logquake.seams.scheduler import Scheduler
from logquake.wire.listeners import ListenerName


class Succession:
    """``on_refused`` gets who held the office, and the registration of its broker."""

    def __init__(
        self,
        network: Network,
        scheduler: Scheduler,
        timing: VigilTiming,
        *,
        listener: ListenerName,
        on_refused: Callable[[Incumbent, LiveBroker], None],
    ) -> None:
        self._network = network
        self._scheduler = scheduler
        self._timing = timing
        self._listener = listener
        self._on_refused = on_refused
        self._incumbent: Incumbent | None = None
        self._vigil: Vigil | None = None

    def is_watching(self, incumbent: Incumbent) -> bool:
        return self._vigil is not None and incumbent == self._incumbent

    def watch(self, incumbent: Incumbent, broker: LiveBroker) -> None:
        """Instead of whoever was watched."""
        self.stop()
        endpoint = broker.endpoint(self._listener)
        if endpoint is not None:
            self._incumbent = incumbent
            self._vigil = Vigil(
                endpoint,
                self._network,
                self._scheduler,
                self._timing,
                sign=Sign.NONE,
                on_refused=partial(self._on_refused, incumbent, broker),
                on_accepted=lambda: None,
            )

    def stop(self) -> None:
        if self._vigil is not None:
            self._vigil.close()
        self._vigil = self._incumbent = None
