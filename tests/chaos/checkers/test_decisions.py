"""Invariants 10 to 18: what ZooKeeper's writes, journals and looks say of leaders and ISRs."""

from __future__ import annotations

import pytest

from logquake.chaos.checkers import acking, decided, leaders
from logquake.chaos.history.rows import Kind
from logquake.wire.sentinels import NO_LEADER
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.operations import Create, Delete
from logquake.zk.znodes.topics import PartitionState, TopicAssignment
from tests.chaos.checkers.literals import Batch, P, Run, cluster, log, state, told

PLACE = TopicPartition("orders", 0)


def test_zookeeper_names_one_leader_of_an_epoch_and_no_other_leads() -> None:
    run = cluster()
    run.state(10, state(2, 1, (2,)))
    run.event(11, 2, "role-changed", after="leader", epoch=1)
    assert told(leaders.one_leader_per_epoch, run) == []
    run.event(12, 1, "role-changed", after="leader", epoch=1)
    assert told(leaders.one_leader_per_epoch, run) == [
        "broker-1 led orders-0 at epoch 1 from 00:00:00.012 on, ZooKeeper names broker 2"
    ]
    run.state(13, state(1, 1, (1, 2)))
    assert "leaders 2 and 1 at epoch 1" in told(leaders.one_leader_per_epoch, run)[0]


def test_epochs_of_a_topic_that_is_made_again_begin_anew() -> None:
    run = cluster()
    run.event(1, 1, "role-changed", after="leader", epoch=0)
    run.write(10, Delete(PartitionState.path(*PLACE)), Delete(TopicAssignment.path("orders")))
    run.topic(2, 1, at_ms=20)
    run.write(21, Create(PartitionState.path(*PLACE), state(2, 0, (2, 1)).encode()))
    run.event(22, 2, "role-changed", after="leader", epoch=0)
    assert told(leaders.one_leader_per_epoch, run) == []
    run.event(23, 1, "role-changed", after="leader", epoch=0)
    assert told(leaders.one_leader_per_epoch, run) == [
        "broker-1 led orders-0 at epoch 0 from 00:00:00.023 on, ZooKeeper names broker 2"
    ]


def test_a_member_of_the_isr_holds_what_is_committed() -> None:
    run = cluster()
    run.acked(10, 10, 0)
    run.keep(log(1, Batch(0, (10,))), log(2, Batch(0, (10,))))
    run.look(20, 1, isr=[1, 2], log_ends={"1": 2, "2": 1})
    run.look(21, 1, isr=None, log_ends={"2": 0})  # it changed meanwhile
    run.look(22, 1, isr=[1, 2], log_ends={"1": 2})  # and one did not answer
    assert told(leaders.isr_completeness, run) == []
    run.look(23, 2, isr=[1, 2], log_ends={"2": 1})
    assert "ended at 1; the high watermark was 2" in told(leaders.isr_completeness, run)[0]
    run.keep(log(1, Batch(0, (10,))), log(2))
    assert "broker 2 is in the ISR of orders-0, its log ends at 0" in "".join(
        told(leaders.isr_completeness, run)
    )


def test_a_member_that_has_not_made_its_log_yet_lacks_only_what_is_committed() -> None:
    run = cluster()
    run.keep(log(1))  # broker 2 hears of the partition when all is over
    assert told(leaders.isr_completeness, run) == []
    run.acked(10, 10, 0)
    run.keep(log(1, Batch(0, (10,))))
    assert "broker 2 is in the ISR of orders-0, its log is not there" in "".join(
        told(leaders.isr_completeness, run)
    )


def test_a_member_holds_what_was_acked_by_the_look_before() -> None:
    run = cluster()
    run.acked(10, 10, 0)
    run.row(15, "harness", Kind.OBSERVED, P, after={"isr": [1, 2], "log_ends": {"2": 1}})
    run.keep(log(1, Batch(0, (10,))), log(2, Batch(0, (10,))))
    run.row(20, "harness", Kind.OBSERVED, P, after={"isr": [1, 2], "log_ends": {"2": 1}})
    assert told(leaders.isr_completeness, run) == []
    run.row(25, "harness", Kind.OBSERVED, P, after={"isr": [1, 2], "log_ends": {"2": 0}})
    assert "ended at 0; committed was up to 1" in told(leaders.isr_completeness, run)[0]


def test_who_is_down_need_not_hold_it() -> None:
    run = cluster()
    run.acked(10, 10, 0)
    run.gone(20, 2)
    run.keep(log(1, Batch(0, (10,))), log(2))
    assert told(leaders.isr_completeness, run) == []


def test_an_elected_leader_has_what_was_acked_before() -> None:
    run = cluster()
    run.acked(10, 10, 0)
    run.state(20, state(2, 1, (2,)))
    run.acked(30, 11, 1)
    run.keep(log(2, Batch(0, (10,)), Batch(1, (11,), 1)))
    assert told(leaders.leader_completeness, run) == []
    run.keep(log(2, Batch(0, (11,), 1)))
    assert told(leaders.leader_completeness, run) == [
        "broker 2 was elected for orders-0 at epoch 1 with a log that ended at 0; committed was up "
        "to 1"
    ]


