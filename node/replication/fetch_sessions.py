"""Incremental fetch sessions, the leader's side (KIP-227, Kafka's FetchSession.scala).

A full request names every partition and opens a session; later ones name only what changed, and
are answered with only what has news. Sessions live in a bounded cache. A new one may push out
another: one unused for two minutes, or a consumer's for a follower's, or a smaller one that is
not young any more. Who loses its session is told so by its next request, and starts over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random

from logquake.controller.ports import Scheduler
from logquake.node.replication.api import (
    NO_OFFSET,
    FetchAnswer,
    FetchPartition,
    FetchResult,
    PartitionKey,
)
from logquake.wire.errors import ErrorCode

NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
MIN_EVICTION_MS = 120_000  # KafkaConfig.MIN_INCREMENTAL_FETCH_SESSION_EVICTION_MS
_MAX_INT32 = 2**31 - 1


def next_epoch(epoch: int) -> int:
    """The epoch of the request after one with this epoch (FetchMetadata.nextEpoch)."""
    if epoch < 0:
        return FINAL_EPOCH
    return 1 if epoch == _MAX_INT32 else epoch + 1


class _Cached:
    """One partition of a session: what is asked, and what was last said of it."""

    __slots__ = ("asked", "high_watermark", "log_start_offset")

    def __init__(self, asked: FetchPartition, result: FetchResult | None = None) -> None:
        self.asked = asked
        self.high_watermark = result.high_watermark if result else NO_OFFSET
        self.log_start_offset = result.log_start_offset if result else NO_OFFSET

    def take(self, result: FetchResult) -> bool:
        """Remember what is being said; whether it is worth saying."""
        news = (
            bool(result.records)
            or result.high_watermark != self.high_watermark
            or result.log_start_offset != self.log_start_offset
            or result.error is not ErrorCode.NONE
            or result.diverging_epoch is not None
        )
        # After an error the partition must come up again even if nothing else has changed.
        failed = result.error is not ErrorCode.NONE
        self.high_watermark = NO_OFFSET if failed else result.high_watermark
        self.log_start_offset = result.log_start_offset
        return news


class _Session:
    __slots__ = (
        "by_topic_id",
        "created_ms",
        "epoch",
        "from_follower",
        "id",
        "last_used_ms",
        "partitions",
    )

    def __init__(
        self, session_id: int, *, from_follower: bool, by_topic_id: bool, now_ms: int
    ) -> None:
        self.id = session_id
        self.from_follower = from_follower
        self.by_topic_id = by_topic_id
        self.created_ms = now_ms
        self.last_used_ms = now_ms
        self.epoch = next_epoch(INITIAL_EPOCH)
        self.partitions: dict[PartitionKey, _Cached] = {}

    @property
    def worth(self) -> tuple[bool, int, int]:
        """The least worthy is evicted first."""
        return self.from_follower, len(self.partitions), self.id

    def update(
        self, partitions: Iterable[FetchPartition], forgotten: Iterable[PartitionKey]
    ) -> None:
        for asked in partitions:
            cached = self.partitions.get(asked.key)
            if cached is None:
                self.partitions[asked.key] = _Cached(asked)
            else:
                cached.asked = asked
        for key in forgotten:
            self.partitions.pop(key, None)


class FetchContext:
    """One Fetch request: what it asks by now, and how it is answered. Sessionless in itself."""

    def __init__(
        self, partitions: Sequence[FetchPartition], error: ErrorCode = ErrorCode.NONE
    ) -> None:
        self.partitions = partitions
        self.error = error

    def answer(self, results: Sequence[FetchResult]) -> FetchAnswer:
        """What to send, given a result for each of ``partitions`` in order."""
        return FetchAnswer(
            ErrorCode.NONE, NO_SESSION, list(zip(self.partitions, results, strict=True))
        )


class _OpeningContext(FetchContext):
    """A full request that may get a session."""

    def __init__(
        self,
        sessions: FetchSessions,
        partitions: Sequence[FetchPartition],
        *,
        from_follower: bool,
        by_topic_id: bool,
    ) -> None:
        super().__init__(partitions)
        self._sessions = sessions
        self._from_follower = from_follower
        self._by_topic_id = by_topic_id

    def answer(self, results: Sequence[FetchResult]) -> FetchAnswer:
        said = list(zip(self.partitions, results, strict=True))
        session_id = self._sessions.create(
            said, from_follower=self._from_follower, by_topic_id=self._by_topic_id
        )
        return FetchAnswer(ErrorCode.NONE, session_id, said)


class _IncrementalContext(FetchContext):
    """A request within a session, which was moved on to the epoch after the request's."""

    def __init__(self, session: _Session) -> None:
        self._cached = list(session.partitions.values())
        super().__init__([cached.asked for cached in self._cached])
        self._session = session
        self._epoch = session.epoch

    def answer(self, results: Sequence[FetchResult]) -> FetchAnswer:
        session = self._session
        if session.epoch != self._epoch:  # another request of the session came in between
            return FetchAnswer(ErrorCode.INVALID_FETCH_SESSION_EPOCH, session.id, ())
        said = []
        for cached, asked, result in zip(self._cached, self.partitions, results, strict=True):
            if cached.take(result):
                said.append((asked, result))
                if result.records:
                    self._move_to_end(asked.key)
        return FetchAnswer(ErrorCode.NONE, session.id, said)

    def _move_to_end(self, key: PartitionKey) -> None:
        """Who was served is asked last next time, or the first partitions would starve the rest."""
        cached = self._session.partitions.pop(key, None)
        if cached is not None:
            self._session.partitions[key] = cached


