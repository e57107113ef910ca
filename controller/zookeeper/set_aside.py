"""Znodes that make no sense: what each is about is left alone until it is written anew.

Nothing else may suffer for it: a controller that failed on one partition's state could lead no
other partition either, and nor could the next. (Kafka takes text that is no JSON for a znode that
is not there, and fails the event, at a failover the whole term, on JSON of another shape.)

Each is told when it is met first in a term, and when it makes sense again, however often it is
read between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from logquake.controller.journal_events import ZNODE_SET_ASIDE, ZNODE_TAKEN_UP
from logquake.seams.journal import Event, EventKind, Journal
from logquake.zk.znodes.json_text import MalformedZnode

T = TypeVar("T")


class SetAside:
    """By path, of which there are no more than znodes that make no sense.

    ``epoch`` is the term's, None out of office.
    """

    def __init__(self, journal: Journal, epoch: int | None = None) -> None:
        self._journal = journal
        self._epoch = epoch
        self._paths: set[str] = set()

    def __contains__(self, path: str) -> bool:
        return path in self._paths

    @property
    def is_empty(self) -> bool:
        return not self._paths

    def take(self, path: str, subject: str, decode: Callable[[], T]) -> T | None:
        """What ``decode`` makes of the znode; None if that raises MalformedZnode.

        ``subject`` is what the znode is about, for the journal.
        """
        try:
            value = decode()
        except MalformedZnode as malformed:
            self.put(path, subject, malformed)
            return None
        self.take_up(path, subject)
        return value

    def put(self, path: str, subject: str, malformed: MalformedZnode) -> None:
        if path not in self._paths:
            self._paths.add(path)
            self._record(ZNODE_SET_ASIDE, subject, f"{path} makes no sense: {malformed}")

    def take_up(self, path: str, subject: str) -> None:
        """It makes sense."""
        if path in self._paths:
            self._paths.remove(path)
            self._record(ZNODE_TAKEN_UP, subject, f"{path} makes sense again")

    def forget(self, path: str) -> None:
        """There is no such znode any more."""
        self._paths.discard(path)

    def _record(self, what: EventKind, subject: str, why: str) -> None:
        self._journal.record(Event(what, subject, why, epoch=self._epoch))
