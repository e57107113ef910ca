"""News of changed configuration: /config/changes, watched (ZkConfigManager).

A notification says which entity changed; what it is now is read. One that an earlier look has seen
is passed over, and removed when it is old, by whichever broker comes first. After a gap of the
session all that came meanwhile is found by the next look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from logquake.node.configs.entities import read_entity
from logquake.node.journal_events import CONFIG_CHANGE_IGNORED
from logquake.seams.journal import Event, Journal
from logquake.seams.scheduler import Scheduler
from logquake.zk.operations import Delete, Failed, GetChildren, GetData, Session, WatchEvent
from logquake.zk.procedure import ZkFailure, attempt_all, perform, run
from logquake.zk.znodes.configs import CHANGE_PREFIX, CHANGES_PATH, ConfigChange
from logquake.zk.znodes.json_text import MalformedZnode

_EXPIRATION_MS = 15 * 60 * 1000  # ZkNodeChangeNotificationListener.changeExpirationMs

EntityHandler = Callable[[str, Mapping[str, str]], None]
"""Of an entity's name below its kind, and what it is set to now."""


class ConfigChanges:
    """``handlers`` are by the kind of entity: topics, brokers. Other kinds are passed over."""

    def __init__(
        self,
        session: Session,
        scheduler: Scheduler,
        journal: Journal,
        handlers: Mapping[str, EntityHandler],
    ) -> None:
        self._session = session
        self._scheduler = scheduler
        self._journal = journal
        self._handlers = handlers
        self._seen_ms: dict[str, int] = {}  # by name, those that are still there
        self._is_looking = False
        self._looks_again = False

    def on_session_established(self) -> None:
        """A session serves, the first one too: nothing is watched in it yet."""
        self._look()

    def on_watch(self, event: WatchEvent) -> None:
        """Every watch event of the session is offered here; others than its own are ignored."""
        if event.path == CHANGES_PATH:
            self._look()

    def _look(self) -> None:
        if self._is_looking:
            self._looks_again = True
            return
        self._is_looking = True
        run(self._session, self._take_in(), self._looked)

    def _looked(self, _outcome: ZkFailure | None) -> None:
        """What failed with the session is looked for in the next one."""
        self._is_looking = False
        if self._looks_again:
            self._looks_again = False
            self._look()

    async def _take_in(self) -> None:
        """Raises ZkFailure."""
        names = (await perform(GetChildren(CHANGES_PATH, watch=True))).names
        new = [name for name in names if name not in self._seen_ms]
        reads = await attempt_all([GetData(_path(name)) for name in new])
        found = (
            self._entity_of(name, read.data)
            for name, read in zip(new, reads, strict=True)
            if not isinstance(read, Failed)
        )
        for entity in dict.fromkeys(entity for entity in found if entity is not None):
            await self._tell(entity)
        await self._forget_old(names)

    async def _tell(self, entity: str) -> None:
        kind, _, name = entity.partition("/")
        handler = self._handlers.get(kind)
        if handler is not None:
            handler(name, await read_entity(entity))

    def _entity_of(self, name: str, data: bytes) -> str | None:
        try:
            return ConfigChange.decode(data).entity_path
        except MalformedZnode as malformed:
            self._journal.record(Event(CONFIG_CHANGE_IGNORED, _path(name), str(malformed)))
            return None

    async def _forget_old(self, names: Iterable[str]) -> None:
        now_ms = self._scheduler.now_ms()
        self._seen_ms = {name: self._seen_ms.get(name, now_ms) for name in names}
        old = [n for n, seen_ms in self._seen_ms.items() if now_ms - seen_ms > _EXPIRATION_MS]
        await attempt_all([Delete(_path(name)) for name in old if name.startswith(CHANGE_PREFIX)])


def _path(name: str) -> str:
    return f"{CHANGES_PATH}/{name}"
