"""When a client asks about its cluster, about what, and which answers it believes."""

from __future__ import annotations

import pytest

from logquake.client.network.effects import Node
from logquake.client.network.metadata import Metadata, MetadataSettings
from logquake.client.network.snapshot import PartitionInfo
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from logquake.wire.sentinels import NO_LEADER
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.uuids import ZERO_UUID
from tests.doubles.even_random import EvenRandom

VERSION = 12
BACKOFF_MS, BACKOFF_MAX_MS, AGE_MS, IDLE_MS = 100, 400, 10_000, 60_000
ID, OTHER_ID = bytes(range(16)), bytes(range(1, 17))
T0 = TopicPartition("t", 0)


@pytest.fixture
def metadata() -> Metadata:
    settings = MetadataSettings(AGE_MS, IDLE_MS, BACKOFF_MS, BACKOFF_MAX_MS)
    return Metadata(settings, [("boot", 1), ("boot", 2)], EvenRandom())


def topic(
    name: str = "t",
    *,
    leader: int = 1,
    epoch: int = 5,
    topic_id: bytes = ID,
    error: ErrorCode = ErrorCode.NONE,
    partition_error: ErrorCode = ErrorCode.NONE,
) -> MetadataResponseTopic:
    partition = MetadataResponsePartition(
        error_code=partition_error,
        partition_index=0,
        leader_id=leader,
        leader_epoch=epoch,
        replica_nodes=[1, 2],
        isr_nodes=[1, 2],
    )
    return MetadataResponseTopic(
        error_code=error,
        name=name,
        topic_id=topic_id,
        partitions=[] if error else [partition],
    )


def told(*topics: MetadataResponseTopic, brokers: int = 2) -> MetadataResponse:
    known = [
        MetadataResponseBroker(node_id=broker, host=f"host-{broker}", port=9092)
        for broker in range(1, brokers + 1)
    ]
    return MetadataResponse(brokers=known, topics=list(topics))


def answered(metadata: Metadata, now_ms: int, *topics: MetadataResponseTopic) -> None:
    metadata.update(metadata.question(now_ms), told(*topics), VERSION, now_ms)


