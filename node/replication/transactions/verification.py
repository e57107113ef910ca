"""Which partitions a transaction may open in: a guard for each that its coordinator knows of.

Follows ReplicaManager.maybeStartTransactionVerificationForPartitions (KIP-890). The group
coordinator asks for offsets of a transaction as Produce does for records::

    verdicts = verification.begin(producer, {partition: NO_SEQUENCE})
    verification.ask(producer, verdicts, done)  # done(verdicts), at once or later
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.transactions.add_partitions_to_txn import (
    AddPartitionsToTxnManager,
    Refusals,
    TransactionalProducer,
)
from logquake.seams.scheduler import Scheduler
from logquake.storage.producers.verification import VerificationGuard
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import NO_LEADER_EPOCH
from logquake.wire.topic_partition import TopicPartition

# The guard to append with, or why not to; nothing for a partition that nobody need be asked about.
Verdicts = Mapping[TopicPartition, VerificationGuard | ErrorCode]


class TransactionVerification:
    def __init__(
        self,
        hosted: HostedPartitions,
        coordinators: AddPartitionsToTxnManager,
        scheduler: Scheduler,
    ) -> None:
        self._hosted = hosted
        self._coordinators = coordinators
        self._scheduler = scheduler

    def begin(
        self, producer: TransactionalProducer, sequences: Mapping[TopicPartition, int]
    ) -> Verdicts:
        """By what is known here: a guard where the coordinator has to be asked before it counts.

        sequences: the first one of what is to be appended in each partition.
        """
        verdicts: dict[TopicPartition, VerificationGuard | ErrorCode] = {}
        for partition, sequence in sequences.items():
            verdict = self._begin_in(partition, producer, sequence)
            if verdict is not None:
                verdicts[partition] = verdict
        return verdicts

    def ask(
        self,
        producer: TransactionalProducer,
        verdicts: Verdicts,
        done: Callable[[Verdicts], None],
    ) -> None:
        """done gets the verdicts with what the coordinator refuses, at once or later."""
        unverified = guarded(verdicts)

        def answered(refusals: Refusals) -> None:
            done({**verdicts, **refusals})

        if unverified:
            self._coordinators.verify(producer, unverified, answered)
        else:
            done(verdicts)

    def close(self) -> None:
        self._coordinators.close()

    def _begin_in(
        self, name: TopicPartition, producer: TransactionalProducer, sequence: int
    ) -> VerificationGuard | ErrorCode | None:
        partition = self._hosted.locate(*name)
        if isinstance(partition, ErrorCode):
            return partition
        if partition.leader is None:
            return partition.access_error(NO_LEADER_EPOCH, only_leader=True)
        return partition.replica.log.begin_verification(
            producer.producer_id, producer.producer_epoch, sequence, self._scheduler.wall_ms()
        )


def guarded(verdicts: Verdicts) -> list[TopicPartition]:
    """Where the coordinator has to be asked."""
    return [name for name, verdict in verdicts.items() if isinstance(verdict, VerificationGuard)]
