"""Whether a cluster is of use: what every broker says about all of them."""

from __future__ import annotations

import time
from collections.abc import Callable

from logquake.client.driving.way_in import WayIn
from logquake.cluster.errors import ClusterError
from logquake.cluster.observing.broker_probe import BrokerProbe, Knowledge
from logquake.cluster.state import ClusterState, MemberState, Phase
from logquake.wire.sentinels import NO_CONTROLLER

PROBE_INTERVAL_S = 0.01


class Readiness:
    """Asks the running brokers until each of them knows all of them, and the controller.

    ``way_in`` leads to a broker, ``last_words`` gives the last line that a member printed. A
    broker that ends while it is waited for is an error, unless it is one of those
    ``already_dead``. With ``only`` that broker is asked, and has to know itself and the controller.
    """

    def __init__(
        self,
        state: Callable[[], ClusterState],
        last_words: Callable[[str], str],
        way_in: WayIn,
        already_dead: frozenset[str] = frozenset(),
        only: str | None = None,
    ) -> None:
        self._state = state
        self._last_words = last_words
        self._way_in = way_in
        self._already_dead = already_dead
        self._only = only
        self._probes: dict[str, BrokerProbe] = {}
        self._knowledge: dict[str, Knowledge | None] = {}
        self._brokers: list[MemberState] = []

    def wait(self, deadline: float) -> bool:
        """Whether the cluster became ready before the monotonic ``deadline``.

        Raises ClusterError when a broker ended that nobody asked to end.
        """
        while True:
            self._look()
            if all(self._is_ready(broker) for broker in self._brokers):
                return True
            if time.monotonic() > deadline:
                return False
            time.sleep(PROBE_INTERVAL_S)

    def missing(self) -> str:
        """What the cluster still lacked at the last look."""
        reasons = [self._lack(broker) for broker in self._brokers if not self._is_ready(broker)]
        return "; ".join(reasons)

    def close(self) -> None:
        for probe in self._probes.values():
            probe.close()

    def _look(self) -> None:
        brokers = [one for one in self._state().brokers if self._only in (None, one.name)]
        for broker in brokers:
            if broker.name not in self._already_dead and _crashed(broker):
                raise ClusterError(f"{broker.name} ended: {self._last_words(broker.name)}")
        self._brokers = [broker for broker in brokers if broker.phase is Phase.RUNNING]
        for broker in self._brokers:
            if not self._is_ready(broker):
                self._knowledge[broker.name] = self._probe(broker).ask()

    def _probe(self, broker: MemberState) -> BrokerProbe:
        if broker.name not in self._probes:
            self._probes[broker.name] = BrokerProbe(broker.host, broker.port, self._way_in)
        return self._probes[broker.name]

    def _is_ready(self, broker: MemberState) -> bool:
        knowledge = self._knowledge.get(broker.name)
        return (
            knowledge is not None
            and knowledge.controller_id != NO_CONTROLLER
            and knowledge.broker_ids.issuperset(self._running_ids())
        )

    def _lack(self, broker: MemberState) -> str:
        knowledge = self._knowledge.get(broker.name)
        if knowledge is None:
            return f"{broker.name} does not answer"
        if knowledge.controller_id == NO_CONTROLLER:
            return f"{broker.name} knows of no controller"
        unknown = sorted(self._running_ids() - knowledge.broker_ids)
        return f"{broker.name} does not know of {', '.join(map(str, unknown))}"

    def _running_ids(self) -> set[int]:
        return {broker.broker_id for broker in self._brokers if broker.broker_id is not None}


def _crashed(broker: MemberState) -> bool:
    return broker.phase is Phase.ENDED and broker.ended is not None and not broker.ended.asked