class TestWhen:
    def test_it_is_asked_for_at_once_and_then_by_age(self, metadata: Metadata) -> None:
        assert metadata.update_delay_ms(0) == 0
        answered(metadata, 0)
        assert metadata.update_delay_ms(0) == AGE_MS
        assert metadata.update_delay_ms(AGE_MS) == 0

    def test_a_wish_waits_until_the_last_answer_is_a_while_ago(self, metadata: Metadata) -> None:
        metadata.use("t", 0)
        answered(metadata, 0, topic())
        metadata.request_update()
        assert metadata.update_delay_ms(0) == BACKOFF_MS

    def test_a_topic_that_is_new_does_not_wait(self, metadata: Metadata) -> None:
        answered(metadata, 0)
        metadata.use("t", 1)
        assert metadata.update_delay_ms(1) == 0

    def test_nor_does_one_that_the_question_under_way_does_not_name(
        self, metadata: Metadata
    ) -> None:
        question = metadata.question(0)
        metadata.use("t", 1)
        metadata.update(question, told(), VERSION, 2)
        assert metadata.update_delay_ms(2) == 0
        answered(metadata, 3, topic())
        assert metadata.update_delay_ms(3) > 0

    def test_failures_wait_longer_and_longer(self, metadata: Metadata) -> None:
        waits = []
        for _ in range(4):
            metadata.fail(0)
            waits.append(metadata.update_delay_ms(0))
        assert waits == [100, 200, 400, 400]

    def test_answers_that_bring_nothing_new_wait_longer_and_longer(
        self, metadata: Metadata
    ) -> None:
        metadata.use("t", 0)
        waits = []
        for _ in range(5):
            answered(metadata, 0, topic())
            metadata.request_update()
            waits.append(metadata.update_delay_ms(0))
        assert waits == [100, 100, 200, 400, 400]
        answered(metadata, 0, topic(epoch=6))
        metadata.request_update()
        assert metadata.update_delay_ms(0) == BACKOFF_MS

    def test_progress_elsewhere_ends_that(self, metadata: Metadata) -> None:
        metadata.use("t", 0)
        for _ in range(4):
            answered(metadata, 0, topic())
        metadata.request_update(after_progress=True)
        assert metadata.update_delay_ms(0) == BACKOFF_MS

    @pytest.mark.parametrize(
        "stale",
        [
            topic(error=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            topic(error=ErrorCode.LEADER_NOT_AVAILABLE),
            topic(leader=-1, partition_error=ErrorCode.LEADER_NOT_AVAILABLE),
            topic(partition_error=ErrorCode.LISTENER_NOT_FOUND),
        ],
    )
    def test_an_answer_that_is_not_complete_is_asked_for_again(
        self, metadata: Metadata, stale: MetadataResponseTopic
    ) -> None:
        metadata.use("t", 0)
        answered(metadata, 0, stale)
        assert metadata.update_delay_ms(0) == BACKOFF_MS

    def test_a_refusal_is_not(self, metadata: Metadata) -> None:
        metadata.use("t", 0)
        answered(metadata, 0, topic(error=ErrorCode.TOPIC_AUTHORIZATION_FAILED))
        assert metadata.update_delay_ms(0) == AGE_MS
        assert metadata.snapshot.topics["t"].error is ErrorCode.TOPIC_AUTHORIZATION_FAILED

    def test_an_answer_without_brokers_is_a_failure(self, metadata: Metadata) -> None:
        metadata.update(metadata.question(0), told(brokers=0), VERSION, 0)
        assert (metadata.updates, metadata.failures) == (0, 1)
        assert metadata.nodes() == (Node(-1, "boot", 1), Node(-2, "boot", 2))


class TestAboutWhat:
    def test_all_topics_in_use_at_first_and_then_the_new_ones(self, metadata: Metadata) -> None:
        metadata.use("t", 0)
        metadata.use("u", 0)
        assert metadata.question(0)[:2] == (["t", "u"], False)
        answered(metadata, 0, topic("t"), topic("u"))
        metadata.use("v", 1)
        assert metadata.question(1)[:2] == (["v"], True)
        answered(metadata, 1, topic("v"))
        assert set(metadata.snapshot.topics) == {"t", "u", "v"}

    def test_a_topic_that_became_new_meanwhile_is_asked_about_next(
        self, metadata: Metadata
    ) -> None:
        metadata.use("t", 0)
        question = metadata.question(0)
        metadata.use("u", 1)
        metadata.update(question, told(topic("t")), VERSION, 2)
        assert metadata.is_update_wanted
        assert metadata.question(2)[:2] == (["u"], True)

    def test_a_topic_that_was_not_used_for_long_is_forgotten(self, metadata: Metadata) -> None:
        metadata.use("t", 0)
        metadata.use("u", 0)
        answered(metadata, 0, topic("t"), topic("u"))
        metadata.use("u", IDLE_MS - 1)
        assert metadata.question(IDLE_MS).topics == ["u"]
        answered(metadata, IDLE_MS, topic("t"), topic("u"))
        assert set(metadata.snapshot.topics) == {"u"}


class TestEpochs:
    """KIP-320."""

    def leader(self, metadata: Metadata) -> tuple[int, int]:
        info = metadata.snapshot.partition(T0)
        assert isinstance(info, PartitionInfo)
        return info.leader, info.leader_epoch

    def test_a_broker_that_is_behind_is_not_believed(self, metadata: Metadata) -> None:
        metadata.use("t", 0)
        answered(metadata, 0, topic(leader=1, epoch=5))
        answered(metadata, 0, topic(leader=2, epoch=4))
        assert self.leader(metadata) == (1, 5)
        answered(metadata, 0, topic(leader=2, epoch=6))
        assert self.leader(metadata) == (2, 6)

    def test_but_of_a_topic_that_was_made_again(self, metadata: Metadata) -> None:
        metadata.use("t", 0)
        answered(metadata, 0, topic(leader=1, epoch=5))
        answered(metadata, 0, topic(leader=2, epoch=0, topic_id=OTHER_ID))
        assert self.leader(metadata) == (2, 0)

    def test_also_when_it_was_unknown_in_between(self, metadata: Metadata) -> None:
        metadata.use("t", 0)
        answered(metadata, 0, topic(leader=1, epoch=5))
        unknown = topic(error=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, topic_id=ZERO_UUID)
        answered(metadata, 0, unknown)
        answered(metadata, 0, topic(leader=2, epoch=0, topic_id=OTHER_ID))
        assert self.leader(metadata) == (2, 0)

    def test_epochs_of_old_brokers_say_nothing(self, metadata: Metadata) -> None:
        metadata.use("t", 0)
        answered(metadata, 0, topic(leader=1, epoch=5))
        question = metadata.question(0)
        metadata.update(question, told(topic(leader=2, epoch=4, topic_id=ZERO_UUID)), 8, 0)
        assert self.leader(metadata) == (2, -1)

    def test_nobody_leads_whose_epoch_is_older_than_one_that_was_seen(
        self, metadata: Metadata
    ) -> None:
        """Whoever does not know of it may have lost what was read since, and says so."""
        metadata.use("t", 0)
        answered(metadata, 0, topic(leader=1, epoch=5))
        metadata.saw_epoch(T0, 7)
        assert self.leader(metadata) == (NO_LEADER, 7)
        answered(metadata, 0, topic(leader=1, epoch=5))
        assert self.leader(metadata) == (NO_LEADER, 7)
        answered(metadata, 0, topic(leader=2, epoch=7))
        assert self.leader(metadata) == (2, 7)

    def test_an_epoch_that_is_no_newer_changes_nothing(self, metadata: Metadata) -> None:
        metadata.saw_epoch(T0, 7)  # of a partition that nobody has told of
        metadata.use("t", 0)
        answered(metadata, 0, topic(leader=1, epoch=5))
        metadata.saw_epoch(T0, 5)
        assert self.leader(metadata) == (1, 5)

    def test_a_broker_that_is_behind_is_not_believed_after_a_rebootstrap(
        self, metadata: Metadata
    ) -> None:
        """Where topics have no ids, which would say whether it was made again."""
        metadata.use("t", 0)
        answered(metadata, 0, topic(leader=1, epoch=5, topic_id=ZERO_UUID))
        metadata.rebootstrap()
        answered(metadata, 0, topic(leader=2, epoch=4, topic_id=ZERO_UUID))
        assert self.leader(metadata) == (NO_LEADER, 5)
        assert metadata.is_update_wanted
        answered(metadata, 0, topic(leader=2, epoch=5, topic_id=ZERO_UUID))
        assert self.leader(metadata) == (2, 5)

    def test_a_broker_that_is_behind_and_knows_of_no_leader_is_asked_again(
        self, metadata: Metadata
    ) -> None:
        metadata.use("t", 0)
        answered(metadata, 0, topic(leader=1, epoch=5))
        behind = topic(epoch=4, partition_error=ErrorCode.LEADER_NOT_AVAILABLE)
        metadata.request_update()
        answered(metadata, 0, behind)
        assert metadata.is_update_wanted
        assert self.leader(metadata) == (1, 5)


class TestRebootstrap:
    """KIP-899."""

    def test_the_configured_brokers_are_all_that_is_known_then_and_which_partitions_there_are(
        self, metadata: Metadata
    ) -> None:
        metadata.use("t", 0)
        answered(metadata, 0, topic())
        assert metadata.node(-1) == Node(-1, "boot", 1)
        metadata.rebootstrap()
        assert [node.id for node in metadata.nodes()] == [-1, -2]
        known = metadata.snapshot.partition(T0)
        assert known is not None
        assert known.leader == NO_LEADER
        assert metadata.snapshot.is_bootstrap
        assert metadata.question(0)[:2] == (["t"], False)


class TestLeadersTold:
    """By an answer to Produce or Fetch (KIP-951)."""

    @pytest.fixture
    def known(self, metadata: Metadata) -> Metadata:
        metadata.use("t", 0)
        answered(metadata, 0, topic(leader=1, epoch=5))
        return metadata

    def leader(self, metadata: Metadata) -> tuple[int, int]:
        info = metadata.snapshot.partition(T0)
        assert info is not None
        return info.leader, info.leader_epoch

    def test_a_newer_one_leads_where_it_was_told_to_be(self, known: Metadata) -> None:
        known.leaders_told({T0: (3, 6)}, [Node(3, "host-3", 9092)])
        assert self.leader(known) == (3, 6)
        assert known.node(3) == Node(3, "host-3", 9092)
        assert known.node(1) is not None

    def test_an_answer_that_is_behind_is_not_believed_afterwards(self, known: Metadata) -> None:
        known.leaders_told({T0: (2, 6)}, [])
        answered(known, 1, topic(leader=1, epoch=5))
        assert self.leader(known) == (2, 6)

    def test_one_that_is_no_newer_is_passed_over(self, known: Metadata) -> None:
        known.leaders_told({T0: (2, 5)}, [])
        assert self.leader(known) == (1, 5)

    def test_one_of_whom_nobody_knows_where_it_is_is_passed_over(self, known: Metadata) -> None:
        known.leaders_told({T0: (3, 6)}, [])
        assert self.leader(known) == (1, 5)

    def test_a_partition_that_is_not_known_is_passed_over(self, known: Metadata) -> None:
        known.leaders_told({TopicPartition("t", 9): (2, 6)}, [])
        assert known.snapshot.partition(TopicPartition("t", 9)) is None
