"""What ZooKeeper holds of a configured thing: its overrides, and the news that they changed.

An entity is written together with the notification of it, so that no broker misses a change.
Kafka writes one after the other, the last writer wins; here a change that was made over what
another broker has changed meanwhile is made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from logquake.zk.operations import Create, Failed, GetData, Multi, SetData, ZkError
from logquake.zk.procedure import ZkFailure, attempt
from logquake.zk.znodes.configs import ConfigChange, EntityConfig
from logquake.zk.znodes.json_text import MalformedZnode

Change = Callable[[Mapping[str, str]], Mapping[str, str] | None]
"""From what an entity is set to, to what it shall be set to; None leaves it as it is."""

_NEW = -1
_RACED = (ZkError.BAD_VERSION, ZkError.NODE_EXISTS, ZkError.NO_NODE)
_ATTEMPTS = 10


async def read_entity(entity: str) -> Mapping[str, str]:
    """Nothing where it was never configured. Raises ZkFailure."""
    config, _ = await _read(entity)
    return config


async def change_entity(entity: str, change: Change) -> None:
    """``change`` may be asked several times. Raises what it raises, and ZkFailure."""
    for attempts_left in reversed(range(_ATTEMPTS)):
        before, version = await _read(entity)
        after = change(before)
        if after is None:
            return
        written = await attempt(_write(entity, after, version))
        if not isinstance(written, Failed):
            return
        if written.error not in _RACED or not attempts_left:
            raise ZkFailure(written)


async def _read(entity: str) -> tuple[Mapping[str, str], int]:
    """With its version. A znode that makes no sense says nothing, and is written over."""
    found = await attempt(GetData(EntityConfig.path(entity)))
    if isinstance(found, Failed):
        if found.error is not ZkError.NO_NODE:
            raise ZkFailure(found)
        return {}, _NEW
    try:
        return EntityConfig.decode(found.data).config, found.stat.version
    except MalformedZnode:
        return {}, found.stat.version


def _write(entity: str, config: Mapping[str, str], version: int) -> Multi:
    path, data = EntityConfig.path(entity), EntityConfig(config).encode()
    write = Create(path, data) if version == _NEW else SetData(path, data, version)
    told = Create(ConfigChange.path(), ConfigChange(entity).encode(), sequential=True)
    return Multi((write, told))
