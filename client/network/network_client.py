"""Which brokers can be sent a request, and sending it (org.apache.kafka.clients.NetworkClient).

As in Kafka, a request is sent to a broker that is ready, and making it ready is a separate call:
this lets a caller that batches, like a producer, decide late what to send.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Protocol

from logquake.client.errors import AuthenticationFailedError, ClientError, ConnectionLostError
from logquake.client.network.effects import Node
from logquake.client.network.link import ClientRequest, Link
from logquake.client.network.links import Links
from logquake.client.network.load import least_loaded
from logquake.client.network.settings import NetworkSettings
from logquake.wire.schema import Message


class Roster(Protocol):
    """The known brokers."""

    def nodes(self) -> Sequence[Node]: ...

    def node(self, node_id: int) -> Node | None: ...


class NetworkClient:
    def __init__(
        self, settings: NetworkSettings, links: Links, roster: Roster, random: Random
    ) -> None:
        self.links = links
        self._settings = settings
        self._roster = roster
        self._random = random

    def link(self, node_id: int) -> Link | None:
        """Its connection, in any stage."""
        return self.links.states.link(node_id)

    def is_ready(self, node_id: int, now_ms: int) -> bool:
        """Whether a request may be sent to it at once."""
        link = self.link(node_id)
        return link is not None and link.may_send(now_ms, self._settings.max_in_flight_requests)

    def ready(self, node_id: int, now_ms: int) -> bool:
        """The same, but begins a missing connection, unless it is in back-off."""
        node = self._roster.node(node_id)
        return self.is_ready(node_id, now_ms) if node is None else self.ready_at(node, now_ms)

    def ready_at(self, node: Node, now_ms: int) -> bool:
        """The same for a node outside the roster: a second connection to a broker, say."""
        if self.links.states.may_connect(node.id, now_ms):
            self.links.begin(node, now_ms)
        return self.is_ready(node.id, now_ms)

    def failure(self, node_id: int) -> ClientError | None:
        """How its last connection ended; None while there is a new one, even if not yet open."""
        return self.links.states.failure(node_id)

    def has_ended(self, node_id: int, after_ms: int) -> bool:
        """Whether its connection ended after that time, and no new one was begun."""
        states = self.links.states
        return states.failure(node_id) is not None and states.last_attempt_ms(node_id) > after_ms

    def authentication_failures(self) -> list[ClientError]:
        """Those that ended the last connections to brokers."""
        failures = (self.failure(node.id) for node in self._roster.nodes())
        return [one for one in failures if isinstance(one, AuthenticationFailedError)]

    def trouble(self) -> str:
        """Why no broker responds, for the end of a sentence: how connections to the known brokers
        failed. Empty if one of them serves, or none was tried yet.
        """
        troubles = [self.links.states.trouble(node.id) for node in self._roster.nodes()]
        told = dict.fromkeys(str(each) for each in troubles if each is not None)
        return f" (no broker answers: {'; '.join(told)})" if told and None not in troubles else ""

    def connection_delay_ms(self, node_id: int, now_ms: int) -> int:
        """The rest of its back-off after a failure."""
        return self.links.states.delay_ms(node_id, now_ms)

    def least_loaded(self, now_ms: int) -> Node | None:
        """The broker for requests that any can answer; None if all are in back-off."""
        return least_loaded(
            self._roster.nodes(),
            self.links.states,
            now_ms,
            self._settings.max_in_flight_requests,
            self._random,
        )

    def is_cut_off(self) -> bool:
        """Whether no known broker has a connection, not even one being made."""
        return all(self.link(node.id) is None for node in self._roster.nodes())

    def version_of(self, node_id: int, request: type[Message], at_most: int | None = None) -> int:
        """For a node that serves. Raises UnsupportedVersionError, or ConnectionLostError."""
        link = self.link(node_id)
        if link is None or link.serving is None:
            raise ConnectionLostError(f"no connection to broker {node_id} now")
        return link.serving.version_of(request, link.node, at_most)

    def send(self, node_id: int, request: ClientRequest, now_ms: int) -> None:
        """The node must be ready."""
        link = self.link(node_id)
        if link is None or not self.is_ready(node_id, now_ms):
            raise RuntimeError(f"a request to broker {node_id}, which is not ready")
        self.links.send(link, request, now_ms)
