"""Invariants on tiny literal histories: what is wrong is named, what is right is not."""

from __future__ import annotations

from random import Random

import pytest

from logquake.chaos.evidence.decisions import EpochWrite
from logquake.wire.records import BatchHeader
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.model import ZooKeeperModel
from logquake.zk.model_session import ModelServer
from logquake.zk.operations import Create, SetData
from logquake.zk.znodes.topics import PartitionState, TopicAssignment
from tests.sim import invariants
from tests.sim.clock import Clock
from tests.sim.delays import Delays
from tests.sim.history import Acked, Deleted, Looked, Polled, Refused, Send, Skipped
from tests.sim.machine import Machine
from tests.sim.network import Fabric
from tests.sim.payloads import AsObjects
from tests.sim.replicas import Replica
from tests.sim.step import Cut, Mark, Start, Step
from tests.sim.trace import Trace
from tests.sim.world import Committed, World

T0 = TopicPartition("orders", 0)


class History:
    """A world of three brokers that never ran; a test writes down what was observed."""

    def __init__(self) -> None:
        clock = Clock()
        rng = Random(0)
        server = ModelServer()
        fabric = Fabric(clock, Delays(rng), AsObjects())
        machines = [Machine(b, fabric, server, Trace(clock), rng) for b in (1, 2, 3)]
        self.model: ZooKeeperModel = server.model
        self.session = self.model.open_session()
        self.world = World(machines, self.model, 2)
        for path in ("/brokers", "/brokers/topics"):
            self.write(Create(path))
        topic = TopicAssignment(bytes(16), {0: (1, 2, 3)})
        self.write(Create(TopicAssignment.path("orders"), topic.encode()))
        for path in ("/brokers/topics/orders/partitions", "/brokers/topics/orders/partitions/0"):
            self.write(Create(path))

    def write(self, operation: Create | SetData) -> None:
        self.model.apply(self.session, operation)

    def state(self, leader: int, epoch: int, *isr: int, version: int | None = None) -> Step:
        """ZooKeeper gets a state; a version of None creates it."""
        data = PartitionState(leader, epoch, isr, 1).encode()
        path = PartitionState.path("orders", 0)
        self.write(Create(path, data) if version is None else SetData(path, data, version))
        return Step(decisions=self.world.decisions.catch_up())

    def log(self, broker: int, *batches: tuple[int, int]) -> Step:
        """A broker's log grows by batches of one record each: (leader epoch, value)."""
        end = self.world.replica(broker, T0).end
        headers = [
            _header(end + index, epoch, value) for index, (epoch, value) in enumerate(batches)
        ]
        return self.batches(broker, *headers)

    def batches(self, broker: int, *headers: BatchHeader) -> Step:
        replica = self.world.replica(broker, T0)
        return Step(appended=[(replica, replica.append(header)) for header in headers])

    def commit(self, broker: int) -> Step:
        """All that a broker has is committed."""
        committed = self.world.committed.setdefault(T0, Committed())
        step = Step()
        for batch in self.world.replica(broker, T0).batches[len(committed.batches) :]:
            committed.append(batch)
            step.committed.append((T0, batch))
        return step


def _header(
    offset: int, epoch: int, value: int, *, producer_epoch: int = 0, sequence: int | None = None
) -> BatchHeader:
    """Of one record; the sequence is the offset, if no other is given."""
    return BatchHeader(
        base_offset=offset,
        batch_length=50,
        partition_leader_epoch=epoch,
        magic=2,
        crc=value,
        attributes=0,
        last_offset_delta=0,
        base_timestamp=0,
        max_timestamp=0,
        producer_id=9,
        producer_epoch=producer_epoch,
        base_sequence=offset if sequence is None else sequence,
        record_count=1,
    )


@pytest.fixture
def history() -> History:
    return History()


def problems(invariant: invariants.Invariant, history: History, step: Step) -> int:
    return len(list(invariant(history.world, step)))


def test_one_value_per_offset(history: History) -> None:
    history.log(1, (0, 100))
    history.commit(1)
    good = Step(
        acked=[Acked(Send(T0, 100, 1), 1, 0)], polled=[Polled(T0, 1, first=0, next=1, value=100)]
    )
    bad = Step(
        acked=[Acked(Send(T0, 101, 1), 1, 0)], polled=[Polled(T0, 1, first=1, next=2, value=100)]
    )
    assert problems(invariants.one_value_per_offset, history, good) == 0
    assert problems(invariants.one_value_per_offset, history, bad) == 2


