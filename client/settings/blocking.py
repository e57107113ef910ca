"""What the blocking client is set to: where the cluster is and how long to wait for it."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.client.network.metadata import MetadataSettings
from logquake.client.network.settings import NetworkSettings
from logquake.client.settings.addresses import Address, addresses

_CONNECTION_SETUP_MS = 10_000  # Kafka's default


@dataclass(frozen=True, slots=True)
class ClientSettings:
    # bootstrap.servers: asked in turn until one answers; the rest is learned from it.
    bootstrap_servers: str
    client_id: str = "logquake"
    # request.timeout.ms: for one request, its connection included. Below a broker's own waits
    # (a Fetch's, a Produce's for its followers) every slow request looks lost.
    request_timeout_ms: int = 30_000
    # default.api.timeout.ms: for an operation with all its retries.
    api_timeout_ms: int = 60_000
    # retry.backoff.ms
    retry_backoff_ms: int = 100
    # What one response may weigh. A broker of ours never exceeds fetch.max.bytes by more than a
    # batch; the bound is against whatever else may listen there.
    max_response_bytes: int = 128 * 1024 * 1024

    def addresses(self) -> list[Address]:
        """Raises ValueError where bootstrap_servers is not host:port[,host:port...]."""
        return addresses(self.bootstrap_servers)

    def network(self) -> NetworkSettings:
        """Whoever blocks waits between two attempts by himself; little is to be added to it."""
        return NetworkSettings(
            client_id=self.client_id,
            request_timeout_ms=self.request_timeout_ms,
            reconnect_backoff_max_ms=self.retry_backoff_ms,
            connection_setup_timeout_ms=min(_CONNECTION_SETUP_MS, self.request_timeout_ms),
            max_response_bytes=self.max_response_bytes,
        )

    def metadata(self) -> MetadataSettings:
        """Nothing is added to the wait between two questions."""
        return MetadataSettings(
            retry_backoff_ms=self.retry_backoff_ms, retry_backoff_max_ms=self.retry_backoff_ms
        )
