"""The ZooKeeper sessions of brokers that were killed."""

from __future__ import annotations

from kazoo.client import KazooClient

LONG_MS = 60_000  # what a starved JVM needs to keep its session while it starts


def end_session(znodes: KazooClient, broker_id: int) -> None:
    """Remove what a killed broker's session holds, as its end would, which takes LONG_MS."""
    registration = f"/brokers/ids/{broker_id}"
    registered = znodes.exists(registration)
    if registered is None:
        return
    for path in ("/controller", registration):
        found = znodes.exists(path)
        if found is not None and found.ephemeralOwner == registered.ephemeralOwner:
            znodes.delete(path)
