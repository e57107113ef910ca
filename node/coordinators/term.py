"""A term: the time in which this broker leads one partition of a coordinator's topic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from logquake.node.replication.appends import Appends
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.partition.roles import Leader
from logquake.node.replication.values import ProduceEntry, ProduceResult
from logquake.seams.scheduler import Scheduler
from logquake.storage.producers.verification import VerificationGuard
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import UNKNOWN_OFFSET

S = TypeVar("S")

# What became of an append: the error, NONE once it is committed, and where it lies in the log.
Appended = Callable[[ErrorCode, int], None]


class Term(Generic[S]):
    """Over as many leader epochs as the leadership lasts without interruption, as Leader is.

    ``state`` is what the log says. It is the coordinator's from term_began() on.
    """

    def __init__(
        self,
        partition: Partition,
        leader: Leader,
        state: S,
        appends: Appends,
        scheduler: Scheduler,
    ) -> None:
        self.partition = partition
        self.leader = leader
        self.state = state
        self._appends = appends
        self._scheduler = scheduler

    @property
    def index(self) -> int:
        """The partition of the topic."""
        return self.partition.index

    @property
    def epoch(self) -> int:
        """The leader epoch by now: Kafka's coordinator epoch."""
        return self.partition.leader_epoch

    @property
    def end_offset(self) -> int:
        """Of the log."""
        return self.partition.replica.end

    @property
    def high_watermark(self) -> int:
        """Up to there the log is committed."""
        return self.partition.replica.high_watermark

    @property
    def max_batch_bytes(self) -> int:
        """A larger batch is refused: the topic's max.message.bytes."""
        return self.partition.config.log.max_message_bytes

    @property
    def is_current(self) -> bool:
        """Whether the partition is led still. The coordinator is told at the end of the pass."""
        return self.partition.leader is self.leader

    def append(
        self,
        batch: bytearray,
        acks: int,
        timeout_ms: int,
        done: Appended,
        *,
        guard: VerificationGuard | None = None,
    ) -> None:
        """Write a batch to the log; what several ask for in a pass is one write.

        guard: of a batch that may open a transaction here, which is verified first
        (node/replication/transactions/verification.py); without it that is INVALID_TXN_STATE.

        done is called once, never from within, and before the term is told to be over: with NONE
        once the batch is committed (acks=all) or written (0, 1), NOT_LEADER_OR_FOLLOWER when the
        leadership ends first, REQUEST_TIMED_OUT after timeout_ms, and else as a producer is
        answered; append_errors.py has what clients are told. After a time-out, after
        NOT_ENOUGH_REPLICAS_AFTER_APPEND, and after the end of the leadership it may come to be
        committed all the same.
        """

        def answer(results: list[ProduceResult]) -> None:
            done(results[0].error, results[0].base_offset)

        if not self.is_current:
            # What was decided by this term's state must not go into another term's log.
            refused = ErrorCode.NOT_LEADER_OR_FOLLOWER
            self._scheduler.call_later(0, lambda: done(refused, UNKNOWN_OFFSET))
            return
        entry = ProduceEntry(self.partition.topic, self.index, memoryview(batch), guard=guard)
        self._appends.add([entry], acks, timeout_ms, answer, internal=True)
