"""What is remembered of each broker between its connections (ClusterConnectionStates)."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from logquake.client.errors import ClientError
from logquake.client.network.addresses import Addresses
from logquake.client.network.backoff import ExponentialBackoff
from logquake.client.network.link import Link
from logquake.client.network.settings import NetworkSettings


@dataclass(slots=True, eq=False)
class NodeState:
    """``link`` is its connection, if any. Without one, the next may begin at ``retry_at_ms``, and
    ``failure`` says how the last one ended.
    """

    host: str
    addresses: Addresses = field(default_factory=Addresses)
    link: Link | None = None
    retry_at_ms: int = 0
    last_attempt_ms: int = 0
    failures: int = 0  # since requests were last served
    failed_setups: int = 0  # since a connection was last established
    failure: ClientError | None = None
    trouble: ClientError | None = None  # the same, until requests are served again
    has_stood: bool = False  # whether the current, or last, connection was established
    throttled_until_ms: int = 0  # throttling outlasts a connection


class NodeStates:
    def __init__(self, settings: NetworkSettings, random: Random) -> None:
        self._states: dict[int, NodeState] = {}
        self._reconnect = ExponentialBackoff(
            settings.reconnect_backoff_ms, settings.reconnect_backoff_max_ms, random
        )
        self._setup = ExponentialBackoff(
            settings.connection_setup_timeout_ms, settings.connection_setup_timeout_max_ms, random
        )

    def link(self, node_id: int) -> Link | None:
        state = self._states.get(node_id)
        return state.link if state else None

    def failure(self, node_id: int) -> ClientError | None:
        state = self._states.get(node_id)
        return state.failure if state else None

    def trouble(self, node_id: int) -> ClientError | None:
        """How its last connection ended, unless one has served since."""
        state = self._states.get(node_id)
        return state.trouble if state else None

    def last_attempt_ms(self, node_id: int) -> int:
        state = self._states.get(node_id)
        return state.last_attempt_ms if state else 0

    def may_connect(self, node_id: int, now_ms: int) -> bool:
        state = self._states.get(node_id)
        return state is None or (state.link is None and state.retry_at_ms <= now_ms)

    def delay_ms(self, node_id: int, now_ms: int) -> int:
        """The rest of its back-off."""
        state = self._states.get(node_id)
        if state is None or state.link is not None:
            return 0
        return max(0, state.retry_at_ms - now_ms)

    def next_retry_ms(self, now_ms: int) -> int | None:
        """When the next back-off ends."""
        waiting = [
            state.retry_at_ms
            for state in self._states.values()
            if state.link is None and state.retry_at_ms > now_ms
        ]
        return min(waiting) if waiting else None

    def setup_timeout_ms(self, node_id: int) -> int:
        state = self._states.get(node_id)
        return self._setup.after(state.failed_setups if state else 0)

    def begin(self, link: Link, now_ms: int) -> Addresses:
        """Note the node's link. If its host has changed, all that was known is forgotten."""
        state = self._states.get(link.node.id)
        if state is None or state.host != link.node.host:
            state = self._states[link.node.id] = NodeState(link.node.host)
        state.link = link
        link.throttled_until_ms = state.throttled_until_ms
        state.has_stood = False
        state.failure = None
        state.last_attempt_ms = now_ms
        return state.addresses

    def addresses(self, node_id: int) -> Addresses:
        return self._states[node_id].addresses

    def stood(self, node_id: int) -> None:
        """Its connection was established, including the login."""
        state = self._states[node_id]
        state.has_stood = True
        state.failed_setups = 0

    def serves(self, node_id: int) -> None:
        state = self._states[node_id]
        state.failures = 0
        state.trouble = None

    def ended(self, link: Link, why: ClientError, now_ms: int) -> None:
        state = self._states[link.node.id]
        state.link = None
        state.throttled_until_ms = link.throttled_until_ms
        state.failure = state.trouble = why
        state.last_attempt_ms = now_ms
        state.retry_at_ms = now_ms + self._reconnect.after(state.failures)
        state.failures += 1
        if state.has_stood:
            state.addresses.forget()
        else:
            state.failed_setups += 1
