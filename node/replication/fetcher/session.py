"""Incremental fetch sessions, the follower's side (KIP-227, Kafka's FetchSessionHandler).

The first request names every partition. Later ones name those whose position changed and those
to forget, and that is all the work there is: a session of a thousand idle partitions costs
nothing to keep up.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from logquake.node.replication.fetch_sessions import INITIAL_EPOCH, NO_SESSION, next_epoch
from logquake.node.replication.fetcher.followed import NOT_SENT, Followed
from logquake.node.replication.values import PartitionKey
from logquake.wire.errors import ErrorCode


@dataclass(frozen=True, slots=True)
class SessionRequest:
    session_id: int
    session_epoch: int
    named: list[Followed]
    forgotten: list[PartitionKey]


class FetchSessionClient:
    def __init__(self) -> None:
        self._id = NO_SESSION
        self._epoch = INITIAL_EPOCH
        self._wanted: dict[PartitionKey, Followed] = {}
        self._named: dict[PartitionKey, None] = {}  # what the leader has in the session
        self._changed: dict[PartitionKey, None] = {}

    def want(self, followed: Followed) -> None:
        """Fetch this partition from now on, from its present position."""
        followed.sent_offset = NOT_SENT
        self._wanted[followed.key] = followed
        self._changed[followed.key] = None

    def drop(self, key: PartitionKey) -> None:
        """Fetch this partition no more."""
        if self._wanted.pop(key, None) is not None:
            self._changed[key] = None

    def next_request(self) -> SessionRequest | None:
        """What to ask now; None if there is nothing to fetch and nothing to forget."""
        if self._epoch == INITIAL_EPOCH:
            request = self._full_request()
        else:
            request = self._incremental_request()
        self._changed.clear()
        for followed in request.named:
            followed.mark_sent()
        return request if self._named or request.forgotten else None

    def on_answer(
        self, error: ErrorCode, session_id: int, answered: Collection[PartitionKey]
    ) -> bool:
        """Move the session on; whether the answer's partitions may be used."""
        if error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
            self._start_over(NO_SESSION)
            return False
        if error is not ErrorCode.NONE or not self._is_plausible(answered):
            self.on_lost()
            return False
        if session_id == NO_SESSION:
            self._start_over(NO_SESSION)
        else:
            self._id = session_id
            self._epoch = next_epoch(self._epoch)
        return True

    def on_lost(self) -> None:
        """No usable answer: the next request closes the session, if any, and opens another."""
        self._start_over(self._id)

    def _full_request(self) -> SessionRequest:
        self._named = dict.fromkeys(self._wanted)
        return SessionRequest(self._id, INITIAL_EPOCH, list(self._wanted.values()), [])

    def _incremental_request(self) -> SessionRequest:
        named = []
        forgotten = []
        for key in self._changed:
            followed = self._wanted.get(key)
            if followed is not None:
                named.append(followed)
                self._named[key] = None
            elif key in self._named:
                forgotten.append(key)
                del self._named[key]
        return SessionRequest(self._id, self._epoch, named, forgotten)

    def _is_plausible(self, answered: Collection[PartitionKey]) -> bool:
        """A full request is answered with all of its partitions, a later one with some."""
        if self._epoch == INITIAL_EPOCH:
            return len(answered) == len(self._named) and all(k in self._named for k in answered)
        return all(key in self._named for key in answered)

    def _start_over(self, session_id: int) -> None:
        self._id = session_id
        self._epoch = INITIAL_EPOCH
