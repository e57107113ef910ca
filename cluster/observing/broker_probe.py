"""Asking one broker what it knows of the cluster, as often as is needed."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.client.connection import Connection, connect_to_one
from logquake.client.driving.way_in import WayIn
from logquake.client.errors import ClientError
from logquake.client.settings import Address, ClientSettings
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
        self._way_in = way_in
        self._address = Address(host, port)
        self._settings = ClientSettings(
            f"{host}:{port}", client_id="logquake-launcher", request_timeout_ms=PROBE_TIMEOUT_MS
        )
        self._connection: Connection | None = None

    def ask(self) -> Knowledge | None:
        """None while the broker does not answer."""
        try:
            answer = self._connected().request(MetadataRequest(topics=[]), MetadataResponse)
        except ClientError:
            self.close()
            return None
        return Knowledge(frozenset(one.node_id for one in answer.brokers), answer.controller_id)

    def close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = connect_to_one(self._address, self._settings, self._way_in)
        return self._connection