def test_one_value_per_offset_below_every_high_watermark(history: History) -> None:
    history.log(1, (0, 100))
    history.commit(1)
    history.log(2, (0, 100))
    history.log(3, (0, 666))
    marks = [Mark(history.world.replica(b, T0), "Follower", 0, None, 1) for b in (2, 3)]
    assert problems(invariants.one_value_per_offset, history, Step(marks=marks[:1])) == 0
    assert problems(invariants.one_value_per_offset, history, Step(marks=marks)) == 1


def test_idempotence(history: History) -> None:
    history.log(1, (0, 100), (0, 101))
    assert problems(invariants.idempotence, history, history.commit(1)) == 0
    history.log(1, (0, 101))
    assert problems(invariants.idempotence, history, history.commit(1)) == 1


def test_an_epoch_of_a_producer_begins_with_0_and_ends_the_one_before(history: History) -> None:
    history.state(1, 0, 1)
    history.batches(1, _header(0, 0, 100), _header(1, 0, 101, producer_epoch=1, sequence=0))
    assert problems(invariants.idempotence, history, history.commit(1)) == 0
    history.batches(1, _header(2, 0, 102, producer_epoch=2, sequence=1))
    assert problems(invariants.idempotence, history, history.commit(1)) == 1
    history.batches(1, _header(3, 0, 103, producer_epoch=0, sequence=1))
    assert problems(invariants.idempotence, history, history.commit(1)) == 1


def gap(value: int) -> Step:
    """Broker 1, which leads, said that what precedes the batch is missing."""
    refused = Refused(Send(T0, value, 1), 1, "OUT_OF_ORDER_SEQUENCE_NUMBER", is_absent=False)
    return Step(refused=[refused])


def test_a_leader_remembers_what_it_took(history: History) -> None:
    history.log(1, (0, 100), (0, 101))
    assert problems(invariants.idempotence, history, gap(100)) == 1


def test_a_leader_that_read_its_producers_anew_remembers_the_last_batch(history: History) -> None:
    history.log(1, (0, 100), (0, 101))
    history.world.reread(1, T0, 2)
    history.log(1, (0, 102), (0, 103))
    for value, wrong in ((100, 0), (101, 1), (102, 1), (666, 1)):
        assert problems(invariants.idempotence, history, gap(value)) == wrong, value


def test_a_leader_need_not_know_what_lies_before_its_log(history: History) -> None:
    history.log(2, (0, 100), (0, 101))
    assert problems(invariants.idempotence, history, history.commit(2)) == 0
    history.world.replica(1, T0)._begin(1, history.world.committed[T0].prefixes[1])
    history.log(1, (0, 101))
    assert problems(invariants.idempotence, history, gap(100)) == 0
    assert problems(invariants.idempotence, history, gap(101)) == 1


def test_a_leader_whose_records_were_all_deleted_takes_any_sequence(history: History) -> None:
    history.state(1, 0, 1)
    history.log(1, (0, 100), (0, 101))
    assert problems(invariants.idempotence, history, history.commit(1)) == 0
    history.batches(1, _header(2, 0, 103, sequence=3))
    after_a_gap = history.commit(1)
    assert problems(invariants.idempotence, history, after_a_gap) == 1
    assert problems(invariants.idempotence, history, gap(102)) == 1
    history.world.sequences[T0, 9] = (0, 2)
    history.world.replica(1, T0).highest_start = 2
    assert problems(invariants.idempotence, history, after_a_gap) == 0
    assert problems(invariants.idempotence, history, gap(102)) == 0


@pytest.mark.parametrize(("start", "is_wrong"), [(0, True), (1, True), (2, False)])
def test_what_was_deleted_is_taken_again_by_who_forgot_its_producer(
    history: History, start: int, is_wrong: bool
) -> None:
    history.state(1, 0, 1)
    history.log(1, (0, 100), (0, 101))
    assert problems(invariants.idempotence, history, history.commit(1)) == 0
    history.world.replica(1, T0).highest_start = start
    history.batches(1, _header(2, 0, 100, sequence=0), _header(3, 0, 101, sequence=1))
    found = problems(invariants.idempotence, history, history.commit(1))
    assert bool(found) == is_wrong
    assert bool(history.world.written_again) != is_wrong


