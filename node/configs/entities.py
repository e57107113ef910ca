"""What ZooKeeper holds of a configured thing: its overrides, and the news that they changed.

An entity is written together with the notification of it, so that no broker misses a change.
Kafka writes one after the other, the last writer wins; here a change that was made over what
another broker has changed meanwhile is made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from logquake.node.journal_events import CONFIG_IGNORED
from logquake.seams.journal import Event, Journal
from logquake.zk.operations import (
    Create,
    Data,
    Failed,
    GetChildren,
    GetData,
    Multi,
    SetData,
    ZkError,
)
from logquake.zk.procedure import ZkFailure, attempt, attempt_all, perform
from logquake.zk.znodes.configs import CONFIG_PATH, ConfigChange, EntityConfig
from logquake.zk.znodes.json_text import MalformedZnode

Change = Callable[[Mapping[str, str]], Mapping[str, str] | None]
"""From what an entity is set to, to what it shall be set to; None leaves it as it is."""

_NEW = -1
_RACED = (ZkError.BAD_VERSION, ZkError.NODE_EXISTS, ZkError.NO_NODE)
_ATTEMPTS = 10


async def read_entity(entity: str, journal: Journal | None = None) -> Mapping[str, str]:
    """Nothing where it was never configured, or makes no sense, of which the journal hears.

    Raises ZkFailure.
    """
    return _told(entity, await attempt(GetData(EntityConfig.path(entity))), journal)


async def entities_of(kind: str) -> list[str]:
    """Those of a kind (topics, brokers, users) that were ever configured. Raises ZkFailure."""
    names = (await perform(GetChildren(f"{CONFIG_PATH}/{kind}"))).names
    return [f"{kind}/{name}" for name in names]


async def read_kind(kind: str, journal: Journal) -> dict[str, Mapping[str, str]]:
    """All that is set of a kind, by the entity's name below it. Raises ZkFailure."""
    entities = await entities_of(kind)
    found = await attempt_all([GetData(EntityConfig.path(entity)) for entity in entities])
    return {
        entity.removeprefix(f"{kind}/"): _told(entity, each, journal)
        for entity, each in zip(entities, found, strict=True)
    }


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
    version = _NEW if isinstance(found, Failed) else found.stat.version
    try:
        return _decoded(found), version
    except MalformedZnode:
        return {}, version


def _told(entity: str, found: Data | Failed, journal: Journal | None) -> Mapping[str, str]:
    try:
        return _decoded(found)
    except MalformedZnode:  # its text quotes the znode, which may hold secrets
        if journal is not None:
            path = EntityConfig.path(entity)
            journal.record(Event(CONFIG_IGNORED, path, "it is not as Kafka writes it"))
        return {}


def _decoded(found: Data | Failed) -> Mapping[str, str]:
    """Raises MalformedZnode, and ZkFailure for any other failure than that there is no znode."""
    if not isinstance(found, Failed):
        return EntityConfig.decode(found.data).config
    if found.error is not ZkError.NO_NODE:
        raise ZkFailure(found)
    return {}


def _write(entity: str, config: Mapping[str, str], version: int) -> Multi:
    path, data = EntityConfig.path(entity), EntityConfig(config).encode()
    write = Create(path, data) if version == _NEW else SetData(path, data, version)
    told = Create(ConfigChange.path(), ConfigChange(entity).encode(), sequential=True)
    return Multi((write, told))
