"""A registered broker, as the controller knows it."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.seams.network import Endpoint
from logquake.wire.listeners import ListenerName
from logquake.zk.znodes.brokers import BrokerRegistration


@dataclass(frozen=True, slots=True)
class LiveBroker:
    """A registration and its epoch: the czxid of its znode, another one after every restart.

    ``has_listened``: the registration was written again, which a broker does when it is up.
    """

    registration: BrokerRegistration
    epoch: int
    has_listened: bool = False

    def endpoint(self, listener: ListenerName) -> Endpoint | None:
        """Where to call it; None if it does not name that listener."""
        found = self.registration.endpoint(listener)
        if found is None:
            return None
        return Endpoint(self.registration.broker_id, found.host, found.port)