def test_log_matching(history: History) -> None:
    first = history.log(1, (0, 100), (1, 101))
    same = history.log(2, (0, 100), (1, 101))
    other = history.log(3, (0, 666), (1, 101))
    assert problems(invariants.log_matching, history, first) == 0
    assert problems(invariants.log_matching, history, same) == 0
    assert problems(invariants.log_matching, history, other) == 2


def test_isr_candidate_completeness(history: History) -> None:
    history.state(1, 0, 1, 2)
    history.log(1, (0, 100))
    history.log(2, (0, 100))
    assert problems(invariants.isr_candidate_completeness, history, history.commit(1)) == 0
    joined = history.state(1, 0, 1, 2, 3, version=0)
    assert problems(invariants.isr_candidate_completeness, history, joined) == 1


def test_a_member_may_hold_anything_before_its_leaders_start(history: History) -> None:
    history.state(1, 0, 1)
    history.log(1, (0, 100), (0, 101))
    history.commit(1)
    history.log(2, (0, 666), (0, 101))
    history.world.replica(1, T0).highest_start = 1
    joined = history.state(1, 0, 1, 2, version=0)
    assert problems(invariants.isr_candidate_completeness, history, joined) == 0
    history.world.replica(1, T0).highest_start = 0
    assert problems(invariants.isr_candidate_completeness, history, joined) == 1


def test_leader_completeness(history: History) -> None:
    history.state(1, 0, 1, 2, 3)
    for broker in (1, 2):
        history.log(broker, (0, 100))
    history.commit(1)
    complete = history.state(2, 1, 2, 3, version=0)
    lacking = history.state(3, 2, 3, version=1)
    assert problems(invariants.leader_completeness, history, complete) == 0
    assert problems(invariants.leader_completeness, history, lacking) == 1


def test_a_high_watermark_falls_in_no_epoch(history: History) -> None:
    replica = history.world.replica(1, T0)
    fallen = Step(marks=[Mark(replica, "Leader", 3, before=5, after=4)])
    elected = Step(marks=[Mark(replica, "Leader", 4, before=None, after=4)])
    assert problems(invariants.high_watermark, history, fallen) == 1
    assert problems(invariants.high_watermark, history, elected) == 0


def test_truncation(history: History) -> None:
    history.state(1, 0, 1, 2)
    history.log(1, (0, 100))
    history.commit(1)
    member = Step(cuts=[Cut(history.world.replica(2, T0), before=1, after=0)])
    outsider = Step(cuts=[Cut(history.world.replica(3, T0), before=1, after=0)])
    above = Step(cuts=[Cut(history.world.replica(2, T0), before=5, after=1)])
    assert problems(invariants.truncation, history, member) == 1
    assert problems(invariants.truncation, history, outsider) == 0
    assert problems(invariants.truncation, history, above) == 0


@pytest.mark.parametrize(
    ("leader", "epoch", "isr", "version", "expected"),
    [
        (2, 1, (2, 3), 0, 0),
        (1, 0, (1, 2), 0, 0),
        (-1, 1, (1,), 0, 0),
        (3, 1, (2,), 0, 1),  # the leader is not in the ISR
        (1, 0, (1, 4), 0, 1),  # 4 is no replica
        (2, 0, (2, 3), 0, 1),  # the epoch stays
        (1, 1, (1,), -1, 1),  # whatever the version was
    ],
)
def test_isr_history(
    history: History, leader: int, epoch: int, isr: tuple[int, ...], version: int, expected: int
) -> None:
    history.state(1, 0, 1, 2, 3)
    step = history.state(leader, epoch, *isr, version=version)
    assert problems(invariants.isr_history, history, step) == expected


def test_a_leader_from_outside_the_isr_is_named(history: History) -> None:
    history.state(1, 0, 1, 2)
    step = history.state(3, 1, 3, version=0)
    assert problems(invariants.isr_history, history, step) == 1


