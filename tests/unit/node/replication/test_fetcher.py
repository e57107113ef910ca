"""A follower's fetcher against a leader that answers as told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from logquake.node.replication.partition.roles import Offline
from logquake.seams.network import Disconnected
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from logquake.wire.messages.offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from logquake.wire.records import Codec, Record, encode_message_set
from tests.doubles.journal import MemoryJournal
from tests.doubles.network import ScriptedNetwork
from tests.doubles.scheduler import ManualScheduler
from tests.unit.node.replication.one_broker import OneBroker

Batch = Callable[..., memoryview]
BACKOFF_MS = 1_000


def last(network: ScriptedNetwork) -> Any:
    return network.sent[-1]


def answer(
    network: ScriptedNetwork, *partitions: PartitionData, session: int = 5, error: int = 0
) -> None:
    topic_id = b"orders".ljust(16, b"-")
    topics = [FetchableTopicResponse(topic_id=topic_id, partitions=list(partitions))]
    last(network).done(
        FetchResponse(error_code=error, session_id=session, responses=topics if partitions else [])
    )


def data(index: int = 0, **fields: Any) -> PartitionData:
    fields.setdefault("high_watermark", 0)
    fields.setdefault("records", None)
    return PartitionData(partition_index=index, aborted_transactions=None, **fields)


def named(network: ScriptedNetwork) -> list[tuple[int, int]]:
    request = last(network).request
    return [(p.partition, p.fetch_offset) for t in request.topics for p in t.partitions]


def session(network: ScriptedNetwork) -> tuple[int, int]:
    return last(network).request.session_id, last(network).request.session_epoch


def replica(broker: OneBroker, index: int = 0) -> Any:
    return broker.partition(index).replica


def test_the_first_request(broker: OneBroker, network: ScriptedNetwork) -> None:
    broker.assign(leader=2)
    sent = last(network)
    assert (sent.endpoint.broker_id, sent.client_id, sent.version) == (2, "broker-1-fetcher-0", 17)
    state = sent.request.replica_state
    assert (state.replica_id, state.replica_epoch) == (1, 50)
    assert (sent.request.max_wait_ms, sent.request.min_bytes) == (500, 1)
    assert sent.request.max_bytes == 10_485_760
    (partition,) = sent.request.topics[0].partitions
    assert (partition.current_leader_epoch, partition.last_fetched_epoch) == (0, -1)
    assert partition.partition_max_bytes == 1_048_576


def test_records_and_the_mark_are_taken_in(
    broker: OneBroker, network: ScriptedNetwork, batch: Batch
) -> None:
    broker.assign(leader=2)
    answer(network, data(records=batch(b"a", b"b", leader_epoch=0), high_watermark=9))
    assert (replica(broker).end, replica(broker).high_watermark) == (2, 2)
    assert (session(network), named(network)) == ((5, 1), [(0, 2)])
    answer(network)
    assert (session(network), named(network)) == ((5, 2), [])


def test_the_mark_does_not_follow_a_new_leader_back(
    broker: OneBroker, network: ScriptedNetwork, batch: Batch
) -> None:
    broker.assign(leader=2)
    answer(network, data(records=batch(b"a", b"b", leader_epoch=0), high_watermark=2))
    answer(network, data(high_watermark=1))
    assert replica(broker).high_watermark == 2


def test_a_lost_connection_rests_everything_and_closes_the_session(
    broker: OneBroker, network: ScriptedNetwork, scheduler: ManualScheduler
) -> None:
    broker.assign(leader=2)
    answer(network, data())
    last(network).done(Disconnected("reset"))
    sent = len(network.sent)
    scheduler.advance(BACKOFF_MS - 1)
    assert len(network.sent) == sent
    scheduler.advance(1)
    assert (session(network), named(network)) == ((5, 0), [(0, 0)])


@pytest.mark.parametrize(
    ("error", "next_session"),
    [
        (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, (0, 0)),
        (ErrorCode.INVALID_FETCH_SESSION_EPOCH, (5, 0)),
    ],
)
def test_a_session_error_starts_over(
    broker: OneBroker, network: ScriptedNetwork, error: ErrorCode, next_session: tuple[int, int]
) -> None:
    broker.assign(leader=2)
    answer(network, data())
    answer(network, session=0, error=error)
    assert (session(network), named(network)) == (next_session, [(0, 0)])


def test_a_full_answer_that_leaves_a_partition_out_is_not_used(
    broker: OneBroker, network: ScriptedNetwork
) -> None:
    broker.assign(leader=2)
    answer(network)
    assert (session(network), named(network)) == ((0, 0), [(0, 0)])


def test_an_answer_from_before_a_new_epoch_is_not_used(
    broker: OneBroker, network: ScriptedNetwork, batch: Batch
) -> None:
    broker.assign(leader=2)
    broker.assign(leader=2, epoch=1)
    answer(network, data(records=batch(b"a", leader_epoch=0)))
    assert replica(broker).end == 0
    assert named(network) == [(0, 0)]


def test_a_deposed_follower_stops_fetching(
    broker: OneBroker, network: ScriptedNetwork, batch: Batch
) -> None:
    broker.assign(leader=2)
    broker.lead(epoch=1)
    sent = len(network.sent)
    answer(network, data(records=batch(b"a", leader_epoch=0)))
    assert replica(broker).end == 0
    assert len(network.sent) == sent


def test_damaged_records_are_fetched_again_after_a_rest(
    broker: OneBroker,
    network: ScriptedNetwork,
    scheduler: ManualScheduler,
    journal: MemoryJournal,
    batch: Batch,
) -> None:
    broker.assign(leader=2)
    damaged = batch(b"value", leader_epoch=0)
    damaged[-1] ^= 1
    answer(network, data(records=damaged))
    assert replica(broker).end == 0
    assert "fetched-records-refused" in [event.what for event in journal.events]
    assert last(network).request.forgotten_topics_data[0].partitions == [0]
    answer(network, session=0)
    scheduler.advance(BACKOFF_MS)
    assert named(network) == [(0, 0)]


def test_a_later_epoch_at_the_leader_waits_for_leader_and_isr(
    broker: OneBroker, network: ScriptedNetwork, scheduler: ManualScheduler
) -> None:
    broker.assign(leader=2)
    answer(network, data(error_code=ErrorCode.FENCED_LEADER_EPOCH))
    answer(network, session=0)
    sent = len(network.sent)
    scheduler.advance(10 * BACKOFF_MS)
    assert len(network.sent) == sent
    broker.assign(leader=2, epoch=1)
    assert named(network) == [(0, 0)]


def test_a_failing_disk_stops_the_partition(
    broker: OneBroker, network: ScriptedNetwork, batch: Batch
) -> None:
    broker.assign(leader=2)
    broker.disk.fail_at(1, OSError(28, "no space left on device"))
    answer(network, data(records=batch(b"a", leader_epoch=0)))
    answer(network, session=0)
    partition = broker.partition()
    assert partition.access_error(-1, only_leader=False) is ErrorCode.KAFKA_STORAGE_ERROR
    assert named(network) == []


def list_offset(network: ScriptedNetwork, offset: int) -> None:
    partition = ListOffsetsPartitionResponse(partition_index=0, offset=offset)
    topic = ListOffsetsTopicResponse(name="orders", partitions=[partition])
    asked = [sent for sent in network.sent if isinstance(sent.request, ListOffsetsRequest)]
    asked[-1].done(ListOffsetsResponse(topics=[topic]))


def test_an_end_beyond_the_leaders_is_cut(
    broker: OneBroker, network: ScriptedNetwork, journal: MemoryJournal, batch: Batch
) -> None:
    broker.assign(leader=2)
    answer(network, data(records=batch(b"a", b"b", leader_epoch=0), high_watermark=0))
    answer(network, data(records=batch(b"c", base_offset=2, leader_epoch=0), high_watermark=3))
    answer(network, data(error_code=ErrorCode.OFFSET_OUT_OF_RANGE))
    list_offset(network, 2)
    assert (replica(broker).end, replica(broker).high_watermark) == (2, 2)
    assert [e.what for e in journal.events][-2:] == ["log-truncated", "committed-truncated"]


def test_an_end_before_the_leaders_start_begins_again_there(
    broker: OneBroker, network: ScriptedNetwork, batch: Batch
) -> None:
    broker.assign(leader=2)
    answer(network, data(records=batch(b"a", leader_epoch=0), high_watermark=1))
    answer(network, data(error_code=ErrorCode.OFFSET_OUT_OF_RANGE))
    list_offset(network, 90)
    list_offset(network, 40)
    assert (replica(broker).start, replica(broker).end) == (40, 40)
    assert replica(broker).high_watermark == 40


def test_a_leader_at_another_address_gets_a_new_connection(
    broker: OneBroker, network: ScriptedNetwork
) -> None:
    broker.assign(0, leader=2)
    broker.assign(1, leader=2, port=9999)
    assert last(network).endpoint.port == 9999
    assert named(network) == [(0, 0), (1, 0)]


def test_a_leader_that_was_away_is_followed_when_it_is_back_in_the_same_epoch(
    broker: OneBroker, network: ScriptedNetwork
) -> None:
    broker.see_live(1)
    broker.assign(leader=2, epoch=1, leader_is_live=False)
    assert network.sent == []
    broker.see_live(1, 2)
    assert last(network).endpoint.broker_id == 2
    sent = len(network.sent)
    broker.see_live(1, 2)
    assert len(network.sent) == sent  # it is followed already


class TestALogWithoutLeaderEpochs:
    @pytest.fixture
    def follower(self, broker: OneBroker, network: ScriptedNetwork) -> Any:
        """Its log ends with messages of magic 1, half of them known to be committed."""
        broker.assign(leader=2)
        records = [Record(offset, offset, None, b"old", ()) for offset in range(4)]
        old = bytearray(encode_message_set(records, 1))
        answer(network, data(records=memoryview(old), high_watermark=2))
        return broker

    def test_is_cut_to_what_is_committed_when_it_follows_anew(
        self, follower: Any, network: ScriptedNetwork
    ) -> None:
        assert named(network) == [(0, 4)]
        follower.assign(leader=2, epoch=1)
        answer(network, session=0)
        assert named(network) == [(0, 2)]

    def test_is_left_as_it_is_while_nobody_leads(self, follower: Any) -> None:
        follower.assign(leader=-1, epoch=1)
        assert replica(follower).end == 4

    def test_that_cannot_be_cut_goes_offline(self, follower: Any) -> None:
        follower.disk.fail_at(1, OSError(28, "no space left on device"), lasting=True)
        follower.assign(leader=2, epoch=1)
        partition = follower.partition()
        assert partition.access_error(-1, only_leader=False) is ErrorCode.KAFKA_STORAGE_ERROR

    def test_that_cannot_be_cut_takes_along_who_is_followed_with_it(
        self, follower: Any, network: ScriptedNetwork
    ) -> None:
        """Not fetched: the leader would take a replica without a disk for one in sync."""
        follower.assign(1, leader=2)
        follower.see_live(1)
        for index in (0, 1):
            follower.assign(index, leader=2, epoch=1, leader_is_live=False)
        follower.disk.fail_at(1, OSError(28, "no space left on device"), lasting=True)
        follower.see_live(1, 2)
        assert [type(p.role) for p in follower.replicas.partitions()] == [Offline, Offline]
        sent = len(network.sent)
        answer(network)
        assert [s for s in network.sent[sent:] if s.request.topics] == []


def begin_at(broker: OneBroker, network: ScriptedNetwork, leader_start: int) -> None:
    """An empty log follows one that starts at an offset."""
    broker.assign(leader=2)
    answer(network, data(error_code=ErrorCode.OFFSET_OUT_OF_RANGE))
    answer(network)  # to the Fetch that leaves the partition out meanwhile
    list_offset(network, 90)
    list_offset(network, leader_start)
    assert named(network) == [(0, leader_start)]


class TestWhereTheLogStarts:
    def test_a_follower_takes_over_its_leaders_start_and_tells_of_it(
        self, broker: OneBroker, network: ScriptedNetwork, batch: Batch
    ) -> None:
        broker.assign(leader=2)
        answer(network, data(records=batch(b"a", b"b", leader_epoch=0), high_watermark=2))
        answer(network, data(high_watermark=2, log_start_offset=1))
        assert replica(broker).start == 1
        (partition,) = last(network).request.topics[0].partitions
        assert (partition.fetch_offset, partition.log_start_offset) == (2, 1)
        answer(network)
        assert named(network) == []

    def test_it_never_passes_the_followers_own_high_watermark(
        self, broker: OneBroker, network: ScriptedNetwork, batch: Batch
    ) -> None:
        broker.assign(leader=2)
        answer(
            network,
            data(records=batch(b"a", b"b", leader_epoch=0), high_watermark=1, log_start_offset=2),
        )
        assert (replica(broker).start, replica(broker).high_watermark) == (1, 1)

    @pytest.mark.parametrize("first", [0, 10])  # 10: compaction took what was before
    def test_one_that_lies_within_a_batch_is_reached_with_the_whole_batch(
        self, broker: OneBroker, network: ScriptedNetwork, batch: Batch, first: int
    ) -> None:
        begin_at(broker, network, 25)
        values = [b"%d" % offset for offset in range(first, 50)]
        records = batch(*values, base_offset=first, leader_epoch=0)
        answer(network, data(records=records, high_watermark=50, log_start_offset=25))
        assert (replica(broker).start, replica(broker).end) == (25, 50)
        assert replica(broker).high_watermark == 50
        assert replica(broker).log.epochs.entries == ((0, 25),)
        (partition,) = last(network).request.topics[0].partitions
        assert (partition.fetch_offset, partition.log_start_offset) == (50, 25)
        assert broker.disk.exists(f"/data/orders-0/{first:020}.log")

    def test_what_follows_within_the_same_answer_is_taken_too(
        self, broker: OneBroker, network: ScriptedNetwork, batch: Batch
    ) -> None:
        begin_at(broker, network, 1)
        records = b"".join(
            (batch(b"a", b"b", leader_epoch=0), batch(b"c", base_offset=2, leader_epoch=1))
        )
        both = memoryview(bytearray(records))
        answer(network, data(records=both, high_watermark=3, log_start_offset=1))
        assert (replica(broker).start, replica(broker).end) == (1, 3)

    def test_a_wrapper_of_old_messages_needs_no_new_beginning(
        self, broker: OneBroker, network: ScriptedNetwork
    ) -> None:
        begin_at(broker, network, 25)
        records = [Record(offset, offset, None, b"old", ()) for offset in range(50)]
        wrapper = bytearray(encode_message_set(records, 1, codec=Codec.GZIP))
        answer(
            network,
            data(records=memoryview(wrapper), high_watermark=50, log_start_offset=25),
        )
        assert (replica(broker).start, replica(broker).end) == (25, 50)
        assert broker.disk.exists("/data/orders-0/00000000000000000025.log")

    def test_a_damaged_batch_there_changes_nothing(
        self, broker: OneBroker, network: ScriptedNetwork, batch: Batch
    ) -> None:
        begin_at(broker, network, 1)
        damaged = batch(b"a", b"b", leader_epoch=0)
        damaged[-1] ^= 1
        answer(network, data(records=damaged, high_watermark=2, log_start_offset=1))
        assert (replica(broker).start, replica(broker).end) == (1, 1)

    def test_a_log_that_has_records_never_begins_anew_for_an_earlier_batch(
        self, broker: OneBroker, network: ScriptedNetwork, journal: MemoryJournal, batch: Batch
    ) -> None:
        begin_at(broker, network, 2)
        answer(network, data(records=batch(b"c", base_offset=2, leader_epoch=0), high_watermark=3))
        answer(network, data(records=batch(b"b", b"c", base_offset=1, leader_epoch=0)))
        assert (replica(broker).start, replica(broker).end) == (2, 3)
        assert journal.events[-1].what == "fetched-records-refused"

    def test_a_log_with_nothing_but_deleted_records_begins_anew_with_the_batch(
        self, broker: OneBroker, network: ScriptedNetwork, batch: Batch
    ) -> None:
        begin_at(broker, network, 2)
        answer(network, data(records=batch(b"c", base_offset=2, leader_epoch=0), high_watermark=2))
        records = batch(b"B", b"C", b"D", base_offset=1, leader_epoch=1)
        answer(network, data(records=records, high_watermark=4, log_start_offset=3))
        assert (replica(broker).start, replica(broker).end) == (3, 4)
        assert broker.disk.exists("/data/orders-0/00000000000000000001.log")

    def test_a_batch_that_ends_before_it_is_refused(
        self, broker: OneBroker, network: ScriptedNetwork, batch: Batch
    ) -> None:
        begin_at(broker, network, 2)
        answer(network, data(records=batch(b"a", b"b", leader_epoch=0), high_watermark=2))
        assert (replica(broker).start, replica(broker).end) == (2, 2)

    def test_a_leader_that_starts_earlier_changes_nothing(
        self, broker: OneBroker, network: ScriptedNetwork, batch: Batch
    ) -> None:
        broker.assign(leader=2)
        answer(network, data(records=batch(b"a", b"b", leader_epoch=0), high_watermark=2))
        replica(broker).raise_start(2, "retention")
        answer(network, data(high_watermark=2, log_start_offset=1))
        assert replica(broker).start == 2


def test_a_leader_that_does_not_know_yet_that_it_leads_is_asked_again_soon(
    broker: OneBroker, network: ScriptedNetwork, scheduler: ManualScheduler
) -> None:
    broker.assign(leader=2)
    answer(network, data())
    for pause_ms in (10, 20, 40):
        answer(network, data(error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER))
        answer(network)  # to the Fetch that forgets the partition
        sent = len(network.sent)
        scheduler.advance(pause_ms - 1)
        assert len(network.sent) == sent
        scheduler.advance(1)
        assert named(network) == [(0, 0)]


@pytest.fixture
def waiting(broker: OneBroker, network: ScriptedNetwork) -> int:
    """A Fetch waits for more of the one partition that is followed; how many requests were sent."""
    broker.assign(leader=2, index=0)
    answer(network, data())
    return len(network.sent)


def test_a_fetch_that_waits_at_the_leader_does_not_keep_a_new_leadership_waiting(
    broker: OneBroker, network: ScriptedNetwork, scheduler: ManualScheduler, waiting: int
) -> None:
    broker.assign(leader=2, index=1, epoch=1)
    scheduler.advance(9)
    assert len(network.sent) == waiting
    scheduler.advance(1)
    assert (session(network), named(network)) == ((5, 0), [(0, 0), (1, 0)])


def test_leaderships_that_come_one_after_the_other_share_the_fetch_that_names_them(
    broker: OneBroker, network: ScriptedNetwork, scheduler: ManualScheduler, waiting: int
) -> None:
    """A full Fetch for each would keep the leader of thousands busy with what nobody reads."""
    for index in range(1, 9):
        broker.assign(leader=2, index=index, epoch=1)
        scheduler.advance(6)
    assert len(network.sent) == waiting
    scheduler.advance(4)
    assert (session(network), len(named(network))) == ((5, 0), 9)


def test_nor_does_it_keep_one_waiting_whose_leader_is_asked_again(
    broker: OneBroker, network: ScriptedNetwork, scheduler: ManualScheduler, waiting: int
) -> None:
    broker.assign(leader=2, index=1, epoch=1)
    answer(network)
    answer(network, data(index=1, error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER))
    assert len(network.sent) == waiting + 2
    scheduler.advance(19)
    assert len(network.sent) == waiting + 2
    scheduler.advance(1)
    assert (session(network), named(network)) == ((5, 0), [(0, 0), (1, 0)])


def test_a_new_partition_waits_for_the_fetch_in_flight(
    broker: OneBroker, network: ScriptedNetwork, scheduler: ManualScheduler, waiting: int
) -> None:
    broker.assign(leader=2, index=1)
    scheduler.advance(400)
    assert len(network.sent) == waiting


def test_a_fetch_that_is_answered_in_time_is_not_given_up(
    broker: OneBroker, network: ScriptedNetwork, scheduler: ManualScheduler
) -> None:
    broker.assign(leader=2, index=0)
    answer(network, data())
    broker.assign(leader=2, index=1, epoch=1)
    answer(network)
    assert (session(network), named(network)) == ((5, 2), [(1, 0)])
    sent = len(network.sent)
    scheduler.advance(400)
    assert len(network.sent) == sent
