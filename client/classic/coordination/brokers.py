"""The live brokers according to ZooKeeper (kafka.cluster.Broker, ZkUtils)."""

from __future__ import annotations

from logquake.client.classic.coordination.nodes import read
from logquake.client.classic.topic_metadata import Broker
from logquake.client.settings.addresses import Address
from logquake.zk.operations import Failed, GetChildren, ZkError
from logquake.zk.procedure import ZkFailure, attempt
from logquake.zk.znodes.brokers import IDS_PATH, broker_id_of
from logquake.zk.znodes.json_text import MalformedZnode, int32, read_json, text


async def children(path: str, *, watch: bool) -> tuple[str, ...]:
    """None if there is no node (getChildrenParentMayNotExist). Raises ZkFailure."""
    outcome = await attempt(GetChildren(path, watch))
    if isinstance(outcome, Failed):
        if outcome.error is ZkError.NO_NODE:
            return ()
        raise ZkFailure(outcome)
    return outcome.names


async def live_brokers(*, watch: bool = False) -> list[Broker]:
    """Those with a plaintext listener: registrations have the host and port of the first one.

    Sorted. Raises ZkFailure.
    """
    found = []
    for name in await children(IDS_PATH, watch=watch):
        registration = await read(f"{IDS_PATH}/{name}")
        broker = registration and _broker(name, registration.data)
        if broker:
            found.append(broker)
    return sorted(found, key=lambda broker: broker.id)


def _broker(name: str, data: bytes) -> Broker | None:
    """None if it has no plaintext listener, or its registration is invalid."""
    try:
        address = read_json(data, lambda it: Address(text(it["host"]), int32(it["port"])))
        return Broker(broker_id_of(name), address)
    except MalformedZnode:
        return None
