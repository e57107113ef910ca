"""Steps of procedures that the older clients share (kafka.utils.ZkUtils)."""

from __future__ import annotations

from logquake.zk.operations import (
    ANY_VERSION,
    Create,
    Data,
    Delete,
    Failed,
    GetData,
    SetData,
    ZkError,
)
from logquake.zk.procedure import ZkFailure, attempt, attempt_all, perform
from logquake.zk.znodes.parents import with_parents


async def create_with_parents(node: Create) -> None:
    """Raises ZkFailure, also if the node exists already."""
    outcome = await attempt(node)
    if isinstance(outcome, Failed) and outcome.error is ZkError.NO_NODE:
        *parents, _ = with_parents(node.path)
        await attempt_all([Create(path) for path in parents])
        outcome = await attempt(node)
    if isinstance(outcome, Failed):
        raise ZkFailure(outcome)


async def put(path: str, data: bytes) -> None:
    """``updatePersistentPath``: set the node, or create it. Raises ZkFailure."""
    outcome = await attempt(SetData(path, data))
    if not isinstance(outcome, Failed):
        return
    if outcome.error is not ZkError.NO_NODE:
        raise ZkFailure(outcome)
    try:
        await create_with_parents(Create(path, data))
    except ZkFailure as failure:
        if failure.failed.error is not ZkError.NODE_EXISTS:
            raise
        await perform(SetData(path, data))


async def read(path: str, *, watch: bool = False) -> Data | None:
    """None if there is no node, which is not watched then. Raises ZkFailure."""
    outcome = await attempt(GetData(path, watch))
    if isinstance(outcome, Failed):
        if outcome.error is ZkError.NO_NODE:
            return None
        raise ZkFailure(outcome)
    return outcome


async def claim(path: str, data: bytes, session_id: int) -> bool:
    """Create an ephemeral node; False if another session owns it. Raises ZkFailure.

    A node from an earlier request of this session, whose response was lost for instance, counts.
    """
    try:
        await create_with_parents(Create(path, data, ephemeral=True))
    except ZkFailure as failure:
        if failure.failed.error is not ZkError.NODE_EXISTS:
            raise
        there = await read(path)
        if there is None or there.stat.ephemeral_owner != session_id:
            return False
        if there.data != data:
            await perform(SetData(path, data))
    return True


async def give_up(path: str, session_id: int) -> None:
    """Delete the node, if the session owns it. Raises ZkFailure."""
    there = await read(path)
    if there is not None and there.stat.ephemeral_owner == session_id:
        outcome = await attempt(Delete(path, ANY_VERSION))
        if isinstance(outcome, Failed) and outcome.error is not ZkError.NO_NODE:
            raise ZkFailure(outcome)