class FetchSessions:
    """The cache. ``topic_name`` finds names of topics that were unknown when first asked for."""

    def __init__(
        self,
        slots: int,
        scheduler: Scheduler,
        random: Random,
        topic_name: Callable[[bytes], str | None],
    ) -> None:
        self._slots = slots
        self._scheduler = scheduler
        self._random = random
        self._topic_name = topic_name
        self._sessions: dict[int, _Session] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def open(
        self,
        session_id: int,
        session_epoch: int,
        *,
        from_follower: bool,
        by_topic_id: bool,
        partitions: Sequence[FetchPartition],
        forgotten: Sequence[PartitionKey],
    ) -> FetchContext:
        """The context of a request. An error in it is the whole answer.

        Of a partition that is named twice the last mention counts, as in Kafka.
        """
        partitions = list({asked.key: asked for asked in partitions}.values())
        if session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(session_id, None)
            if session_epoch == FINAL_EPOCH:
                return FetchContext(partitions)
            return _OpeningContext(
                self, partitions, from_follower=from_follower, by_topic_id=by_topic_id
            )
        session = self._sessions.get(session_id)
        error = _session_error(session, session_epoch, by_topic_id)
        if session is None or error is not ErrorCode.NONE:
            return FetchContext((), error)
        session.update(partitions, forgotten)
        if not session.partitions:
            del self._sessions[session_id]
            return FetchContext(partitions)
        session.last_used_ms = self._scheduler.now_ms()
        session.epoch = next_epoch(session.epoch)
        self._resolve_names(session)
        return _IncrementalContext(session)

    def create(
        self,
        said: Sequence[tuple[FetchPartition, FetchResult]],
        *,
        from_follower: bool,
        by_topic_id: bool,
    ) -> int:
        """A session that starts from this full answer; NO_SESSION if there is no room for it."""
        now_ms = self._scheduler.now_ms()
        if len(self._sessions) >= self._slots and not self._evict_for(
            (from_follower, len(said), 0), now_ms
        ):
            return NO_SESSION
        session = _Session(
            self._new_id(), from_follower=from_follower, by_topic_id=by_topic_id, now_ms=now_ms
        )
        session.partitions = {asked.key: _Cached(asked, result) for asked, result in said}
        self._sessions[session.id] = session
        return session.id

    def _new_id(self) -> int:
        while True:
            session_id = self._random.randrange(1, _MAX_INT32)
            if session_id not in self._sessions:
                return session_id

    def _evict_for(self, worth: tuple[bool, int, int], now_ms: int) -> bool:
        """Make room for a session of this worth, if some other is worth less."""
        victim = min(self._sessions.values(), key=lambda s: (s.last_used_ms, s.id), default=None)
        if victim is not None and now_ms - victim.last_used_ms <= MIN_EVICTION_MS:
            victim = min(
                (s for s in self._sessions.values() if _may_yield(s, worth, now_ms)),
                key=lambda s: s.worth,
                default=None,
            )
            if victim is not None and worth < victim.worth:
                return False
        if victim is None:
            return False
        del self._sessions[victim.id]
        return True

    def _resolve_names(self, session: _Session) -> None:
        if session.by_topic_id:
            for cached in session.partitions.values():
                if cached.asked.topic is None:
                    cached.asked.topic = self._topic_name(cached.asked.topic_id)


def _session_error(session: _Session | None, epoch: int, by_topic_id: bool) -> ErrorCode:
    if session is None:
        return ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    if session.epoch != epoch:
        return ErrorCode.INVALID_FETCH_SESSION_EPOCH
    if session.by_topic_id != by_topic_id:
        return ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
    return ErrorCode.NONE


def _may_yield(session: _Session, to: tuple[bool, int, int], now_ms: int) -> bool:
    """Old enough to have earned its place; a consumer's session yields to a follower at once."""
    is_young = now_ms - session.created_ms <= MIN_EVICTION_MS
    return not is_young or (to[0] and not session.from_follower)