def test_for_what_an_unclean_leader_cut_off_those_before_are_not_blamed() -> None:
    run = cluster()
    run.acked(10, 10, 0)
    run.state(20, state(2, 1, (2,)))  # it wrote nothing
    run.state(30, state(1, 2, (1,), recovering=True))
    run.acked(40, 11, 0)
    run.keep(log(1, Batch(0, (11,), 2)))
    (short,) = told(leaders.leader_completeness, run)
    assert "broker 1 was elected for orders-0 at epoch 2 with a log that ended at 0" in short


def test_what_is_below_a_high_watermark_that_a_leader_told_is_committed() -> None:
    run = cluster()
    run.producer(acks="1", idempotent=False)
    run.acked(10, 10, 0)
    run.look(15, 1)
    run.state(20, state(2, 1, (2,)))
    run.keep(log(2, Batch(0, (11,), 1)))
    assert "with a log that ended at 0" in told(leaders.leader_completeness, run)[0]
    run.rows = [row for row in run.rows if row.what != Kind.OBSERVED]
    assert told(leaders.leader_completeness, run) == []


def test_a_high_watermark_does_not_fall_within_an_epoch() -> None:
    run = cluster()
    run.look(10, 5, last_stable=5)
    run.look(11, 6, last_stable=4)
    run.look(12, 4, epoch=1)
    assert told(leaders.high_watermark, run) == []
    run.look(13, 3, epoch=1)
    run.look(14, 3, epoch=2, last_stable=4)
    assert len(told(leaders.high_watermark, run)) == 2


def test_a_member_never_truncates_what_was_committed_then() -> None:
    run = cluster()
    run.event(5, 2, "log-truncated", before=3, after=0, why="before anything was")
    run.acked(10, 10, 0)
    run.event(20, 2, "log-truncated", before=3, after=1, why="the rest is nobody's")
    assert told(leaders.truncation, run) == []
    run.event(21, 2, "log-truncated", before=1, after=0, why="a planted bug")
    assert "broker 2, in the ISR [1, 2] of orders-0" in told(leaders.truncation, run)[0]


def test_who_is_not_in_the_isr_may_truncate_what_it_likes() -> None:
    run = cluster()
    run.acked(10, 10, 0)
    run.state(15, state(1, 0, (1,)))
    run.event(20, 2, "log-truncated", before=1, after=0, why="it lags")
    assert told(leaders.truncation, run) == []


def test_of_a_decision_in_the_same_millisecond_nobody_knows_which_came_first() -> None:
    """Times of ZooKeeper's and of journals are whole milliseconds."""
    run = cluster()
    run.acked(10, 10, 0)
    run.state(15, state(1, 0, (1,)))
    run.event(20, 2, "log-truncated", before=1, after=0, why="it lags")
    run.state(20, state(1, 0, (1, 2)))
    assert told(leaders.truncation, run) == []
    run.state(30, state(1, 0, (1,)))
    run.event(30, 2, "log-truncated", before=1, after=0, why="it lags")
    assert told(leaders.truncation, run) == []


@pytest.mark.parametrize(
    ("new", "problem"),
    [
        (state(2, 1, (2,)), None),
        (state(1, 0, (1,)), None),
        (state(NO_LEADER, 1, (1,)), None),
        (state(1, 1, (2,)), "the leader is not in the ISR"),
        (state(1, 0, (1, 2, 3)), "the ISR is empty or not within the replicas"),
        (state(2, 0, (2,)), "the leader changed within an epoch"),
        (state(1, -1, (1,)), "the leader epoch fell"),
    ],
)
def test_a_state_follows_from_the_one_before(new: PartitionState, problem: str | None) -> None:
    run = cluster()
    run.state(10, new)
    problems = told(decided.isr_history, run)
    assert (problem is None and not problems) or (problem or "") in problems[0]


def test_a_write_over_another_version_is_told() -> None:
    run = cluster()
    run.state(10, state(2, 1, (2,)), version=7)
    assert "did not name the version" in told(decided.isr_history, run)[0]


def test_an_unclean_election_must_be_allowed_and_says_what_it_cost() -> None:
    run = cluster()
    run.acked(10, 10, 0)
    run.state(20, state(1, 0, (1,)))
    run.state(21, state(2, 1, (2,), recovering=True))
    run.keep(log(2, Batch(0, (11,), 1)))
    assert "the new leader was not in the ISR" in told(decided.isr_history, run)[0]
    run.topic(at_ms=30, unclean_leader_election_enable="true")
    assert told(decided.isr_history, run) == []
    (cost,) = decided.unclean_elections(run.case())
    assert cost.text.endswith("offsets 0 to 0 of what was committed went")
    assert "broker 2 was elected unclean to lead orders-0 at epoch 1" in "".join(cost.chain)


