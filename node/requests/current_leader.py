"""KIP-951: tell a client that asked the wrong broker who leads, and where."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from logquake.node.metadata.cache import MetadataCache
from logquake.node.replication.values import LeaderHint
from logquake.wire.listeners import ListenerName
from logquake.wire.sentinels import NO_LEADER, NO_LEADER_EPOCH

N = TypeVar("N")


def leader_hint(
    cache: MetadataCache, topic: str, partition: int, by_replica: LeaderHint | None
) -> LeaderHint:
    """Who leads (KafkaApis.getCurrentLeader); nobody, in no epoch, where this broker does not know.

    ``by_replica`` is what the partition's replica here says: it is told before the metadata cache.
    """
    if by_replica is not None:
        return by_replica
    state = cache.partition(topic, partition)
    if state is None:
        return LeaderHint(NO_LEADER, NO_LEADER_EPOCH)
    return LeaderHint(state.leader, state.leader_epoch)


def node_endpoints(
    make: Callable[..., N],
    cache: MetadataCache,
    listener: ListenerName,
    broker_ids: Iterable[int],
) -> list[N]:
    """The addresses of brokers, by ``make(node_id=, host=, port=, rack=)``.

    Brokers that are not alive, or that have no such listener, are left out.

    Produce and Fetch each have a NodeEndpoint struct of their own, alike in every field.
    """
    endpoints: list[N] = []
    for broker_id in sorted(broker_ids):
        node = cache.node(broker_id, listener)
        if node is not None:
            fields: dict[str, Any] = {"host": node.host, "port": node.port, "rack": node.rack}
            endpoints.append(make(node_id=broker_id, **fields))
    return endpoints
