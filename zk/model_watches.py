"""Which sessions watch what, and whom a change tells, in the model of ZooKeeper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from logquake.zk.operations import EventType, WatchEvent

Fired = tuple[tuple[int, WatchEvent], ...]  # (session, event), in the order they are sent


class Watches:
    """One-shot watches. Sessions are kept in the order in which they asked."""

    def __init__(self) -> None:
        self._data: dict[str, dict[int, None]] = {}
        self._children: dict[str, dict[int, None]] = {}

    def watch_data(self, session_id: int, path: str) -> None:
        self._data.setdefault(path, {})[session_id] = None

    def watch_children(self, session_id: int, path: str) -> None:
        self._children.setdefault(path, {})[session_id] = None

    def drop(self, session_id: int) -> None:
        for watches in (self._data, self._children):
            for sessions in watches.values():
                sessions.pop(session_id, None)

    def fire(self, changes: Iterable[WatchEvent]) -> Fired:
        """Take the watches that these changes of nodes fire."""
        return tuple(event for change in changes for event in self._fire_one(change))

    def _fire_one(self, change: WatchEvent) -> Iterator[tuple[int, WatchEvent]]:
        told = self._data.pop(change.path, {})
        if change.type is EventType.DELETED:
            told |= self._children.pop(change.path, {})
        for session_id in told:
            yield session_id, change
        if change.type is not EventType.CHANGED:
            parent = change.path.rpartition("/")[0] or "/"
            for session_id in self._children.pop(parent, {}):
                yield session_id, WatchEvent(EventType.CHILD, parent)
