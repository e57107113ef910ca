"""SCRAM credentials of users, described and changed in ZooKeeper (kafka.server.ZkAdminManager).

The brokers, this one too, hear of a change by its notice below /config/changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from logquake.node.authentication.scram_changes import (
    NAMELESS,
    Change,
    Refusal,
    changed,
    iterations,
    refusals,
)
from logquake.wire.errors import ErrorCode
from logquake.zk.operations import (
    Create,
    Data,
    Failed,
    GetChildren,
    GetData,
    Session,
    SetData,
    ZkError,
)
from logquake.zk.procedure import ZkFailure, attempt, attempt_all, perform
from logquake.zk.procedure_queue import ProcedureQueue
from logquake.zk.znodes.configs import (
    USERS_CONFIG_PATH,
    ConfigChange,
    EntityConfig,
    user_entity,
    user_of,
)

_FAILED: Refusal = (
    ErrorCode.UNKNOWN_SERVER_ERROR,
    "The server experienced an unexpected error when processing the request.",
)

_TWICE = "Cannot describe SCRAM credentials for the same user twice in a single request"

# By user: iterations by mechanism, or why not.
Described = Mapping[str, Mapping[int, int] | Refusal]
# By user: why not, or None where it is done.
Altered = Mapping[str, Refusal | None]


class ScramAdministration:
    """One request after the other."""

    def __init__(self, session: Session) -> None:
        self._queue = ProcedureQueue(session)

    def describe(
        self, users: Sequence[str] | None, done: Callable[[Described | Refusal], None]
    ) -> None:
        """None, or no users at all, for everyone who has credentials."""

        async def describe() -> None:
            try:
                done(await (_describe(users) if users else _describe_all()))
            except ZkFailure:
                done(_FAILED)

        self._queue.put(describe)

    def alter(self, changes: Sequence[Change], done: Callable[[Altered], None]) -> None:
        async def alter() -> None:
            refused = refusals(changes)
            altered: dict[str, Refusal | None] = dict(sorted(refused.items()))
            for user in sorted({change.user for change in changes} - refused.keys()):
                try:
                    altered[user] = await _alter(user, [c for c in changes if c.user == user])
                except (ZkFailure, ValueError):
                    altered[user] = _FAILED
            done(altered)

        self._queue.put(alter)


async def _describe_all() -> Described:
    """Raises ZkFailure."""
    described = {user: _described(data) for user, data in sorted((await _read_all()).items())}
    return {user: each for user, each in described.items() if each}


async def _describe(users: Sequence[str]) -> Described:
    """Raises ZkFailure."""
    named = Counter(users)
    once = [user for user, times in named.items() if user and times == 1]
    found = await _read(once)
    described: dict[str, Mapping[int, int] | Refusal] = {}
    for user, times in named.items():
        if not user:
            described[user] = ErrorCode.RESOURCE_NOT_FOUND, NAMELESS
        elif times > 1:
            described[user] = ErrorCode.DUPLICATE_RESOURCE, f"{_TWICE}: {user}"
        else:
            described[user] = _described(found[user]) or (
                ErrorCode.RESOURCE_NOT_FOUND,
                f"Attempt to describe a user credential that does not exist: {user}",
            )
    return described


def _described(data: bytes) -> Mapping[int, int] | Refusal:
    """What makes no sense may be secret all the same: nothing of it is told."""
    try:
        return iterations(EntityConfig.decode(data).config)
    except ValueError:
        return _FAILED


async def _read_all() -> Mapping[str, bytes]:
    """What users' znodes hold, by user. Raises ZkFailure."""
    names = (await perform(GetChildren(USERS_CONFIG_PATH))).names
    return await _read(user for user in map(user_of, names) if user)


async def _read(users: Iterable[str]) -> Mapping[str, bytes]:
    """These users'; nothing where there is no znode. Raises ZkFailure."""
    wanted = sorted(set(users))
    found = await attempt_all([GetData(EntityConfig.path(user_entity(u))) for u in wanted])
    return {user: _data(each) for user, each in zip(wanted, found, strict=True)}


def _data(found: Data | Failed) -> bytes:
    if not isinstance(found, Failed):
        return found.data
    if found.error is ZkError.NO_NODE:
        return b""
    raise ZkFailure(found)


async def _alter(user: str, changes: Sequence[Change]) -> Refusal | None:
    """Raises ZkFailure, and ValueError for a znode that makes no sense."""
    data = (await _read([user]))[user]
    after = changed(EntityConfig.decode(data).config, changes)
    if isinstance(after, tuple):
        return after
    entity = user_entity(user)
    path, text = EntityConfig.path(entity), EntityConfig(after).encode()
    written = await attempt(SetData(path, text))
    if isinstance(written, Failed):
        if written.error is not ZkError.NO_NODE:
            raise ZkFailure(written)
        await perform(Create(path, text))
    await perform(Create(ConfigChange.path(), ConfigChange(entity).encode(), sequential=True))
    return None
