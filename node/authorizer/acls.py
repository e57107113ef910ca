"""A broker's ACLs: read before it serves, kept by notices, changed by requests.

What reads or changes them goes one at a time, so that each sees what the one before it wrote.

Caveat: as in Kafka a broker decides by its own copy, which is behind another broker's writes for
as long as their notices take.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from logquake.node.authorizer.acl_authorizer import AclAuthorizer
from logquake.node.authorizer.acl_filters import AclFilter
from logquake.node.authorizer.acl_set import NO_ACLS, Entries, VersionedAcls
from logquake.node.authorizer.acl_store import (
    AclsContendedError,
    Change,
    make_paths,
    read_acls,
    read_all,
    update,
)
from logquake.node.journal_events import ACLS_CHANGED, ACLS_IGNORED
from logquake.seams.journal import Event, Journal
from logquake.seams.scheduler import Scheduler
from logquake.wire.acls import AccessControlEntry, AclBinding, ResourcePattern
from logquake.zk.change_notices import ChangeNotices
from logquake.zk.operations import Session, WatchEvent
from logquake.zk.paths import is_node_name
from logquake.zk.procedure import ZkFailure
from logquake.zk.procedure_queue import ProcedureQueue
from logquake.zk.znodes.acls import CHANGE_PREFIX, CHANGES_PATHS, AclChange, ResourceAcls
from logquake.zk.znodes.json_text import MalformedZnode

# Of each ACL that was to be made or removed, whether that was done.
Outcomes = Mapping[AclBinding, bool]


class BrokerAcls:
    """Changes ``authorizer``; nobody else does."""

    def __init__(
        self, authorizer: AclAuthorizer, session: Session, scheduler: Scheduler, journal: Journal
    ) -> None:
        self.authorizer = authorizer
        self._queue = ProcedureQueue(session)
        self._journal = journal
        self._notices = [
            ChangeNotices(path, CHANGE_PREFIX, scheduler.now_ms) for path in CHANGES_PATHS
        ]
        self._were_read = False

    # Reading

    def read(self, then: Callable[[], None], refused: Callable[[str], None]) -> None:
        """Read all of them, in a new session; then, or why nobody can go by them.

        Neither is called if the session ends meanwhile: the next one begins anew.
        """

        async def read() -> None:
            malformed = await self._read_all()
            if malformed and not self._were_read:
                # To leave them out would allow what they deny.
                refused(f"its ACLs cannot be read: {malformed[0]}")
                return
            self._were_read = True
            then()

        self._queue.put(read)

    async def _read_all(self) -> list[str]:
        """What makes no sense: of that, whatever was known before stays."""
        await make_paths()
        for notices in self._notices:
            await notices.watch()
        found = await read_all()
        for resource in [each for each in self.authorizer.acls if each not in found]:
            self._take(resource, NO_ACLS)
        malformed = []
        for resource, acls in found.items():
            if isinstance(acls, MalformedZnode):
                malformed.append(f"{ResourceAcls.path(resource)}: {acls}")
                self._ignore(ResourceAcls.path(resource), acls)
            else:
                self._take(resource, acls)
        return malformed

    def on_watch(self, event: WatchEvent) -> None:
        for notices in self._notices:
            if notices.is_about(event):
                self._queue.put(partial(self._catch_up, notices))

    async def _catch_up(self, notices: ChangeNotices) -> None:
        for said in await notices.take():
            try:
                resource = AclChange.decode(notices.parent, said).resource
                self._take(resource, await read_acls(resource))
            except MalformedZnode as malformed:
                self._ignore(notices.parent, malformed)

    # Changing

    def create(self, bindings: Sequence[AclBinding], done: Callable[[Outcomes], None]) -> None:
        async def create() -> None:
            outcomes: dict[AclBinding, bool] = {}
            for resource, wanted in _by_resource(bindings).items():
                added = tuple(binding.entry for binding in wanted)
                is_done = await self._update(resource, partial(_united, added))
                outcomes |= dict.fromkeys(wanted, is_done)
            done(outcomes)

        self._queue.put(create)

    def delete(
        self, filters: Sequence[AclFilter], done: Callable[[Sequence[Outcomes]], None]
    ) -> None:
        """For each filter what it meant; what several mean is told of the first."""

        async def delete() -> None:
            outcomes: list[dict[AclBinding, bool]] = [{} for _ in filters]
            named = [resource for each in filters for resource in each.named()]
            for resource in sorted({*self.authorizer.acls, *named}):
                await self._delete(resource, filters, outcomes)
            done(outcomes)

        self._queue.put(delete)

    async def _delete(
        self,
        resource: ResourcePattern,
        filters: Sequence[AclFilter],
        outcomes: list[dict[AclBinding, bool]],
    ) -> None:
        meaning = [index for index, each in enumerate(filters) if each.means(resource)]
        meant: dict[AccessControlEntry, int] = {}  # by which filter, over all attempts

        def without_meant(entries: Entries) -> Entries:
            for index in meaning:
                for entry in entries:
                    if filters[index].means_entry(entry):
                        meant.setdefault(entry, index)
            return tuple(entry for entry in entries if entry not in meant)

        if meaning:
            is_done = await self._update(resource, without_meant)
            for entry, index in meant.items():
                outcomes[index][AclBinding(resource, entry)] = is_done

    async def _update(self, resource: ResourcePattern, change: Change) -> bool:
        if not is_node_name(resource.name):
            return False
        try:
            self._take(resource, await update(resource, self.authorizer.acls.get(resource), change))
        except (ZkFailure, MalformedZnode, AclsContendedError) as failure:
            self._ignore(ResourceAcls.path(resource), failure)
            return False
        return True

    def _take(self, resource: ResourcePattern, acls: VersionedAcls) -> None:
        known = self.authorizer.acls.get(resource) or NO_ACLS
        self.authorizer.put(resource, acls)
        if set(known.entries) != set(acls.entries):
            why = f"{len(known.entries)} ACLs before, {len(acls.entries)} now"
            self._journal.record(Event(ACLS_CHANGED, ResourceAcls.path(resource), why))

    def _ignore(self, path: str, failure: Exception) -> None:
        self._journal.record(Event(ACLS_IGNORED, path, str(failure)))


def _by_resource(bindings: Sequence[AclBinding]) -> dict[ResourcePattern, list[AclBinding]]:
    grouped: dict[ResourcePattern, list[AclBinding]] = {}
    for binding in bindings:
        grouped.setdefault(binding.pattern, []).append(binding)
    return grouped


def _united(added: Entries, entries: Entries) -> Entries:
    return tuple(dict.fromkeys((*entries, *added)))
