"""ZooKeeper as a pure state machine: no I/O, no clock, the same answers as the real server.

One model is one ensemble. Sessions are opened and closed (an expiry is a close that the client did
not ask for), operations are applied one at a time, and each answers its outcome and the watches
that it fired, in the order in which ZooKeeper sends them: to one session, a watch event precedes
the answer of any operation that sees the change.

Kept as in ZooKeeper 3.9 (PrepRequestProcessor, DataTree, WatchManager):
- every write takes a zxid, also one that is refused; a Multi takes one; opening and closing a
  session take one each; reads take none;
- the number of a sequential node is the count of its parent's creates;
- watches are one-shot and one a session, path and kind, however often they were asked for; a
  deletion reports a path's data watch and child watch as one event.

Caveats: no access control, quotas, container or TTL nodes, no chroot; paths are trusted to be
valid. ZooKeeper leaves open in which order a closed session's ephemeral nodes vanish; here it is
sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, cast

from logquake.zk.applied import Applied
from logquake.zk.model_tree import Refused, Tree
from logquake.zk.model_watches import Fired, Watches
from logquake.zk.operations import (
    Create,
    Data,
    Delete,
    Exists,
    Failed,
    GetChildren,
    GetData,
    Multi,
    Operation,
    SetData,
    Write,
    ZkError,
)
from logquake.zk.paths import path_of

R = TypeVar("R")

_FIRST_SESSION = 0x100000000000000


class ZooKeeperModel:
    def __init__(self) -> None:
        self.zxid = 0
        self.history: list[Applied] = []
        self._tree = Tree()
        self._watches = Watches()
        self._sessions: set[int] = set()
        self._last_session = _FIRST_SESSION

    @property
    def sessions(self) -> frozenset[int]:
        """The ids of the sessions that live."""
        return frozenset(self._sessions)

    def open_session(self) -> int:
        self.zxid += 1
        self._last_session += 1
        self._sessions.add(self._last_session)
        return self._last_session

    def close_session(self, session_id: int) -> Fired:
        """End a session, asked for or expired: its ephemeral nodes and its watches go.

        Answers the watches of others that this fired. Closing a session that is gone does nothing.
        """
        if session_id not in self._sessions:
            return ()
        self._sessions.remove(session_id)
        self._watches.drop(session_id)
        self.zxid += 1
        deletes = [Delete(path) for path in self._tree.ephemerals(session_id)]
        return self._commit(session_id, deletes, closed=True)[1]

    def apply(self, session_id: int, operation: Operation[R]) -> tuple[R | Failed, Fired]:
        """Perform one operation of a session; its outcome and the watches that it fired."""
        if session_id not in self._sessions:
            return Failed(ZkError.SESSION_EXPIRED, path_of(operation)), ()
        try:
            return cast("tuple[R, Fired]", self._perform(session_id, operation))
        except Refused as refused:
            return refused.failed, ()

    def data(self, path: str) -> Data | None:
        """A look from outside, without a session: what the node holds, None without one."""
        return None if self._tree.stat(path) is None else self._tree.data(path)

    def children(self, path: str) -> tuple[str, ...]:
        """A look from outside: the sorted names below a node; none where there is no node."""
        return () if self._tree.stat(path) is None else self._tree.children(path).names

    def _perform(self, session_id: int, operation: Operation[Any]) -> tuple[Any, Fired]:
        match operation:
            case Create() | Delete() | SetData():
                self.zxid += 1
                answers, fired = self._commit(session_id, [operation])
                return answers[0], fired
            case Multi(writes):
                self.zxid += 1
                return self._commit(session_id, writes)
            case _:
                return self._read(session_id, operation), ()

    def _commit(
        self, session_id: int, writes: Sequence[Write], *, closed: bool = False
    ) -> tuple[tuple[Any, ...], Fired]:
        done = self._tree.write(self.zxid, session_id, writes)
        self.history.append(Applied(self.zxid, session_id, done.writes, closed))
        return done.answers, self._watches.fire(done.changes)

    def _read(self, session_id: int, operation: Operation[Any]) -> Any:
        """A read that is refused leaves no watch; Exists on no node does."""
        match operation:
            case GetData(path, watch):
                answer: Any = self._tree.data(path)
            case Exists(path, watch):
                answer = self._tree.stat(path)
            case GetChildren(path, watch):
                answer = self._tree.children(path)
                if watch:
                    self._watches.watch_children(session_id, path)
                return answer
            case _:
                raise TypeError(f"{operation} cannot be performed by itself")
        if watch:
            self._watches.watch_data(session_id, path)
        return answer
