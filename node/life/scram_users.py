"""Users' SCRAM credentials from ZooKeeper: read at the start, and again when a change is told.

Whoever changes a user writes /config/users/<user>, and tells of it below /config/changes
(Kafka's ZkConfigManager and UserConfigHandler).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from logquake.node.authentication.credentials import Credentials
from logquake.node.journal_events import USER_CONFIG_IGNORED
from logquake.seams.journal import Event, Journal
from logquake.zk.operations import (
    Data,
    EventType,
    Failed,
    GetChildren,
    GetData,
    Session,
    WatchEvent,
    ZkError,
)
from logquake.zk.procedure import Procedure, ZkFailure, attempt_all, perform, run
from logquake.zk.znodes.configs import (
    CHANGES_PATH,
    USERS_CONFIG_PATH,
    ConfigChange,
    EntityConfig,
    user_entity,
    user_of,
)
from logquake.zk.znodes.json_text import MalformedZnode

UserConfigs = Mapping[str, bytes]
"""What users' znodes hold, by user; nothing where there is no znode."""

_Reading = Callable[[], Procedure[UserConfigs]]


async def read_users() -> UserConfigs:
    """Every user's. Raises ZkFailure."""
    names = (await perform(GetChildren(USERS_CONFIG_PATH))).names
    return await read_users_named(
        user for user in (user_of(f"users/{name}") for name in names) if user
    )


async def read_users_named(users: Iterable[str]) -> dict[str, bytes]:
    """These users'. Raises ZkFailure."""
    wanted = sorted(set(users))
    outcomes = await attempt_all([GetData(EntityConfig.path(user_entity(u))) for u in wanted])
    return {user: _data(outcome) for user, outcome in zip(wanted, outcomes, strict=True)}


class ScramUsers:
    """Keeps ``credentials`` as ZooKeeper says; its readings follow each other."""

    def __init__(self, session: Session, credentials: Credentials, journal: Journal) -> None:
        self._session = session
        self._credentials = credentials
        self._journal = journal
        self._told: frozenset[str] = frozenset()  # names of the notifications that were read
        self._is_reading = False
        self._owed: _Reading | None = None  # what came up meanwhile

    def start(self) -> None:
        """Of each new session: what was told while there was none is not known."""
        self._read_soon(self._read_all)

    def on_watch(self, event: WatchEvent) -> None:
        if event.type is EventType.CHILD and event.path == CHANGES_PATH:
            self._read_soon(self._owed or self._read_changed)

    def take(self, users: UserConfigs) -> None:
        for user, data in users.items():
            try:
                self._credentials.update_user(user, EntityConfig.decode(data).config)
            except ValueError as error:
                # What a malformed znode holds may be secret all the same.
                why = "it is no JSON" if isinstance(error, MalformedZnode) else str(error)
                self._journal.record(Event(USER_CONFIG_IGNORED, user, why))

    def _read_soon(self, reading: _Reading) -> None:
        if self._is_reading:
            self._owed = reading
            return
        self._is_reading = True
        run(self._session, reading(), self._on_read)

    def _on_read(self, users: UserConfigs | ZkFailure) -> None:
        """A failure is the end of the session, after which all is read again."""
        self._is_reading = False
        if not isinstance(users, ZkFailure):
            self.take(users)
        owed, self._owed = self._owed, None
        if owed is not None:
            self._read_soon(owed)

    async def _read_all(self) -> UserConfigs:
        self._told = await self._notifications()
        return {**dict.fromkeys(self._credentials.users, b""), **await read_users()}

    async def _read_changed(self) -> UserConfigs:
        """Of the users that notifications name which were not there before."""
        there = await self._notifications()
        fresh, self._told = sorted(there - self._told), there
        outcomes = await attempt_all([GetData(f"{CHANGES_PATH}/{name}") for name in fresh])
        users = (self._user_in(_data(outcome)) for outcome in outcomes)
        return await read_users_named(user for user in users if user is not None)

    async def _notifications(self) -> frozenset[str]:
        return frozenset((await perform(GetChildren(CHANGES_PATH, watch=True))).names)

    def _user_in(self, notification: bytes) -> str | None:
        try:
            return user_of(ConfigChange.decode(notification).entity_path)
        except MalformedZnode:
            return None


def _data(outcome: Data | Failed) -> bytes:
    """What a GetData gave; nothing where there is no znode. Raises ZkFailure."""
    if not isinstance(outcome, Failed):
        return outcome.data
    if outcome.error is ZkError.NO_NODE:
        return b""
    raise ZkFailure(outcome)
