"""A simple consumer that commits offsets, deletes them, and looks at what is committed.

It knows what it may find: the value of the last commit that succeeded, or of a later one of which
it was not told how it ended. What it finds it goes on from: nothing older may come back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random

from logquake.node.metadata.coordinators import partition_for
from logquake.node.metadata.topic_names import GROUP_METADATA_TOPIC
from logquake.seams.network import Disconnected
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from logquake.wire.schema import Message
from logquake.wire.sentinels import UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition
from tests.sim.clients import Client
from tests.sim.history import Looked
from tests.sim.network import Fabric
from tests.sim.world import World

PARTITIONS = 3  # of __consumer_offsets
COMMIT_VERSION = 7
FETCH_VERSION = 7
DELETE_VERSION = 0
DELETE_SHARE = 0.15
LOOK_SHARE = 0.35


class Expected:
    """What one partition's offset may be, in the order in which it was asked for."""

    def __init__(self) -> None:
        self.values = [UNKNOWN_OFFSET]

    def ask(self, value: int) -> None:
        """It may be this from now on."""
        self.values.append(value)

    def settle(self, value: int) -> None:
        """It is this, or what was asked for later."""
        if value in self.values:
            del self.values[: self.values.index(value)]


@dataclass(frozen=True, slots=True)
class _Deletion:
    """Answered in that epoch of the coordinator's partition, but not known to be replicated."""

    index: int
    epoch: int


class Committer(Client):
    """One group, of one process, about the partitions 0 and 1 of a topic."""

    def __init__(self, name: str, topic: str, fabric: Fabric, world: World, rng: Random) -> None:
        mine = TopicPartition(GROUP_METADATA_TOPIC, partition_for(name, PARTITIONS))
        super().__init__(name, mine, fabric, world, rng)
        self.acked = 0
        self.looked = 0
        self.is_finished = False
        self._topic = topic
        self._count = 0
        self._expected = {0: Expected(), 1: Expected()}
        self._deletions: list[_Deletion] = []

    def start(self) -> None:
        if self.is_stopped:
            self._look()  # until it was told once more
            return
        drawn = self.rng.random()
        if drawn < LOOK_SHARE:
            self._look()
        elif drawn < LOOK_SHARE + DELETE_SHARE:
            self._delete(self.rng.randint(0, 1))
        else:
            self._commit(self.rng.sample([0, 1], self.rng.randint(1, 2)))

    def _again(self) -> None:
        self.later(10, 120, self.start)

    # Committing

    def _commit(self, indexes: list[int]) -> None:
        self._count += 1
        value = self._count
        partitions = [
            OffsetCommitRequestPartition(
                partition_index=index, committed_offset=value, committed_metadata=None
            )
            for index in indexes
        ]
        topic = OffsetCommitRequestTopic(name=self._topic, partitions=partitions)
        request = OffsetCommitRequest(group_id=self.name, topics=[topic])
        for index in indexes:
            self._expected[index].ask(value)
        broker = self.likely_leader()
        done = partial(self._on_commit, indexes, value, self.leader_epoch_of(broker), broker)
        self.ask(broker, request, COMMIT_VERSION, done)

    def _on_commit(
        self,
        indexes: list[int],
        value: int,
        epoch: int | None,
        broker: int,
        response: Message | Disconnected,
    ) -> None:
        if isinstance(response, OffsetCommitResponse):
            (topic,) = response.topics
            if all(each.error_code == ErrorCode.NONE for each in topic.partitions):
                self.acked += 1
                if epoch is not None and epoch == self.leader_epoch_of(broker):
                    self._settle_deletions(epoch)
                for index in indexes:
                    self._expected[index].settle(value)
        self._again()

    # Deleting

    def _delete(self, index: int) -> None:
        asked = OffsetDeleteRequestPartition(partition_index=index)
        topic = OffsetDeleteRequestTopic(name=self._topic, partitions=[asked])
        request = OffsetDeleteRequest(group_id=self.name, topics=[topic])
        self._expected[index].ask(UNKNOWN_OFFSET)
        broker = self.likely_leader()
        done = partial(self._on_deletion, index, self.leader_epoch_of(broker), broker)
        self.ask(broker, request, DELETE_VERSION, done)

    def _on_deletion(
        self, index: int, epoch: int | None, broker: int, response: Message | Disconnected
    ) -> None:
        if (
            isinstance(response, OffsetDeleteResponse)
            and not _has_error(response)
            and epoch is not None
            and epoch == self.leader_epoch_of(broker)
        ):
            self._deletions.append(_Deletion(index, epoch))
        self._again()

    def _settle_deletions(self, epoch: int) -> None:
        """A later record of the same log is replicated, and so are the tombstones before it."""
        for deletion in self._deletions:
            if deletion.epoch == epoch:
                self._expected[deletion.index].settle(UNKNOWN_OFFSET)
        self._deletions.clear()

    # Looking

    def _look(self) -> None:
        topic = OffsetFetchRequestTopic(name=self._topic, partition_indexes=[0, 1])
        request = OffsetFetchRequest(group_id=self.name, topics=[topic], require_stable=False)
        broker = self.likely_leader()
        epoch = self.leader_epoch_of(broker)
        self.ask(broker, request, FETCH_VERSION, partial(self._on_look, epoch, broker))

    def _on_look(self, epoch: int | None, broker: int, response: Message | Disconnected) -> None:
        """A deposed coordinator that does not know it yet may tell what was, as Kafka's does."""
        if (
            isinstance(response, OffsetFetchResponse)
            and not response.error_code
            and epoch is not None
            and epoch == self.leader_epoch_of(broker)
        ):
            for each in response.topics[0].partitions:
                expected = self._expected[each.partition_index]
                about = TopicPartition(self._topic, each.partition_index)
                value = each.committed_offset
                self.world.tell(Looked(self.name, about, broker, value, tuple(expected.values)))
                if value != UNKNOWN_OFFSET:  # a deletion is shown before it is replicated
                    expected.settle(value)
            self.looked += 1
            self.is_finished = self.is_stopped
        if not self.is_finished:
            self._again()


def _has_error(response: OffsetDeleteResponse) -> bool:
    """A coordinator that has not been told of a partition deletes nothing of it."""
    return bool(response.error_code) or any(
        told.error_code for topic in response.topics for told in topic.partitions
    )