def test_controllers_follow_each_other() -> None:
    run = cluster()
    run.controller(10, 2, session=2)
    run.state(11, state(2, 1, (2,), controller=2))
    assert told(decided.one_controller, run) == []
    run.state(12, state(2, 2, (2, 1), controller=1))
    run.controller(13, 2, session=3)
    problems = told(decided.one_controller, run)
    assert "for controller epoch 1, when 2 was in office" in problems[0]
    assert [text.partition(":")[0] for text in problems[1:]] == [
        "the controller epoch did not increase",
        "a controller epoch has two owners, 2 too",
    ]


def joined() -> Run:
    run = cluster()
    run.state(10, state(1, 0, (1,)))
    return run


def test_who_enters_an_isr_is_registered_as_it_was_when_it_was_proposed() -> None:
    run = joined()
    run.gone(11, 2)
    run.registered(12, 2)
    run.event(13, 1, "isr-proposed", before=[1], after=[1, 2], epoch=0)
    run.state(14, state(1, 0, (1, 2)))
    assert told(decided.incarnation, run) == []


def test_who_is_gone_or_came_back_since_may_not_enter() -> None:
    run = joined()
    run.event(11, 1, "isr-proposed", before=[1], after=[1, 2], epoch=0)
    run.gone(12, 2)
    run.state(13, state(1, 0, (1, 2)))
    assert told(decided.incarnation, run) == [
        "broker 2 entered the ISR of orders-0, and was not registered"
    ]
    run = joined()
    run.event(11, 1, "isr-proposed", before=[1], after=[1, 2], epoch=0)
    run.gone(12, 2)
    run.registered(13, 2)
    run.state(14, state(1, 0, (1, 2)))
    assert "it registered anew at 00:00:00.013" in told(decided.incarnation, run)[0]


def test_who_is_dropped_by_the_next_write_had_entered_before_its_end_was_heard_of() -> None:
    run = joined()
    run.gone(12, 2)
    run.state(13, state(1, 0, (1, 2)))
    assert len(told(decided.incarnation, run)) == 1
    applied = list(run.applied)
    run.state(14, state(1, 1, (1,)))
    assert told(decided.incarnation, run) == []
    run.applied = applied
    run.state(14, state(1, 0, (1,)), version=2)  # as its leader asked, for whom it lags
    assert len(told(decided.incarnation, run)) == 1


def test_an_ack_means_that_the_isr_was_large_enough_at_some_moment() -> None:
    run = cluster()
    run.topic(min_insync_replicas="2")
    run.state(10, state(1, 0, (1,)))
    run.send(5, 10)
    run.acked(8, 12, 1)
    run.answer(12, Kind.ACKED, 10, offset=0)  # it may have been appended before
    assert told(acking.min_isr, run) == []
    run.acked(30, 11, 2)
    assert "1 sends to orders-0 were acked while its ISR was [1]" in told(acking.min_isr, run)[0]


def test_nobody_wants_more_in_sync_than_there_are_replicas() -> None:
    run = cluster()
    run.topic(1, 2, min_insync_replicas="3")
    run.acked(20, 10, 0)
    assert told(acking.min_isr, run) == []
    run.state(30, state(1, 0, (1,)))
    run.acked(40, 11, 1)
    assert len(told(acking.min_isr, run)) == 1


def test_who_was_not_told_of_a_smaller_isr_may_ack_at_its_epoch() -> None:
    """The controller dropped a follower that lives, and its word to the leader is late."""
    run = cluster()
    run.topic(min_insync_replicas="2")
    run.state(10, state(1, 1, (1,)))
    run.acked(20, 10, 0)
    run.keep(log(1, Batch(0, (10,))))
    assert told(acking.min_isr, run) == []
    run.keep(log(1, Batch(0, (10,), epoch=1)))
    assert "1 sends to orders-0 were acked while its ISR was [1]" in told(acking.min_isr, run)[0]


def test_the_isr_that_a_leader_asked_for_counts_from_when_it_was_answered() -> None:
    run = cluster()
    run.topic(min_insync_replicas="2")
    run.event(9, 1, "isr-proposed", before=[1, 2], after=[1], epoch=0)
    run.state(10, state(1, 0, (1,)))
    run.acked(20, 10, 0)
    assert told(acking.min_isr, run) == []  # it never heard of it
    run.event(30, 1, "isr-shrunk", before=[1, 2], after=[1], epoch=0)
    assert told(acking.min_isr, run) == []
    run.acked(40, 11, 1)
    assert "The first is number 11" in told(acking.min_isr, run)[0]


def test_what_too_few_replicas_refused_is_not_there() -> None:
    run = cluster()
    told_of = (
        (10, Kind.REFUSED, "NOT_ENOUGH_REPLICAS"),
        (11, Kind.UNKNOWN, "NOT_ENOUGH_REPLICAS_AFTER_APPEND"),
        (12, Kind.UNKNOWN, "NOT_ENOUGH_REPLICAS"),  # an earlier attempt may have got through
    )
    for number, kind, why in told_of:
        run.send(5, number)
        run.answer(6, kind, number, why=why)
    run.keep(log(1, Batch(0, (11, 12))))
    assert told(acking.min_isr, run) == []
    run.keep(log(1, Batch(0, (10, 11))))
    assert len(told(acking.min_isr, run)) == 1
