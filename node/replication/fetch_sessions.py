"""Incremental fetch sessions, the leader's side (KIP-227, Kafka's FetchSession.scala).

A full request names every partition and opens a session; later ones name only what changed, and
are answered with only what has news. Only what may have some is looked at: a partition that has
nothing to say rests (``resting``) until it changes.

Sessions live in a bounded cache. A new one may push out another: one unused for two minutes, or a
consumer's for a follower's, or a smaller one that is not young any more. Who loses its session is
told so by its next request, and starts over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from random import Random
from typing import NamedTuple

from logquake.node.replication.resting import FetchClock, RestingPlace
from logquake.node.replication.values import (
    FetchAccess,
    FetchAnswer,
    FetchParams,
    FetchPartition,
    FetchResult,
    Isolation,
    PartitionKey,
    PartitionRead,
)
from logquake.seams.scheduler import Scheduler
from logquake.wire.errors import ErrorCode
from logquake.wire.fetch_sessions import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    MAX_INT32,
    NO_SESSION,
    next_epoch,
)
from logquake.wire.sentinels import UNKNOWN_OFFSET

MIN_EVICTION_MS = 120_000  # KafkaConfig.MIN_INCREMENTAL_FETCH_SESSION_EVICTION_MS


class _Cached:
    """One partition of a session: what is asked, and what was last said of it.

    Satisfies resting.Resting: once there is nothing more to say it waits at its partition.
    """

    __slots__ = ("_session", "asked", "high_watermark", "log_start_offset", "rests_at")

    def __init__(self, session: _Session, asked: FetchPartition) -> None:
        self._session = session
        self.asked = asked
        self.high_watermark = UNKNOWN_OFFSET
        self.log_start_offset = UNKNOWN_OFFSET
        self.rests_at: RestingPlace | None = None

    @property
    def replica_id(self) -> int:
        return self._session.reader.replica_id

    @property
    def clock(self) -> FetchClock:
        return self._session.clock

    def wake(self) -> None:
        self.rests_at = None
        self._session.note_due(self)

    def stir(self) -> None:
        """Wait no longer."""
        if self.rests_at is not None:
            self.rests_at.stir(self)
            self.rests_at = None

    def is_news(self, result: FetchResult) -> bool:
        """Whether it is worth saying."""
        return (
            bool(result.records)
            or result.high_watermark != self.high_watermark
            or result.log_start_offset != self.log_start_offset
            or result.error is not ErrorCode.NONE
            or result.diverging_epoch is not None
        )

    def take(self, result: FetchResult) -> bool:
        """Remember what is being said; whether it is worth saying."""
        news = self.is_news(result)
        # After an error the partition must come up again even if nothing else has changed, and so
        # after a diverging epoch, at which a follower truncates and takes in nothing else.
        failed = result.error is not ErrorCode.NONE
        diverged = result.diverging_epoch is not None
        self.high_watermark = UNKNOWN_OFFSET if failed or diverged else result.high_watermark
        self.log_start_offset = UNKNOWN_OFFSET if diverged else result.log_start_offset
        return news


class _Reader(NamedTuple):
    """Who fetches in a session. What rests does so for this reader."""

    replica_id: int
    replica_epoch: int
    isolation: Isolation
    only_leader: bool
    access: FetchAccess | None

    @classmethod
    def of(cls, params: FetchParams) -> _Reader:
        return cls(
            params.replica_id,
            params.replica_epoch,
            params.isolation,
            params.only_leader,
            params.access,
        )


class _Session:
    """``due`` are the partitions to look at in the next request; the others rest."""

    __slots__ = (
        "_turns",
        "by_topic_id",
        "clock",
        "created_ms",
        "due",
        "epoch",
        "from_follower",
        "id",
        "is_closed",
        "last_used_ms",
        "partitions",
        "reader",
        "waiting",
    )

    def __init__(
        self,
        session_id: int,
        reader: _Reader,
        *,
        by_topic_id: bool,
        first_fetch_ms: int,
        now_ms: int,
    ) -> None:
        self.id = session_id
        self.reader = reader
        self.from_follower = reader.replica_id >= 0
        self.by_topic_id = by_topic_id
        self.created_ms = now_ms
        self.last_used_ms = now_ms
        self.is_closed = False
        self.clock = FetchClock(first_fetch_ms)
        self.epoch = next_epoch(INITIAL_EPOCH)
        self.partitions: dict[PartitionKey, _Cached] = {}
        self.due: dict[PartitionKey, _Cached] = {}
        # Told of what falls due before the request that is being served is answered.
        self.waiting: Callable[[FetchPartition], None] | None = None
        self._turns = count()

    @property
    def worth(self) -> tuple[bool, int, int]:
        """The least worthy is evicted first."""
        return self.from_follower, len(self.partitions), self.id

    def begin(self, reader: _Reader, now_ms: int) -> None:
        """A request: what rests does so for another reader, if there is one now."""
        self.waiting = None  # a request before this one is not to be answered any more
        if reader != self.reader:
            self.wake_all()
            self.reader = reader
        self.last_used_ms = self.clock.last_fetch_ms = now_ms
        self.epoch = next_epoch(self.epoch)

    def update(
        self, partitions: Iterable[FetchPartition], forgotten: Iterable[PartitionKey]
    ) -> None:
        for asked in partitions:
            cached = self.partitions.get(asked.key)
            if cached is None:
                self.add(asked)
            else:
                asked.turn = cached.asked.turn
                cached.asked = asked
                cached.stir()
                self.due[asked.key] = cached
        for key in forgotten:
            cached = self.partitions.pop(key, None)
            if cached is not None:
                cached.stir()
                self.due.pop(key, None)

    def add(self, asked: FetchPartition) -> _Cached:
        cached = self.partitions[asked.key] = self.due[asked.key] = _Cached(self, asked)
        self.move_to_end(asked)
        return cached

    def move_to_end(self, asked: FetchPartition) -> None:
        """Who was served is asked last next time, or the first partitions would starve the rest."""
        asked.turn = next(self._turns)

    def note_due(self, cached: _Cached) -> None:
        self.due[cached.asked.key] = cached
        if self.waiting is not None:
            self.waiting(cached.asked)

    def rest(self, cached: _Cached, read: PartitionRead) -> None:
        """Look at it no more until its partition changes, unless it has since it was read."""
        place = read.rests_at
        if place is not None and place.changes == read.changes and not self.is_closed:
            del self.due[cached.asked.key]
            cached.rests_at = place
            place.rest(cached)

    def close(self, *, is_left: bool) -> None:
        """Nothing rests for it from now on, though a request under way is still answered.

        That one has its own hold on the partitions, which know their session: nobody else may, or
        they would be a cycle (node/process/heap.py). is_left: by its reader, who waits for that
        answer no more.
        """
        self.is_closed = True
        if is_left:
            self.waiting = None
        self.wake_all()
        self.partitions, self.due = {}, {}

    def wake_all(self) -> None:
        for cached in self.partitions.values():
            if cached.rests_at is not None:
                cached.stir()
                self.note_due(cached)


class FetchContext:
    """One Fetch request: what it asks by now, and how it is answered. Sessionless in itself.

    ``partitions`` are those to look at, in the order of their turns.
    """

    def __init__(
        self, partitions: Sequence[FetchPartition], error: ErrorCode = ErrorCode.NONE
    ) -> None:
        self.partitions = partitions
        self.error = error

    @property
    def is_empty(self) -> bool:
        """Nothing is asked for, so that there is nothing to wait for either."""
        return not self.partitions

    def watch(self, _due: Callable[[FetchPartition], None]) -> None:
        """Call due, until the answer, with each further partition that has to be looked at."""

    def answer(self, reads: Sequence[PartitionRead]) -> FetchAnswer:
        """What to send, given a read of each of ``partitions``, and of what fell due since."""
        return FetchAnswer(ErrorCode.NONE, NO_SESSION, self.news(reads))

    def news(self, reads: Sequence[PartitionRead]) -> list[tuple[FetchPartition, FetchResult]]:
        """What an answer would send."""
        return [(read.asked, read.result) for read in reads]

    def throttled(self) -> FetchAnswer:
        """An empty answer instead: what was read is asked for again."""
        return FetchAnswer(ErrorCode.NONE, NO_SESSION, ())


class _OpeningContext(FetchContext):
    """A full request that may get a session."""

    def __init__(
        self,
        sessions: FetchSessions,
        partitions: Sequence[FetchPartition],
        reader: _Reader,
        *,
        by_topic_id: bool,
        now_ms: int,
    ) -> None:
        super().__init__(partitions)
        self._sessions = sessions
        self._reader = reader
        self._by_topic_id = by_topic_id
        self._opened_ms = now_ms

    def answer(self, reads: Sequence[PartitionRead]) -> FetchAnswer:
        session_id = self._sessions.create(
            reads, self._reader, by_topic_id=self._by_topic_id, first_fetch_ms=self._opened_ms
        )
        return FetchAnswer(ErrorCode.NONE, session_id, self.news(reads))


class _IncrementalContext(FetchContext):
    """A request within a session, which was moved on to the epoch after the request's."""

    def __init__(self, session: _Session) -> None:
        asked = [cached.asked for cached in session.due.values()]
        super().__init__(sorted(asked, key=_turn))
        self._session = session
        self._partitions = session.partitions
        self._epoch = session.epoch

    @property
    def is_empty(self) -> bool:
        return not self._partitions

    def watch(self, due: Callable[[FetchPartition], None]) -> None:
        self._session.waiting = due

    def answer(self, reads: Sequence[PartitionRead]) -> FetchAnswer:
        session = self._session
        if session.epoch != self._epoch:  # another request of the session came in between
            return FetchAnswer(ErrorCode.INVALID_FETCH_SESSION_EPOCH, session.id, ())
        session.waiting = None
        said = []
        for read in sorted(reads, key=lambda read: read.asked.turn):
            cached = self._partitions[read.asked.key]
            if cached.take(read.result):
                said.append((read.asked, read.result))
                if read.result.records:
                    session.move_to_end(read.asked)
            session.rest(cached, read)
        return FetchAnswer(ErrorCode.NONE, session.id, said)

    def news(self, reads: Sequence[PartitionRead]) -> list[tuple[FetchPartition, FetchResult]]:
        if self._session.epoch != self._epoch:
            return []
        return [
            (read.asked, read.result)
            for read in reads
            if self._partitions[read.asked.key].is_news(read.result)
        ]

    def throttled(self) -> FetchAnswer:
        if self._session.epoch == self._epoch:
            self._session.waiting = None
            return FetchAnswer(ErrorCode.NONE, self._session.id, ())
        return FetchAnswer(ErrorCode.INVALID_FETCH_SESSION_EPOCH, self._session.id, ())


