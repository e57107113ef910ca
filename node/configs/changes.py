"""News of changed configuration: /config/changes, watched (ZkConfigManager).

A notification says which entity changed; what it is now is read, and handed to the handler of its
kind. After a gap of the session all that came meanwhile is found by the next look; after one that
is as long as notifications live, everything is read anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from logquake.node.configs.entities import entities_of, read_entity
from logquake.node.journal_events import CONFIG_IGNORED
from logquake.seams.journal import Event, Journal
from logquake.seams.scheduler import Scheduler
from logquake.zk.change_notices import ChangeNotices
from logquake.zk.operations import Session, WatchEvent
from logquake.zk.procedure_queue import ProcedureQueue
from logquake.zk.znodes.configs import CHANGE_PREFIX, CHANGES_PATH, ConfigChange
from logquake.zk.znodes.json_text import MalformedZnode

EntityHandler = Callable[[str, Mapping[str, str]], None]
"""Of an entity's name below its kind, and what it is set to now."""


class ConfigChanges:
    """``handlers`` are by the kind of entity: topics, brokers, users. Others are passed over."""

    def __init__(
        self,
        session: Session,
        scheduler: Scheduler,
        journal: Journal,
        handlers: Mapping[str, EntityHandler],
    ) -> None:
        self._queue = ProcedureQueue(session)
        self._notices = ChangeNotices(CHANGES_PATH, CHANGE_PREFIX, scheduler.now_ms)
        self._journal = journal
        self._handlers = handlers
        self._owed: dict[str, None] = {}  # entities that changed and were not read yet

    def on_session_established(self) -> None:
        """A session serves, the first one too: nothing is watched in it yet."""
        self._queue.put(self._begin_session)

    def on_watch(self, event: WatchEvent) -> None:
        """Every watch event of the session is offered here; others than its own are ignored."""
        if self._notices.is_about(event):
            self._queue.put(self._catch_up)

    async def _begin_session(self) -> None:
        missed_some = self._notices.may_have_gone_unseen
        await self._catch_up()
        if missed_some:
            for kind in self._handlers:
                self._owed |= dict.fromkeys(await entities_of(kind))
            await self._tell_owed()

    async def _catch_up(self) -> None:
        for said in await self._notices.take():
            try:
                self._owed[ConfigChange.decode(said).entity_path] = None
            except MalformedZnode as malformed:
                self._journal.record(Event(CONFIG_IGNORED, CHANGES_PATH, str(malformed)))
        await self._tell_owed()

    async def _tell_owed(self) -> None:
        """What the end of the session cuts short the next one goes on with."""
        for entity in list(self._owed):
            kind, _, name = entity.partition("/")
            if kind in self._handlers:
                self._handlers[kind](name, await read_entity(entity, self._journal))
            del self._owed[entity]
