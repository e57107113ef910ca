"""Which of the registered brokers can be reached: a vigil over each, for a term of office."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from logquake.controller.channels.vigil import Sign, Vigil, VigilTiming
from logquake.controller.context.live_broker import LiveBroker
from logquake.seams.network import Endpoint, Network
from logquake.seams.scheduler import Scheduler
from logquake.wire.listeners import ListenerName


@dataclass(frozen=True, slots=True)
class _Watched:
    endpoint: Endpoint
    epoch: int
    vigil: Vigil


class Reachability:
    """``on_refused`` and ``on_accepted`` get the broker as it was when its vigil began.

    Without ``timing`` nobody is watched over. The controller's own broker, ``own_id``, needs none.
    """

    def __init__(
        self,
        network: Network,
        scheduler: Scheduler,
        timing: VigilTiming | None,
        *,
        own_id: int,
        listener: ListenerName,
        on_refused: Callable[[LiveBroker], None],
        on_accepted: Callable[[LiveBroker], None],
    ) -> None:
        self._network = network
        self._scheduler = scheduler
        self._timing = timing
        self._own_id = own_id
        self._listener = listener
        self._on_refused = on_refused
        self._on_accepted = on_accepted
        self._watched: dict[int, _Watched] = {}

    def watch(self, broker: LiveBroker, *, refused: bool = False) -> None:
        """A broker that came, or whose registration changed. ``refused``: it is known to be."""
        endpoint = broker.endpoint(self._listener)
        if self._timing is None or endpoint is None or endpoint.broker_id == self._own_id:
            return
        known = self._watched.get(endpoint.broker_id)
        if known is not None and (known.endpoint, known.epoch) == (endpoint, broker.epoch):
            if broker.has_listened:
                known.vigil.note_listening()
            return
        self.forget(endpoint.broker_id)
        vigil = Vigil(
            endpoint,
            self._network,
            self._scheduler,
            self._timing,
            sign=_sign_of(broker, refused=refused),
            on_refused=partial(self._on_refused, broker),
            on_accepted=partial(self._on_accepted, broker),
        )
        self._watched[endpoint.broker_id] = _Watched(endpoint, broker.epoch, vigil)

    def forget(self, broker_id: int) -> None:
        watched = self._watched.pop(broker_id, None)
        if watched is not None:
            watched.vigil.close()

    def close(self) -> None:
        for broker_id in list(self._watched):
            self.forget(broker_id)


def _sign_of(broker: LiveBroker, *, refused: bool) -> Sign:
    if refused:
        return Sign.REFUSED
    return Sign.LISTENED if broker.has_listened else Sign.NONE
