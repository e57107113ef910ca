"""Which partitions of a coordinator's topic are led here, and the states that they hold.

Kafka's onElection, onResignation, ownedPartitions and loadingPartitions. A term begins when the
partition gets a Leader and ends when it has another or none: by a later LeaderAndIsr, by
StopReplica, or because its log directory failed. A later leader epoch of the same leadership
changes nothing: nobody else wrote to the log meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from logquake.node.coordinators.loading import LogLoads
from logquake.node.coordinators.replay import Replayed
from logquake.node.coordinators.term import Term
from logquake.node.metadata.coordinators import CoordinatorTopic
from logquake.node.replication.appends import Appends
from logquake.node.replication.partition.partition import Partition
from logquake.seams.journal import Journal
from logquake.seams.scheduler import Scheduler
from logquake.seams.workers import Workers
from logquake.wire.errors import ErrorCode

S = TypeVar("S", bound=Replayed)

_MAX_STRING_BYTES = 32_767
_SURE_TO_FIT = _MAX_STRING_BYTES // 4  # characters, of up to four bytes


class TermOwner(Protocol[S]):
    """A coordinator, as its partitions see it. Everything is called on the loop."""

    def new_state(self) -> S:
        """An empty state, for a log to be loaded into; on a worker thread until term_began()."""

    def term_began(self, term: Term[S]) -> None:
        """The log is loaded, and all of it committed: requests are answered from now on. Appends
        may be made at once.
        """

    def term_ended(self, term: Term[S]) -> None:
        """Of one that began: its appends are answered, its requests that wait are to be."""


class CoordinatorPartitions(Generic[S]):
    """note() is to be called at the end of a pass with each partition of the topic whose
    leadership or high watermark may have changed: ReplicaManager.watch() sees to it.

    ``load_chunk_bytes`` is offsets.load.buffer.size, or transaction.state.log.load.buffer.size.
    """

    def __init__(
        self,
        topic: CoordinatorTopic,
        owner: TermOwner[S],
        appends: Appends,
        scheduler: Scheduler,
        workers: Workers,
        journal: Journal,
        *,
        load_chunk_bytes: int,
    ) -> None:
        self._topic = topic
        self._owner = owner
        self._appends = appends
        self._scheduler = scheduler
        self._loads: LogLoads[S] = LogLoads(
            load_chunk_bytes, scheduler, workers, journal, self._begin_serving
        )
        self._loading: dict[int, Term[S]] = {}
        self._serving: dict[int, Term[S]] = {}

    def __iter__(self) -> Iterator[Term[S]]:
        """The terms that serve, by partition."""
        return iter([self._serving[index] for index in sorted(self._serving)])

    @property
    def is_loading(self) -> bool:
        """Whether some log is not loaded yet, so that a list of all would lack something."""
        return bool(self._loading)

    def find(self, key: str) -> Term[S] | ErrorCode:
        """The term that a group or a transactional id belongs to.

        COORDINATOR_LOAD_IN_PROGRESS, or NOT_COORDINATOR.
        UNKNOWN_SERVER_ERROR for a name that no record can have: bytes that are no UTF-8 grow when
        they are read and written again.
        """
        if len(key) > _SURE_TO_FIT and len(key.encode()) > _MAX_STRING_BYTES:
            return ErrorCode.UNKNOWN_SERVER_ERROR
        return self.find_at(self._topic.partition_of(key).partition)

    def find_at(self, index: int) -> Term[S] | ErrorCode:
        """The same by partition."""
        term = self._serving.get(index)
        if term is not None and term.is_current:
            return term
        if index in self._loading:
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return ErrorCode.NOT_COORDINATOR

    def note(self, partition: Partition) -> None:
        """The partition changed: begin or end a term, or serve in it, if that is what it means."""
        index, leader = partition.index, partition.leader
        term = self._serving.get(index) or self._loading.get(index)
        if term is not None:
            self._loads.note(term)
            if term.is_current:
                return
            self._end(term)
        if leader is not None:
            state = self._owner.new_state()
            term = Term(partition, leader, state, self._appends, self._scheduler)
            self._loading[index] = term
            self._loads.add(term)

    def _begin_serving(self, term: Term[S]) -> None:
        del self._loading[term.index]
        self._serving[term.index] = term
        self._owner.term_began(term)

    def _end(self, term: Term[S]) -> None:
        if self._loading.pop(term.index, None) is None:
            del self._serving[term.index]
            self._owner.term_ended(term)
