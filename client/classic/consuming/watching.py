"""Changes in ZooKeeper, and the thread that handles them (ZKRebalancerListener's executor,
ZKSessionExpireListener).
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition, Event

from logquake.client.classic.consuming.worker import Worker
from logquake.zk.operations import WatchEvent

_LOOK_AGAIN_S = 0.2


class Watching:
    """Several changes are handled as one, since the handler reads the whole state. If it fails, it
    is repeated: otherwise a member might never get its share.
    """

    def __init__(
        self, name: str, on_change: Callable[[], None], on_new_session: Callable[[], None]
    ) -> None:
        self._on_change = on_change
        self._on_new_session = on_new_session
        self._told = Condition()
        self._has_changed = False
        self._is_new_session = False
        self.worker = Worker(name, self._act)

    def watched(self, _event: WatchEvent) -> None:
        with self._told:
            self._has_changed = True
            self._told.notify_all()

    def new_session(self) -> None:
        """The previous session's nodes and watches are gone."""
        with self._told:
            self._is_new_session = True
            self._told.notify_all()

    def _act(self, stopping: Event) -> None:
        with self._told:
            if not (self._has_changed or self._is_new_session):
                self._told.wait(_LOOK_AGAIN_S)
            has_changed, self._has_changed = self._has_changed, False
            is_new_session, self._is_new_session = self._is_new_session, False
        if stopping.is_set():
            return
        try:
            if is_new_session:
                self._on_new_session()
            elif has_changed:
                self._on_change()
        except Exception:
            with self._told:
                self._has_changed |= has_changed
                self._is_new_session |= is_new_session
            raise
