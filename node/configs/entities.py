"""What ZooKeeper holds of a configured thing: its overrides, and the news that they changed.

An entity is written together with the notification of it, so that no broker misses a change.
Kafka writes one after the other, the last writer wins; here a change that was made over what
another broker has changed meanwhile is made anew. Entities of clients that are set to nothing are
removed, and with them those above that were there for them alone, as by AdminZkClient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from logquake.node.journal_events import CONFIG_IGNORED
from logquake.seams.journal import Event, Journal
from logquake.zk.operations import (
    Children,
    Create,
    Data,
    Delete,
    Exists,
    Failed,
    GetChildren,
    GetData,
    Multi,
    SetData,
    ZkError,
)
from logquake.zk.procedure import ZkFailure, attempt, attempt_all, perform, perform_all
from logquake.zk.znodes.configs import CONFIG_PATH, ConfigChange, EntityConfig
from logquake.zk.znodes.json_text import MalformedZnode
from logquake.zk.znodes.parents import with_parents

Change = Callable[[Mapping[str, str]], Mapping[str, str] | None]
"""From what an entity is set to, to what it shall be set to; None leaves it as it is."""

_NEW = -1
_RACED = (ZkError.BAD_VERSION, ZkError.NODE_EXISTS, ZkError.NO_NODE, ZkError.NOT_EMPTY)
_OF_CLIENTS = ("users/", "clients/", "ips/")
_ATTEMPTS = 10


async def read_entity(entity: str, journal: Journal | None = None) -> Mapping[str, str]:
    """Nothing where it was never configured, or makes no sense, of which the journal hears.

    Raises ZkFailure.
    """
    return _told(entity, await attempt(GetData(EntityConfig.path(entity))), journal)


async def entities_of(kind: str) -> list[str]:
    """Those of a kind (topics, brokers, users) that were ever configured; users' clients are of
    users. Raises ZkFailure.
    """
    names = (await perform(GetChildren(f"{CONFIG_PATH}/{kind}"))).names
    entities = [f"{kind}/{name}" for name in names]
    return entities + await _clients_of(entities) if kind == "users" else entities


async def _clients_of(users: Sequence[str]) -> list[str]:
    found = await attempt_all([GetChildren(f"{CONFIG_PATH}/{user}/clients") for user in users])
    return [
        f"{user}/clients/{name}"
        for user, clients in zip(users, found, strict=True)
        for name in _names(clients)
    ]


async def read_kind(kind: str, journal: Journal | None = None) -> dict[str, Mapping[str, str]]:
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
        written = await attempt(await _writing(entity, after, version))
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


async def _writing(entity: str, config: Mapping[str, str], version: int) -> Multi:
    """What makes the entity that, and tells of it. Raises ZkFailure."""
    writes: Sequence[Create | SetData | Delete] | None = None
    if not config and entity.startswith(_OF_CLIENTS):
        writes = await _removal(entity, version)
    if writes is None:
        path, data = EntityConfig.path(entity), EntityConfig(config).encode()
        if version == _NEW:
            writes = [*await _missing_parents(path), Create(path, data)]
        else:
            writes = [SetData(path, data, version)]
    told = Create(ConfigChange.path(), ConfigChange(entity).encode(), sequential=True)
    return Multi((*writes, told))


async def _missing_parents(path: str) -> list[Create]:
    parents = with_parents(path)[len(with_parents(CONFIG_PATH)) + 1 : -1]
    found = await perform_all([Exists(parent) for parent in parents])
    return [Create(parent) for parent, stat in zip(parents, found, strict=True) if stat is None]


async def _removal(entity: str, version: int) -> list[Delete] | None:
    """None where something is below it. Raises ZkFailure."""
    path = EntityConfig.path(entity)
    if await _children(path):
        return None
    removed = [Delete(path, version)] if version != _NEW else []
    user, is_client, client = entity.partition("/clients/")
    if is_client and await _children(f"{CONFIG_PATH}/{user}/clients") == (client,):
        removed.append(Delete(f"{CONFIG_PATH}/{user}/clients"))
        config, user_version = await _read(user)
        if not config and await _children(EntityConfig.path(user)) == ("clients",):
            removed.append(Delete(EntityConfig.path(user), user_version))
    return removed


async def _children(path: str) -> tuple[str, ...]:
    return _names(await attempt(GetChildren(path)))


def _names(found: Children | Failed) -> tuple[str, ...]:
    """None where there is no znode. Raises ZkFailure for other failures."""
    if not isinstance(found, Failed):
        return found.names
    if found.error is not ZkError.NO_NODE:
        raise ZkFailure(found)
    return ()