def test_one_controller(history: History) -> None:
    once = Step(decisions=[EpochWrite(10, session_id=7, before=1, after=2)])
    again = Step(decisions=[EpochWrite(11, session_id=8, before=2, after=2)])
    assert problems(invariants.one_controller, history, once) == 0
    assert problems(invariants.one_controller, history, again) == 2


def test_refused_is_gone(history: History) -> None:
    history.world.refused[1] = frozenset({2})
    assert not problems(invariants.refused_is_gone, history, history.state(1, 0, 1, 3))
    joined = history.state(1, 0, 1, 2, 3, version=0)
    assert problems(invariants.refused_is_gone, history, joined) == 1
    stays = history.state(1, 1, 1, 2, version=1)
    assert not problems(invariants.refused_is_gone, history, stays)
    elected = history.state(2, 2, 1, 2, version=2)
    assert problems(invariants.refused_is_gone, history, elected) == 1


def test_min_isr(history: History) -> None:
    history.log(1, (0, 100))
    ack = Step(acked=[Acked(Send(T0, 100, 1), 1, 0)])
    assert problems(invariants.min_isr, history, ack) == 1
    history.log(2, (0, 100))
    assert problems(invariants.min_isr, history, ack) == 0


def test_what_was_refused_for_want_of_replicas_is_nowhere(history: History) -> None:
    history.log(1, (0, 100))
    there = Refused(Send(T0, 100, 1), 1, "NOT_ENOUGH_REPLICAS", is_absent=True)
    absent = Refused(Send(T0, 101, 1), 1, "NOT_ENOUGH_REPLICAS", is_absent=True)
    assert problems(invariants.min_isr, history, Step(refused=[there])) == 1
    assert problems(invariants.min_isr, history, Step(refused=[absent])) == 0


def test_a_log_starts_no_later_than_was_asked_for(history: History) -> None:
    replica = history.world.replica(1, T0)
    history.world.ask_start(T0, 5)
    asked = Step(starts=[Start(replica, "Leader", before=0, after=5, high_watermark=9)])
    later = Step(starts=[Start(replica, "Leader", before=0, after=6, high_watermark=9)])
    beyond = Step(starts=[Start(replica, "Leader", before=0, after=5, high_watermark=4)])
    assert problems(invariants.log_start, history, asked) == 0
    assert problems(invariants.log_start, history, later) == 1
    assert problems(invariants.log_start, history, beyond) == 1


def test_a_log_start_goes_back_in_no_term_of_a_leader(history: History) -> None:
    replica = history.world.replica(1, T0)
    history.world.ask_start(T0, 5)
    leader = Step(starts=[Start(replica, "Leader", before=3, after=2, high_watermark=9)])
    follower = Step(starts=[Start(replica, "Follower", before=3, after=2, high_watermark=9)])
    restarted = Step(starts=[Start(replica, "Leader", before=None, after=2, high_watermark=9)])
    assert problems(invariants.log_start, history, leader) == 1
    assert problems(invariants.log_start, history, follower) == 0
    assert problems(invariants.log_start, history, restarted) == 0


def test_low_watermark(history: History) -> None:
    history.write(Create("/brokers/ids"))
    for broker in (2, 1, 3):
        history.write(Create(f"/brokers/ids/{broker}", b"", ephemeral=True))
    history.state(1, 0, 1, 2, 3)
    members = history.world.members(T0)  # not 3, which came after the leader
    assert {broker for broker, _ in members} == {1, 2}
    history.world.replica(1, T0).highest_start = 5
    history.world.replica(2, T0).highest_start = 4
    true = Step(deleted=[Deleted(T0, 1, 4, 4, members)])
    too_much = Step(deleted=[Deleted(T0, 1, 4, 5, members)])
    too_little = Step(deleted=[Deleted(T0, 1, 5, 4, members)])
    away = Step(deleted=[Deleted(T0, 1, 4, 5, frozenset({(1, 9), (2, 9)}))])  # registered anew
    assert problems(invariants.low_watermark, history, true) == 0
    assert problems(invariants.low_watermark, history, too_much) == 1
    assert problems(invariants.low_watermark, history, too_little) == 1
    assert problems(invariants.low_watermark, history, away) == 0


