"""Loading the log of a term into its state, from the log's start to its end.

One log after the other, as Kafka's single loading thread has it, and of a log one chunk at a time:
that bounds the memory, and between chunks the loop sees whether the term lasts. A chunk is read,
decompressed and replayed on a worker thread. What is appended meanwhile (markers of transactions)
is loaded too: a load ends at the end of the log as it then is, and nothing comes between.
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

    def _begin_next(self) -> None:
        while self._waiting and not self._is_busy:
            self._go_on(self._waiting.popleft())

    def _go_on(self, load: _Load[S]) -> None:
        """The next chunk, if there is one, and anybody who wants it."""
        if not load.term.is_current:
            return
        chunk = None if load.is_at_end else self._read(load)
        if chunk is None:
            self._finish(load)
            return
        self._is_busy = True

        def replay() -> None:
            replay_batches(chunk.read(), load.term.state, load.progress)

        self._workers.run_in_worker(replay, lambda future: self._on_replayed(load, chunk, future))

    def _read(self, load: _Load[S]) -> LogSlice | None:
        """None where nothing can be read any more."""
        partition, progress = load.term.partition, load.progress
        replica = partition.replica
        progress.next_offset = max(progress.next_offset, replica.start)
        try:
            chunk = replica.log.read(progress.next_offset, self._chunk_bytes, up_to=replica.end)
        except RecordError as error:
            progress.leave_out(progress.next_offset, error)
            return None
        except StorageError as error:
            partition.go_offline(str(error))
            return None
        return chunk if chunk.size else None

    def _on_replayed(self, load: _Load[S], chunk: LogSlice, future: Future[None]) -> None:
        self._is_busy = False
        error = future.exception()
        if error is None and load.progress.next_offset > chunk.first_offset:
            self._go_on(load)
        elif error is None or isinstance(error, RecordError):
            load.progress.leave_out(load.progress.next_offset, error or _NO_BATCH)
            self._finish(load)
        elif isinstance(error, OSError):
            load.term.partition.go_offline(f"loading: {error}")
        else:
            raise error
        self._begin_next()

    def _finish(self, load: _Load[S]) -> None:
        if load.term.is_current:
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
