"""Invariants 1 to 5: what was acked and read is there, and is what it was."""

from __future__ import annotations

import pytest

from logquake.chaos.checkers.acked import durable, readable, unpromised
from logquake.chaos.checkers.case import Case
from logquake.chaos.checkers.demands import Demands
from logquake.chaos.checkers.values import no_phantom, one_value, repeatable_read
from logquake.chaos.history.rows import Kind
from tests.chaos.checkers.literals import PRODUCER, Batch, P, Run, cluster, log, state, told

BOTH = Batch(0, (10, 11))


def acked_both() -> Run:
    run = cluster()
    run.acked(10, 10, 0)
    run.acked(11, 11, 1)
    return run


def test_durable_is_what_every_member_of_the_isr_holds() -> None:
    run = acked_both()
    run.keep(log(1, BOTH), log(2, BOTH))
    assert told(durable, run) == []
    run.keep(log(1, BOTH), log(2, Batch(0, (10,))))
    (lost,) = told(durable, run)
    assert "1 acked sends to orders-0 are not in broker 2 of the ISR, offsets 1 to 1" in lost
    run.keep(log(1, BOTH))
    assert len(told(durable, run)) == 1


def test_who_left_the_isr_need_not_hold_it() -> None:
    run = acked_both()
    run.state(5, state(1, 0, (1,)))
    run.keep(log(1, BOTH), log(2, Batch(0, (10,))))
    assert told(durable, run) == []


def test_what_was_deleted_is_not_lost() -> None:
    run = acked_both()
    later = Batch(2, (12,))
    run.keep(log(1, later, start=2), log(2, later, start=2))
    assert told(durable, run) == []


def test_compaction_takes_what_a_later_record_of_its_key_replaced() -> None:
    run = cluster()
    run.topic(cleanup_policy="compact")
    for number, key in ((10, "a"), (11, "b"), (12, "a")):
        run.send(9, number, key=key)
        run.answer(10, Kind.ACKED, number, offset=number - 10)
    run.keep(log(1, Batch(1, (11, 12))), log(2, Batch(1, (11, 12))))
    assert told(durable, run) == []
    run.keep(log(1, Batch(2, (12,))), log(2, Batch(2, (12,))))
    assert len(told(durable, run)) == 2


def test_an_unknown_outcome_and_acks_of_1_promise_nothing() -> None:
    run = cluster()
    run.producer("producer-2", acks="1", idempotent=False)
    run.send(9, 10)
    run.answer(10, Kind.UNKNOWN, 10, why="_MSG_TIMED_OUT")
    run.acked(12, 11, 0, "producer-2")
    run.keep(log(1, Batch(0, (99,))), log(2, Batch(0, (99,))))
    assert told(durable, run) == []
    (noted,) = told(unpromised, run)
    assert "offset 0 was acked at epoch 0 by broker 1 at 00:00:00.012, to producer-2" in noted
    strict = Demands(acks_that_promise=("all", "1"))
    assert len(told(durable, run, demands=strict)) == 2


def test_a_chain_tells_how_it_was_lost() -> None:
    run = acked_both()
    run.state(20, state(2, 1, (2,), recovering=True))
    run.state(21, state(2, 1, (2, 1)))
    run.event(25, 1, "log-truncated", before=2, after=1, why="broker 2 leads from offset 1 on")
    run.keep(log(1, Batch(0, (10,))), log(2, Batch(0, (10,))))
    chain = next(durable(run.case())).chain
    assert chain == (
        "00:00:00.000 orders-0 begins: broker 1 leads it, its ISR is [1, 2]",
        "00:00:00.020 broker 2 was elected to lead orders-0 at epoch 1, after broker 1; its ISR is "
        "[2], it was [1, 2]",
        "00:00:00.021 the ISR of orders-0 went from [2] to [2, 1] at epoch 1",
        "00:00:00.025 broker 1 truncated orders-0 from 2 to 1: broker 2 leads from offset 1 on",
    )