def _turn(asked: FetchPartition) -> int:
    return asked.turn


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
        params: FetchParams,
        *,
        by_topic_id: bool,
        partitions: Sequence[FetchPartition],
        forgotten: Sequence[PartitionKey],
    ) -> FetchContext:
        """The context of a request. An error in it is the whole answer.

        Of a partition that is named twice the last mention counts, as in Kafka.
        """
        partitions = list({asked.key: asked for asked in partitions}.values())
        reader = _Reader.of(params)
        now_ms = self._scheduler.now_ms()
        if session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._remove(session_id, is_left=True)
            if session_epoch == FINAL_EPOCH:
                return FetchContext(_in_turn(partitions))
            return _OpeningContext(
                self, _in_turn(partitions), reader, by_topic_id=by_topic_id, now_ms=now_ms
            )
        session = self._sessions.get(session_id)
        error = _session_error(session, session_epoch, by_topic_id)
        if session is None or error is not ErrorCode.NONE:
            return FetchContext((), error)
        session.update(partitions, forgotten)
        session.begin(reader, now_ms)
        if not session.partitions:
            self._remove(session_id, is_left=True)
            return FetchContext(_in_turn(partitions))
        self._resolve_names(session)
        return _IncrementalContext(session)

    def create(
        self,
        reads: Sequence[PartitionRead],
        reader: _Reader,
        *,
        by_topic_id: bool,
        first_fetch_ms: int,
    ) -> int:
        """A session that starts from this full answer; NO_SESSION if there is no room for it.

        first_fetch_ms: when the request came that is being answered.
        """
        now_ms = self._scheduler.now_ms()
        if len(self._sessions) >= self._slots and not self._evict_for(
            (reader.replica_id >= 0, len(reads), 0), now_ms
        ):
            return NO_SESSION
        session = _Session(
            self._new_id(),
            reader,
            by_topic_id=by_topic_id,
            first_fetch_ms=first_fetch_ms,
            now_ms=now_ms,
        )
        for read in reads:
            cached = session.add(read.asked)
            cached.take(read.result)
            session.rest(cached, read)
        self._sessions[session.id] = session
        return session.id

    def _new_id(self) -> int:
        while True:
            session_id = self._random.randrange(1, MAX_INT32)
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
        self._remove(victim.id, is_left=False)
        return True

    def _remove(self, session_id: int, *, is_left: bool) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            session.close(is_left=is_left)

    def _resolve_names(self, session: _Session) -> None:
        if session.by_topic_id:
            for cached in session.due.values():
                if cached.asked.topic is None:
                    cached.asked.topic = self._topic_name(cached.asked.topic_id)


def _in_turn(partitions: Sequence[FetchPartition]) -> Sequence[FetchPartition]:
    for turn, asked in enumerate(partitions):
        asked.turn = turn
    return partitions


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
