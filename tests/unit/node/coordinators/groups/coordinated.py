"""A coordinator of groups on a log with a follower."""

from __future__ import annotations

from logquake.node.coordinators.groups.coordinator import GroupCoordinator
from logquake.node.coordinators.groups.group_partition import GroupPartition
from logquake.node.coordinators.groups.membership.settings import GroupSettings
from logquake.node.coordinators.groups.offsets.settings import OffsetSettings
from logquake.node.coordinators.replay import Progress, replay_batches
from logquake.node.metadata.coordinators import CoordinatorTopic
from logquake.node.replication.settings import TopicConfig
from logquake.storage.log_config import LogConfig
from logquake.wire.errors import ErrorCode
from tests.doubles.journal import MemoryJournal
from tests.doubles.scheduler import ManualScheduler
from tests.doubles.workers import HeldWorkers
from tests.unit.node.replication.one_broker import OneBroker
from tests.unit.node.replication.test_manager import FOLLOWER, fetch

TOPIC = CoordinatorTopic("orders", 1)


class CoordinatedGroups:
    """The groups on orders-0, which stands for __consumer_offsets-0; it leads from the start."""

    def __init__(
        self,
        broker: OneBroker,
        scheduler: ManualScheduler,
        workers: HeldWorkers,
        journal: MemoryJournal,
        settings: GroupSettings,
        records: OffsetSettings,
    ) -> None:
        self.broker, self.scheduler, self.journal = broker, scheduler, journal
        self.coordinator = GroupCoordinator(
            TOPIC, settings, records, broker.replicas, scheduler, workers, journal
        )
        broker.config = TopicConfig(log=LogConfig(deleted=False, transactions_verified=False))
        broker.lead()
        self.end_pass()

    @property
    def state(self) -> GroupPartition:
        term = self.coordinator.partitions.find_at(0)
        assert not isinstance(term, ErrorCode)
        return term.state

    @property
    def end(self) -> int:
        return self.broker.partition().replica.end

    def end_pass(self) -> None:
        self.broker.replicas.end_of_pass()

    def replicate(self) -> None:
        """The follower has all, and the coordinator knows it."""
        fetch(self.broker, self.end, FOLLOWER, 0)
        self.end_pass()

    def load_anew(self) -> GroupPartition:
        """What the log says, without what is not committed yet."""
        replica = self.broker.partition().replica
        loaded, progress = self.coordinator.new_state(), Progress(0)
        while progress.next_offset < replica.high_watermark:
            mark = replica.high_watermark
            chunk = replica.log.read(progress.next_offset, 1 << 20, up_to=mark)
            replay_batches(chunk.read(), loaded, progress)
        return loaded
