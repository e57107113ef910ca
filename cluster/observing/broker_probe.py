"""Asking one broker what it knows of the cluster, as often as is needed."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.client.driving.way_in import WayIn
from logquake.client.errors import ClientError
from logquake.client.settings import Address
from logquake.cluster.observing.broker_connections import BrokerConnections, dial_as
from logquake.cluster.observing.onlookers import ONLOOKER
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse

PROBE_TIMEOUT_MS = 1_000


@dataclass(frozen=True, slots=True)
class Knowledge:
    """``controller_id`` is NO_CONTROLLER when the broker knows of none."""

    broker_ids: frozenset[int]
    controller_id: int


class BrokerProbe:
    """Keeps its connection for as long as the broker answers."""

    def __init__(self, host: str, port: int, way_in: WayIn) -> None:
        self._address = Address(host, port)
        dial = dial_as(ONLOOKER, PROBE_TIMEOUT_MS, way_in)
        self._connections = BrokerConnections(dial)

    def ask(self) -> Knowledge | None:
        """None while the broker does not answer."""
        request = MetadataRequest(topics=[])
        try:
            answer = self._connections.ask(self._address, request, MetadataResponse)
        except ClientError:
            return None
        return Knowledge(frozenset(one.node_id for one in answer.brokers), answer.controller_id)

    def close(self) -> None:
        self._connections.close()
