"""Loading the log of a term into its state, from the log's start to its end.

One log after the other, as Kafka's single loading thread has it, and of a log one chunk at a time:
that bounds the memory, and between chunks the loop sees whether the term lasts. A chunk is read,
decompressed and replayed on a worker thread. What is appended meanwhile (markers of transactions)
is loaded too: a load ends at the end of the log as it then is, and nothing comes between.

It ends when all of that is committed, which the end of a log that has just come to be led need not
be: what is not may be lost with this broker, and nobody must be told of it or act on it before.
(Kafka serves at once.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from logquake.node.coordinators.replay import Progress, Replayed, replay_batches
from logquake.node.coordinators.term import Term
from logquake.node.journal_events import COORDINATOR_LOADED, COORDINATOR_RECORDS_LEFT_OUT
from logquake.seams.journal import Event, Journal
from logquake.seams.scheduler import Scheduler
from logquake.seams.workers import Workers
from logquake.storage.errors import StorageError
from logquake.storage.log.slice import LogSlice
from logquake.wire.errors import RecordError

S = TypeVar("S", bound=Replayed)

Loaded = Callable[[Term[S]], None]


class _Load(Generic[S]):
    """``progress`` is the worker's while a chunk is with it."""

    def __init__(self, term: Term[S], began_ms: int) -> None:
        self.term = term
        self.began_ms = began_ms
        self.began_at = term.partition.replica.start
        self.progress = Progress(self.began_at)

    @property
    def is_at_end(self) -> bool:
        return self.progress.next_offset >= self.term.partition.replica.end

    @property
    def is_committed(self) -> bool:
        """All that was read."""
        return self.progress.next_offset <= self.term.high_watermark

    def pass_over(self, why: Exception) -> None:
        """What nobody can read: the rest of the log, as it is now."""
        self.progress.leave_out(self.progress.next_offset, why)
        self.progress.next_offset = self.term.end_offset


class LogLoads(Generic[S]):
    """``chunk_bytes`` is the least that a chunk may have; a larger batch is read whole."""

    def __init__(
        self,
        chunk_bytes: int,
        scheduler: Scheduler,
        workers: Workers,
        journal: Journal,
        on_loaded: Loaded[S],
    ) -> None:
        self._chunk_bytes = chunk_bytes
        self._scheduler = scheduler
        self._workers = workers
        self._journal = journal
        self._on_loaded = on_loaded
        self._waiting: deque[_Load[S]] = deque()
        self._uncommitted: dict[Term[S], _Load[S]] = {}  # read to the log's end
        self._is_busy = False

    def add(self, term: Term[S]) -> None:
        """on_loaded is called in the end, from within where the log is empty; never for a term
        that is over before.
        """
        load = _Load(term, self._scheduler.now_ms())
        if load.is_at_end:
            self._on_loaded(term)
            return
        self._waiting.append(load)
        self._begin_next()

    def note(self, term: Term[S]) -> None:
        """The term's partition changed: what was read of it may be committed, or its term over."""
        load = self._uncommitted.pop(term, None)
        if load is not None:
            self._waiting.append(load)
            self._begin_next()

    def _begin_next(self) -> None:
        while self._waiting and not self._is_busy:
            self._go_on(self._waiting.popleft())

    def _go_on(self, load: _Load[S]) -> None:
        """The next chunk, if there is one, and anybody who wants it."""
        if not load.term.is_current:
            return
        if not load.is_at_end:
            self._load_next(load)
        elif load.is_committed:
            self._finish(load)
        else:
            self._uncommitted[load.term] = load

    def _load_next(self, load: _Load[S]) -> None:
        try:
            chunk = self._read(load)
        except RecordError as error:
            load.pass_over(error)
            self._go_on(load)
            return
        except StorageError as error:
            load.term.partition.go_offline(str(error))
            return
        if not chunk.size:  # nothing is left of the batches before the log's end
            load.progress.next_offset = load.term.end_offset
            self._go_on(load)
            return
        self._is_busy = True

        def replay() -> None:
            replay_batches(chunk.read(), load.term.state, load.progress)

        self._workers.run_in_worker(replay, lambda future: self._on_replayed(load, chunk, future))

    def _read(self, load: _Load[S]) -> LogSlice:
        """Raises RecordError, StorageError."""
        replica, progress = load.term.partition.replica, load.progress
        progress.next_offset = max(progress.next_offset, replica.start)
        return replica.log.read(progress.next_offset, self._chunk_bytes, up_to=replica.end)

    def _on_replayed(self, load: _Load[S], chunk: LogSlice, future: Future[None]) -> None:
        self._is_busy = False
        error = future.exception()
        if error is None and load.progress.next_offset > chunk.first_offset:
            self._go_on(load)
        elif error is None or isinstance(error, RecordError):
            load.pass_over(error or _NO_BATCH)
            self._go_on(load)
        elif isinstance(error, OSError):
            load.term.partition.go_offline(f"loading: {error}")
        else:
            raise error
        self._begin_next()

    def _finish(self, load: _Load[S]) -> None:
        self._record(load)
        self._on_loaded(load.term)

    def _record(self, load: _Load[S]) -> None:
        partition, progress = load.term.partition, load.progress
        took_ms = self._scheduler.now_ms() - load.began_ms
        cause = self._journal.record(
            Event(
                COORDINATOR_LOADED,
                partition.name,
                f"{progress.records} records in {took_ms} ms",
                load.began_at,
                progress.next_offset,
                load.term.epoch,
            )
        )
        if progress.fault is not None:
            why = f"{progress.left_out} records or batches, the first at {progress.fault}"
            left_out = Event(COORDINATOR_RECORDS_LEFT_OUT, partition.name, why, caused_by=cause)
            self._journal.record(left_out)


_NO_BATCH = ValueError("no whole batch where one must be")
