"""KIP-951: tell a client that asked the wrong broker who leads, and where."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from logquake.node.metadata.cache import NO_LEADER, MetadataCache
from logquake.node.replication.api import NO_EPOCH, LeaderHint

N = TypeVar("N")


def leader_hint(cache: MetadataCache, topic: str, partition: int) -> LeaderHint:
    """The leader of a partition as far as this broker knows; -1 and -1 where it does not."""
    state = cache.partition(topic, partition)
    if state is None:
        return LeaderHint(NO_LEADER, NO_EPOCH)
    return LeaderHint(state.leader, state.leader_epoch)


def node_endpoints(
    make: Callable[..., N], cache: MetadataCache, broker_ids: Iterable[int]
) -> list[N]:
    """The addresses of brokers, by ``make(node_id=, host=, port=, rack=)``; not of dead ones.

    Produce and Fetch each have a NodeEndpoint struct of their own, alike in every field.
    """
    endpoints: list[N] = []
    for broker_id in sorted(broker_ids):
        broker = cache.broker(broker_id)
        if broker is not None:
            fields: dict[str, Any] = {"host": broker.host, "port": broker.port, "rack": broker.rack}
            endpoints.append(make(node_id=broker_id, **fields))
    return endpoints
