"""Sequential znodes by which one broker tells all others what to read again.

Whoever changes something makes a child of the parent; everyone watches the parent, reads the
children that are new, and removes old ones (kafka.common.ZkNodeChangeNotificationListener).

Kafka removes what is 15 minutes old; here that is what was seen first so long ago, so that nobody
compares clocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from logquake.zk.operations import (
    Delete,
    EventType,
    Failed,
    GetChildren,
    GetData,
    WatchEvent,
    ZkError,
)
from logquake.zk.procedure import ZkFailure, attempt_all, perform

_EXPIRATION_MS = 15 * 60 * 1000


class ChangeNotices:
    """The notices below one parent. Of its procedures one runs at a time."""

    def __init__(self, parent: str, prefix: str, now_ms: Callable[[], int]) -> None:
        self.parent = parent
        self._prefix = prefix
        self._now_ms = now_ms
        self._seen_ms: dict[str, int] = {}  # by name, of those that are there
        self._looked_ms = now_ms()

    def is_about(self, event: WatchEvent) -> bool:
        return event.type is EventType.CHILD and event.path == self.parent

    @property
    def may_have_gone_unseen(self) -> bool:
        """Some may have come and gone since the last look, which was that long ago."""
        return self._now_ms() - self._looked_ms > _EXPIRATION_MS

    async def watch(self) -> None:
        """From now on; for who reads afterwards whatever they may be about. Raises ZkFailure."""
        self._note(await self._names())

    async def take(self) -> list[bytes]:
        """What those say that came since; old ones go. Raises ZkFailure: the next one says it."""
        names = await self._names()
        fresh = [name for name in names if name not in self._seen_ms]
        reads = await attempt_all([GetData(f"{self.parent}/{name}") for name in fresh])
        said = []
        for read in reads:
            if not isinstance(read, Failed):
                said.append(read.data)
            elif read.error is not ZkError.NO_NODE:  # purged by another, that was not asleep
                raise ZkFailure(read)
        self._note(names)
        await self._purge()
        return said

    async def _names(self) -> list[str]:
        """Of those that are there, in their order."""
        there = (await perform(GetChildren(self.parent, watch=True))).names
        return [name for name in there if name.startswith(self._prefix)]

    def _note(self, names: Iterable[str]) -> None:
        self._looked_ms = now_ms = self._now_ms()
        self._seen_ms = {name: self._seen_ms.get(name, now_ms) for name in names}

    async def _purge(self) -> None:
        since_ms = self._now_ms() - _EXPIRATION_MS
        old = [name for name, seen_ms in self._seen_ms.items() if seen_ms < since_ms]
        await attempt_all([Delete(f"{self.parent}/{name}") for name in old])
