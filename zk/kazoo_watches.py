"""Watches over kazoo, so that they survive a lost connection as with ZooKeeper's own client.

kazoo tells its watchers when the connection is lost, and forgets them. They are collected here; on
the next connection of the same session they are put back into kazoo's tables and named to the
server, which at once reports those that changed in between (SetWatches).

Everything here runs on kazoo's thread.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar

from kazoo.client import KazooClient
from kazoo.protocol.serialization import write_string
from kazoo.protocol.states import EventType as KazooEventType
from kazoo.protocol.states import KeeperState, WatchedEvent

from logquake.zk.operations import EventType, Failed, WatchEvent

_WATCHES_PER_REQUEST = 1000  # ZooKeeper refuses requests above 1 MB (jute.maxbuffer)

_EVENT_TYPES = {
    KazooEventType.CREATED: EventType.CREATED,
    KazooEventType.DELETED: EventType.DELETED,
    KazooEventType.CHANGED: EventType.CHANGED,
    KazooEventType.CHILD: EventType.CHILD,
}


class WatchKind(Enum):
    DATA = 0
    EXISTENCE = 1  # there was no node
    CHILDREN = 2


@dataclass(slots=True, eq=False)
class Watch:
    """A watcher of kazoo's. Two of one path are the same to kazoo, but for children's and data."""

    path: str  # below the chroot's root, as kazoo keeps it
    kind: WatchKind
    report: Callable[[Watch, WatchedEvent], None]
    refused: bool = False

    def __bool__(self) -> bool:
        """kazoo keeps a watcher that is true, even of a read that failed and left no watch."""
        return not self.refused

    def learn(self, outcome: object) -> None:
        """The outcome of the read that asked for this watch; None: there is no node."""
        self.refused = isinstance(outcome, Failed)
        if outcome is None:
            self.kind = WatchKind.EXISTENCE

    def __call__(self, event: WatchedEvent) -> None:
        self.report(self, event)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Watch) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[str, bool]:
        return self.path, self.kind is WatchKind.CHILDREN


@dataclass(frozen=True, slots=True)
class SetWatches:
    """The request, for kazoo's connection; relative to the last zxid that the client saw."""

    relative_zxid: int
    watches: tuple[Watch, ...]

    type: ClassVar[int] = 101

    def serialize(self) -> bytearray:
        body = bytearray(struct.pack("!q", self.relative_zxid))
        for kind in WatchKind:
            paths = [watch.path for watch in self.watches if watch.kind is kind]
            body += struct.pack("!i", len(paths))
            for path in paths:
                body += write_string(path)
        return body

    @staticmethod
    def deserialize(_buffer: bytes, _offset: int) -> None:
        """The answer is empty."""


@dataclass(slots=True)
class WatchKeeper:
    """The watches of one session, lost ones included; ``report`` hears of those that fire."""

    report: Callable[[WatchEvent], None]
    _lost: set[Watch] = field(default_factory=set)
    _last_event: WatchedEvent | None = None

    def watch(self, path: str, kind: WatchKind) -> Watch:
        """A watcher to hand to kazoo."""
        return Watch(path, kind, self._on_event)

    def forget(self) -> None:
        """The session is over, and its watches with it."""
        self._lost.clear()

    def restore(self, client: KazooClient) -> None:
        """Set again what a lost connection took."""
        lost, self._lost = self._lost, set()
        for watch in lost:
            children = watch.kind is WatchKind.CHILDREN
            table = client._child_watchers if children else client._data_watchers
            table[watch.path].add(watch)
        for some in _chunks(sorted(lost, key=lambda watch: watch.path)):
            _ask_first(client, SetWatches(client.last_zxid, some))

    def _on_event(self, watch: Watch, event: WatchedEvent) -> None:
        if event.type == KazooEventType.NONE:
            if event.state == KeeperState.CONNECTING:
                self._lost.add(watch)
        elif event is not self._last_event:  # a deletion calls data's and children's watcher
            self._last_event = event
            self.report(WatchEvent(_EVENT_TYPES[event.type], event.path))


def _chunks(watches: list[Watch]) -> Iterator[tuple[Watch, ...]]:
    for start in range(0, len(watches), _WATCHES_PER_REQUEST):
        yield tuple(watches[start : start + _WATCHES_PER_REQUEST])


def _ask_first(client: KazooClient, request: SetWatches) -> None:
    """Before all that waits to be sent, as in ZooKeeper's own client (SendThread.primeConnection).

    On the thread that sends, which looks there as soon as a byte tells it to.
    """
    client._queue.appendleft((request, client.handler.async_result()))
    client._connection._write_sock.send(b"\0")
