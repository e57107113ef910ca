"""The persistent znodes that every broker makes at its start, if they are not there.

Each path comes after its parent, so that they can be created in this order.
Source: kafka.zk.ZkData.PersistentZkPaths, and those of the delegation tokens.
"""

from __future__ import annotations

from logquake.zk.operations import Create

_LEAVES = (
    "/consumers",
    "/brokers/ids",
    "/brokers/topics",
    "/config/changes",
    "/admin/delete_topics",
    "/brokers/seqid",
    "/isr_change_notification",
    "/latest_producer_id_block",
    "/log_dir_event_notification",
    "/config/topics",
    "/config/clients",
    "/config/users",
    "/config/brokers",
    "/config/ips",
    "/delegation_token/tokens",
    "/delegation_token/token_changes",
)


def with_parents(path: str) -> tuple[str, ...]:
    """The path and those above it, from the top."""
    parts = path.strip("/").split("/")
    return tuple("/" + "/".join(parts[: depth + 1]) for depth in range(len(parts)))


PERSISTENT_PATHS: tuple[str, ...] = tuple(
    dict.fromkeys(path for leaf in _LEAVES for path in with_parents(leaf))
)


def create_parents() -> tuple[Create, ...]:
    """One Create a path; NODE_EXISTS is no failure, another broker was first."""
    return tuple(Create(path) for path in PERSISTENT_PATHS)