def test_a_chain_gives_the_reasons_that_brokers_wrote_down() -> None:
    run = acked_both()
    chosen = "its broker was gone at the failover"
    run.state(20, state(-1, 1, (1,)))
    run.event(20, 2, "leader-lost", epoch=9, after=controllers(-1, 1, 1), why=chosen)
    run.state(21, state(2, 2, (2,)))
    run.event(22, 2, "unclean-leader-elected", epoch=9, after=controllers(2, 2, 2), why="unclean")
    run.event(22, 2, "role-changed", epoch=2, before="follower", after="leader", why="log end 1")
    run.event(22, 1, "role-changed", epoch=2, before="leader", after="follower", why="log end 2")
    run.event(23, 2, "isr-proposed", epoch=2, before=[2], after=[2, 1], why="it caught up")
    run.state(24, state(2, 2, (2, 1)))
    run.event(25, 2, "isr-proposed", epoch=2, before=[2, 1], after=[2], why="it lags")
    run.keep(log(1, Batch(0, (10,))), log(2, Batch(0, (10,))))
    assert next(durable(run.case())).chain == (
        "00:00:00.000 orders-0 begins: broker 1 leads it, its ISR is [1, 2]",
        "00:00:00.020 orders-0 has no leader from epoch 1 on, its ISR stays [1] "
        "(its broker was gone at the failover)",
        "00:00:00.021 broker 2 was elected unclean to lead orders-0 at epoch 2: it was not in the "
        "ISR [1] (unclean)",
        "00:00:00.022 broker 2 began to lead orders-0 at epoch 2: log end 1",
        "00:00:00.024 the ISR of orders-0 went from [2] to [2, 1] at epoch 2 (it caught up)",
        "00:00:00.025 broker 2: isr-proposed ([2, 1] to [2]) at epoch 2: it lags",
    )


def controllers(leader: int, epoch: int, *isr: int) -> dict[str, object]:
    return {"leader": leader, "leader_epoch": epoch, "isr": list(isr)}


@pytest.mark.parametrize(("read", "problems"), [((10, 11), 0), ((10,), 1), ((), 1)])
def test_a_late_reader_reads_every_ack(read: tuple[int, ...], problems: int) -> None:
    run = acked_both()
    run.reader(50, *read)
    run.keep(log(1, BOTH), log(2, BOTH))
    assert len(told(readable, run)) == problems


def test_a_late_reader_reads_it_where_it_was_acked() -> None:
    run = acked_both()
    run.reader(50, 11, 10)
    run.keep(log(1, BOTH), log(2, BOTH))
    assert "2 acked sends to orders-0 are not in what reader-2 read" in told(readable, run)[0]


def test_a_reader_of_committed_records_need_not_read_the_others() -> None:
    run = cluster()
    run.transaction(10, {10: 0})
    run.transaction(20, {11: 2}, asked="abort", outcome="aborted")
    run.reader(50, 10, isolation="read_committed")
    assert told(readable, run) == []


def test_a_record_that_nobody_sent_is_a_phantom() -> None:
    run = acked_both()
    run.keep(log(1, BOTH, Batch(2, (99,))))
    (problem,) = told(no_phantom, run, is_quiet=False)
    assert "1 records in orders-0 were sent by nobody, the first at offset 2, number 99" in problem


def test_what_was_refused_is_nowhere_and_what_is_unknown_may_be() -> None:
    run = acked_both()
    run.send(12, 12)
    run.answer(13, Kind.UNKNOWN, 12, why="_TIMED_OUT")
    run.send(12, 13)
    whole = Batch(0, (10, 11, 12, 13))
    run.keep(log(1, whole), log(2, whole))
    assert told(no_phantom, run) == []
    run.answer(14, Kind.REFUSED, 13, why="MSG_SIZE_TOO_LARGE")
    assert "1 records in orders-0 were refused" in told(no_phantom, run)[0]


def test_beyond_the_high_watermark_nothing_is_a_phantom() -> None:
    run = acked_both()
    run.keep(log(1, BOTH, Batch(2, (99,))), log(2, BOTH))
    assert told(no_phantom, run) == []


def test_an_offset_has_one_value_for_all() -> None:
    run = acked_both()
    run.poll(20, 0, 10, 11)
    run.keep(log(1, BOTH), log(2, BOTH))
    assert told(one_value, run) == []
    run.poll(30, 1, 12)
    problems = told(one_value, run)
    assert "offset 1 of orders-0 was told to be number 11 and number 12" in problems[0]
    assert len(problems) == 3  # and on neither replica is it 12


def test_what_was_read_stays() -> None:
    run = acked_both()
    run.poll(20, 0, 10, 11)
    run.keep(log(1, BOTH), log(2, BOTH))
    assert told(repeatable_read, run) == []
    run.keep(log(1, Batch(0, (10,))), log(2, BOTH))
    (problem,) = told(repeatable_read, run)
    assert problem.startswith("reader-2 read number 11 at offset 1 of orders-0, which is not there")


def test_a_case_without_anything_has_nothing_wrong() -> None:
    empty = Case(Run.empty().evidence())
    for check in (durable, unpromised, readable, no_phantom, one_value, repeatable_read):
        assert list(check(empty)) == []


def test_processes_are_told_apart() -> None:
    run = acked_both()
    run.acked(20, 12, 2, "producer-9")  # of which nobody knows what it was told
    run.keep(log(1, BOTH), log(2, BOTH))
    assert told(durable, run) == []
    assert P in told(unpromised, run)[0]
    assert PRODUCER not in told(unpromised, run)[0]
