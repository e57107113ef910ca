"""The coordinator of the groups whose partition of __consumer_offsets this broker leads."""

from __future__ import annotations

from logquake.node.coordinators.groups.carrying_out import CarryingOut
from logquake.node.coordinators.groups.group_partition import GroupPartition
from logquake.node.coordinators.groups.member_manager import MemberManager
from logquake.node.coordinators.groups.membership.settings import GroupSettings
from logquake.node.coordinators.groups.offset_manager import OffsetManager
from logquake.node.coordinators.groups.offset_removal import OffsetRemoval
from logquake.node.coordinators.groups.offsets.settings import OffsetSettings
from logquake.node.coordinators.partitions import CoordinatorPartitions
from logquake.node.coordinators.term import Term
from logquake.node.metadata.coordinators import CoordinatorTopic
from logquake.node.replication.manager import ReplicaManager
from logquake.seams.journal import Journal
from logquake.seams.scheduler import Scheduler
from logquake.seams.workers import Workers


class GroupCoordinator:
    """``members`` serves those who join, ``offsets`` those who commit and fetch, ``removal`` those
    who delete what was committed. ``partitions`` are those whose groups are coordinated here.
    """

    def __init__(
        self,
        topic: CoordinatorTopic,
        settings: GroupSettings,
        offset_settings: OffsetSettings,
        replicas: ReplicaManager,
        scheduler: Scheduler,
        workers: Workers,
        journal: Journal,
    ) -> None:
        self.partitions: CoordinatorPartitions[GroupPartition] = CoordinatorPartitions(
            topic,
            self,
            replicas.appends,
            scheduler,
            workers,
            journal,
            load_chunk_bytes=offset_settings.load_buffer_bytes,
        )
        self._settings = settings
        self._effects = CarryingOut(offset_settings, scheduler, journal)
        self.offsets = OffsetManager(
            self.partitions, offset_settings, replicas.verification, self._effects, scheduler
        )
        self.removal = OffsetRemoval(self.partitions, offset_settings, self._effects, scheduler)
        self.members = MemberManager(self.partitions, settings, self.removal, self._effects)
        replicas.watch(topic.name, self.partitions.note)

    def start(self) -> None:
        self.removal.start()

    def close(self) -> None:
        self.removal.close()
        self._effects.close()

    # As the owner of terms

    def new_state(self) -> GroupPartition:
        return GroupPartition(self._settings)

    def term_began(self, term: Term[GroupPartition]) -> None:
        term.state.remove_idle()
        self.members.term_began(term)

    def term_ended(self, term: Term[GroupPartition]) -> None:
        self.members.term_ended(term)
