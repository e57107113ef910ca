"""A consumer's membership, and its commits (ConsumerCoordinator, AbstractCoordinator).

Two sides share it. The driver polls it as a core: it finds the coordinator, joins, syncs, beats,
leaves when the program does not poll for too long, sends commits, asks for committed offsets. The
program's calls are Steps, and they alone change what is assigned: what a listener has to hear is
told in them, since the program may work with its partitions until it polls again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from random import Random

from logquake.client.clock import Clock
from logquake.client.consumer.assignors.assignor import Assignor
from logquake.client.consumer.group.group_cluster import GroupCluster
from logquake.client.consumer.group.listener import (
    CommitCallback,
    Offsets,
    RebalanceListener,
    unheard,
)
from logquake.client.consumer.group.settings import GroupSettings
from logquake.client.consumer.offsets import ConsumerGroupMetadata, OffsetAndMetadata
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.driving.steps import Steps
from logquake.client.network.network_client import NetworkClient
from logquake.wire.topic_partition import TopicPartition


class Coordination:
    """Of a consumer that has a group.id, whether it subscribes or only commits.

    ``on_commit`` is called with offsets that were committed, in the program's calls: interceptors.
    Raises ValueError for assignors without a rebalance protocol in common.
    """

    def __init__(
        self,
        settings: GroupSettings,
        network: NetworkClient,
        cluster: GroupCluster,
        subscriptions: Subscriptions,
        assignors: Sequence[Assignor],
        clock: Clock,
        random: Random,
        *,
        on_commit: Callable[[Offsets], object] = lambda _: None,
    ) -> None:
        raise NotImplementedError

    # As a core: the consumer's own `poll` and `next_due_ms` call these, after the network's

    def poll(self, now_ms: int) -> None:
        """Do what is due. Positions of partitions that have none yet are set to what is committed,
        else reset as auto.offset.reset says.
        """
        raise NotImplementedError

    def next_due_ms(self, now_ms: int) -> int | None:
        """When to poll, if nothing happens before; None for never."""
        raise NotImplementedError

    # In the program's poll()

    def attend(self, listener: RebalanceListener) -> Steps[None]:
        """First thing in a poll, before anything is handed out, and again whenever
        `awaits_program` or `attend_again_ms` say so: it never waits for a broker.

        All that was handed out before counts as consumed. Raises ClientError: what the group
        refuses this member for, NoOffsetForPartitionError, RebalanceListenerError.
        """
        raise NotImplementedError

    @property
    def awaits_program(self) -> bool:
        """Nothing goes on before `attend` is called: what a poll that waits for records asks."""
        raise NotImplementedError

    def attend_again_ms(self, now_ms: int) -> int:
        """When a poll that waits for records has to call `attend`, whatever happens."""
        raise NotImplementedError

    # What else a program may want

    def commit(self, offsets: Offsets | None, deadline_ms: int) -> Steps[None]:
        """Of all that was consumed, where None. The callbacks of earlier `commit_async` come first.

        Raises CommitFailedError, RebalanceInProgressError, RequestTimedOutError, other ClientError.
        """
        raise NotImplementedError

    def commit_async(
        self, offsets: Offsets | None, callback: CommitCallback = unheard
    ) -> Steps[None]:
        """Sent in the order of the calls, and tried once; told in one of the program's calls."""
        raise NotImplementedError

    def committed(
        self, places: Collection[TopicPartition], deadline_ms: int
    ) -> Steps[dict[TopicPartition, OffsetAndMetadata | None]]:
        """None where nothing is. Raises RequestTimedOutError, other ClientError."""
        raise NotImplementedError

    def group_metadata(self) -> ConsumerGroupMetadata:
        """As of the last assignment."""
        raise NotImplementedError

    def enforce_rebalance(self, reason: str) -> None:
        """Join again in the next poll (KIP-568, KIP-800)."""
        raise NotImplementedError

    def leave(self, listener: RebalanceListener, reason: str) -> Steps[None]:
        """What is assigned is given up; `Subscriptions.unsubscribe` may follow.

        Raises RebalanceListenerError.
        """
        raise NotImplementedError

    def close(self, listener: RebalanceListener, deadline_ms: int) -> Steps[None]:
        """Commit where that is automatic, and leave. Nothing may follow.

        Raises RebalanceListenerError.
        """
        raise NotImplementedError

    def metrics(self) -> dict[str, float]:
        """Under Kafka's names, of consumer-coordinator-metrics; times in milliseconds."""
        raise NotImplementedError
