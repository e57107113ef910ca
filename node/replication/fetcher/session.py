"""Incremental fetch sessions, the follower's side (KIP-227, Kafka's FetchSessionHandler).

Requests name partitions that are new to the session, those whose position changed and those to
forget, and that is all the work there is: a session of a thousand idle partitions costs nothing to
keep up.

The new ones are named some at a time, from the first request on, which in Kafka names all: its
leader is held for as long as it takes to look at what one request names. Until the last of them is
named nothing is waited for. A leader that opens no session is told of all each time.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice

from logquake.node.replication.fetcher.followed import NOT_SENT, Followed
from logquake.node.replication.values import PartitionKey
from logquake.wire.errors import ErrorCode
from logquake.wire.fetch_sessions import NO_SESSION, FetchMetadata

NEW_AT_A_TIME = 500  # each is some 30 us of work for the leader


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """``is_last``: nothing is left to be named, so that the leader may wait for records."""

    metadata: FetchMetadata
    named: list[Followed]
    forgotten: list[PartitionKey]
    is_last: bool


class FetchSessionClient:
    def __init__(self) -> None:
        self._metadata = FetchMetadata()
        self._wanted: dict[PartitionKey, Followed] = {}
        self._named: dict[PartitionKey, None] = {}  # what the leader has in the session
        self._changed: dict[PartitionKey, None] = {}
        self._opens_sessions = True  # the leader, as far as is known

    @property
    def partition_count(self) -> int:
        return len(self._wanted)

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
        request = self._full_request() if self._metadata.is_full else self._incremental_request()
        for followed in request.named:
            followed.mark_sent()
        return request if self._named or request.forgotten else None

    def on_answer(
        self, error: ErrorCode, session_id: int, answered: Collection[PartitionKey]
    ) -> bool:
        """Move the session on; whether the answer's partitions may be used."""
        if error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
            self._metadata = FetchMetadata()
            return False
        if error is not ErrorCode.NONE or not self._is_plausible(answered):
            self.on_lost()
            return False
        self._opens_sessions = session_id != NO_SESSION
        self._metadata = self._metadata.answered(session_id)
        return True

    def on_lost(self) -> None:
        """No usable answer: the next request closes the session, if any, and opens another."""
        self._metadata = self._metadata.lost()

    def _full_request(self) -> SessionRequest:
        count = NEW_AT_A_TIME if self._opens_sessions else len(self._wanted)
        keys = iter(self._wanted)
        self._named = dict.fromkeys(islice(keys, count))
        self._changed = dict.fromkeys(keys)
        named = [self._wanted[key] for key in self._named]
        return SessionRequest(self._metadata, named, [], is_last=not self._changed)

    def _incremental_request(self) -> SessionRequest:
        """What the session has already is named whenever it moved, or it would be sent again."""
        named, forgotten = [], []
        later: dict[PartitionKey, None] = {}
        room = NEW_AT_A_TIME
        for key in self._changed:
            followed = self._wanted.get(key)
            if followed is None:
                if key in self._named:
                    forgotten.append(key)
                    del self._named[key]
            elif key in self._named:
                named.append(followed)
            elif room:
                room -= 1
                named.append(followed)
                self._named[key] = None
            else:
                later[key] = None
        self._changed = later
        return SessionRequest(self._metadata, named, forgotten, is_last=not later)

    def _is_plausible(self, answered: Collection[PartitionKey]) -> bool:
        """The first request is answered with all of its partitions, a later one with some."""
        if self._metadata.is_full:
            return len(answered) == len(self._named) and all(k in self._named for k in answered)
        return all(key in self._named for key in answered)