class TestWhatLiesBeforeALogsStart:
    @pytest.fixture
    def begun_late(self, history: History) -> Replica:
        """Broker 1 holds three batches, all committed; broker 2 begins with the second."""
        history.state(1, 0, 1)
        history.log(1, (0, 100), (0, 101), (0, 102))
        history.commit(1)
        late = history.world.replica(2, T0)
        late.begins = late.start = late.highest_start = 1
        late.prefixes = {1: history.world.committed[T0].prefixes[1]}
        return late

    def test_is_required_of_nobody(self, history: History, begun_late: Replica) -> None:
        same = history.log(2, (0, 101), (0, 102))
        joined = history.state(1, 0, 1, 2, version=0)
        assert problems(invariants.log_matching, history, same) == 0
        assert problems(invariants.isr_candidate_completeness, history, joined) == 0
        acks = [Acked(Send(T0, value, 1), 1, first) for first, value in enumerate((100, 101))]
        assert problems(invariants.min_isr, history, Step(acked=acks)) == 0
        assert not list(invariants.durable(history.world, acks))
        begun_late.highest_start = 0
        assert problems(invariants.isr_candidate_completeness, history, joined) == 1
        assert len(list(invariants.durable(history.world, acks))) == 1

    def test_all_after_it_is_required(self, history: History, begun_late: Replica) -> None:
        assert begun_late.end == 1
        history.log(2, (0, 101))
        joined = history.state(1, 0, 1, 2, version=0)
        assert problems(invariants.isr_candidate_completeness, history, joined) == 1

    def test_is_compared_under_no_high_watermark(
        self, history: History, begun_late: Replica
    ) -> None:
        """A crash takes a replica's high watermark back to before what was deleted."""
        history.log(2, (0, 101), (0, 666))
        marks = [Mark(begun_late, "Follower", 0, None, after) for after in (0, 1, 2, 3)]
        for mark, wrong in zip(marks, (0, 0, 0, 1), strict=True):
            assert problems(invariants.one_value_per_offset, history, Step(marks=[mark])) == wrong

    def test_may_be_skipped_by_readers_where_clients_deleted_it(self, history: History) -> None:
        history.log(1, (0, 100), (0, 101))
        history.commit(1)
        polls = [Polled(T0, 1, first=1, next=2, value=101)]
        skipped = [Skipped(T0, position=0, start=1)]
        assert len(list(invariants.readable(history.world, polls, []))) == 1
        assert len(list(invariants.readable(history.world, polls, skipped))) == 1
        history.world.ask_start(T0, 1)
        assert not list(invariants.readable(history.world, polls, skipped))


def test_a_lost_disk_counts_for_what_was_acked_and_for_no_high_watermark(history: History) -> None:
    history.state(1, 0, 1, 2)
    history.log(1, (0, 100))
    history.log(2, (0, 100))
    assert not history.world.is_needed(3)
    history.state(1, 1, 1, version=0)
    assert not history.world.is_needed(2)
    history.world.lose_disk(2)
    ack = Step(acked=[Acked(Send(T0, 100, 1), 1, 0)])
    assert problems(invariants.min_isr, history, ack) == 0
    assert (history.world.replica(2, T0).end, history.world.emptied) == (0, {(2, T0)})


def test_durable_readable_and_no_phantom(history: History) -> None:
    history.state(1, 0, 1, 2)
    history.log(1, (0, 100))
    history.log(2, (0, 100))
    history.commit(1)
    world = history.world
    ack, poll = Acked(Send(T0, 100, 1), 1, 0), Polled(T0, 1, first=0, next=1, value=100)
    assert not list(invariants.durable(world, [ack]))
    assert not list(invariants.readable(world, [poll], []))
    assert not list(invariants.no_phantom(world, {100}))
    world.replica(2, T0).truncate_to(0)
    assert len(list(invariants.durable(world, [ack]))) == 1
    assert len(list(invariants.readable(world, [], []))) == 1
    assert len(list(invariants.no_phantom(world, {101}))) == 1


@pytest.mark.parametrize(("value", "wrong"), [(5, 0), (7, 0), (4, 1), (-1, 1)])
def test_an_older_offset_than_the_last_that_was_acked(
    history: History, value: int, wrong: int
) -> None:
    looked = Step(looked=[Looked("g", T0, 1, value, expected=(5, 6, 7))])
    assert problems(invariants.committed_offsets, history, looked) == wrong
