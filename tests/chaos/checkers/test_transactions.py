"""Invariants 22 to 26: transactions, liveness, and whether anything was shown."""

from __future__ import annotations

import pytest

from logquake.chaos.checkers import Demands, Verdict, judge
from logquake.chaos.checkers.liveness import live, too_little
from logquake.chaos.checkers.transactions import atomic, exactly_once, no_hang
from logquake.chaos.history.rows import Kind
from logquake.wire.records import ControlType
from logquake.wire.sentinels import NO_LEADER
from tests.chaos.checkers.literals import (
    PRODUCER,
    READER,
    Batch,
    P,
    Run,
    cluster,
    log,
    marker,
    state,
    told,
)

Q = "orders-1"
COMMIT, ABORT = ControlType.COMMIT, ControlType.ABORT


def written(first: int, *values: int) -> Batch:
    return Batch(first, values, 0, (7, 0, 0), transactional=True)


def transaction(
    end: ControlType | None, asked: str | None = "commit", outcome: str | None = "committed"
) -> Run:
    """Of two records in one partition."""
    run = cluster()
    run.transaction(10, {10: 0, 11: 1}, asked, outcome)
    ends = () if end is None else (marker(2, end, (7, 0)),)
    run.keep(log(1, written(0, 10, 11), *ends))
    return run


@pytest.mark.parametrize(
    ("end", "asked", "outcome", "problem"),
    [
        (COMMIT, "commit", "committed", None),
        (ABORT, "abort", "aborted", None),
        (COMMIT, "commit", "unknown", None),
        (ABORT, "commit", "unknown", None),
        (ABORT, None, None, None),
        (None, None, None, None),
        (ABORT, "commit", "committed", "was told to be committed: it is aborted"),
        (None, "commit", "committed", "was told to be committed: it is open"),
        (COMMIT, "abort", "aborted", "was aborted, asked to abort: it is committed"),
        (COMMIT, "abort", "unknown", "was unknown, asked to abort: it is committed"),
        (COMMIT, None, None, "was unknown, asked to do nothing: it is committed"),
    ],
)
def test_a_transaction_ends_as_its_client_was_told(
    end: ControlType | None, asked: str | None, outcome: str | None, problem: str | None
) -> None:
    problems = told(atomic, transaction(end, asked, outcome))
    assert (problem is None and not problems) or (problem or "") in problems[0]


def test_what_another_of_its_transactional_id_asked_for_is_told() -> None:
    run = transaction(COMMIT, "abort", "aborted")
    begun = run.row(5, "zombie", Kind.TRANSACTION_BEGUN, "tx")
    run.row(6, "zombie", Kind.TRANSACTION_ENDING, "tx", after="commit", caused_by=begun)
    (violation,) = atomic(run.case())
    assert "zombie asked to commit another, as 'tx'" in violation.chain[0]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("commit", "producer-1 asked to commit it; number 10 of it was acked before that"),
        (None, "producer-1 began it, and never ended it"),
    ],
)
def test_of_a_transaction_that_hangs_it_is_told_what_its_client_knows(
    asked: str | None, said: str
) -> None:
    (violation,) = no_hang(transaction(None, asked, None).case())
    assert said in violation.chain[0]


def test_a_record_that_came_behind_the_end_is_told() -> None:
    run = transaction(ABORT, "abort", "aborted")
    run.answer(20, Kind.ACKED, 11, offset=3)
    run.keep(log(1, written(0, 10), marker(1, ABORT, (7, 0)), written(2, 11)))
    (violation,) = no_hang(run.case())
    assert "asked to abort it; number 11 of it was acked after that" in violation.chain[0]


@pytest.mark.parametrize(
    ("other", "problems"), [(marker(1, COMMIT, (7, 0)), 0), (marker(1, ABORT, (7, 0)), 1)]
)
def test_a_transaction_ends_alike_everywhere(other: Batch, problems: int) -> None:
    run = cluster()
    begun = run.row(10, PRODUCER, Kind.TRANSACTION_BEGUN, "tx")
    for number, partition in ((10, P), (11, Q)):
        run.send(11, number, subject=partition, caused_by=begun)
    run.row(12, PRODUCER, Kind.TRANSACTION_ENDING, "tx", after="commit", caused_by=begun)
    run.keep(log(1, written(0, 10), marker(1, COMMIT, (7, 0))))
    run.keep(log(1, written(0, 11), other), partition=Q)
    assert len(told(atomic, run)) == problems


def test_a_part_that_is_missing_tears_a_transaction() -> None:
    run = transaction(COMMIT)
    run.keep(log(1, written(0, 10), marker(1, COMMIT, (7, 0))))
    assert "in part not there" in told(atomic, run)[0]
    run.keep(log(1, marker(1, COMMIT, (7, 0)), start=1))  # deleted
    assert told(atomic, run) == []


def test_nobody_who_reads_committed_records_sees_aborted_ones() -> None:
    for isolation, problems in (("read_uncommitted", 0), ("read_committed", 1)):
        run = transaction(ABORT, "abort", "aborted")
        run.reader(50, 10, isolation=isolation)
        assert len(told(atomic, run)) == problems


def test_no_transaction_stays_open() -> None:
    assert told(no_hang, transaction(COMMIT)) == []
    assert told(no_hang, transaction(None)) == [
        "a transaction of producer 7, epoch 0, is open in orders-0 since offset 0"
    ]


def move(
    run: Run, numbers: dict[int, int], upto: int, process: str = PRODUCER, group: str = "g"
) -> None:
    """One transaction with these records, each made of that offset of "input-0"."""
    begun = run.row(10, process, Kind.TRANSACTION_BEGUN, group)
    for number, origin in numbers.items():
        run.send(11, number, process, caused_by=begun, before=["input-0", origin])
    run.row(12, process, Kind.COMMIT_ASKED, "input-0", group=group, offset=upto, caused_by=begun)
    run.row(13, process, Kind.TRANSACTION_ENDING, group, after="commit", caused_by=begun)
    run.row(14, process, Kind.TRANSACTION_ENDED, group, after="committed", caused_by=begun)


def moved(*outputs: int, end: ControlType = COMMIT, upto: int = 2) -> Run:
    """What was made of offsets 0 and 1 of "input-0", in one transaction."""
    run = cluster()
    move(run, dict(enumerate(outputs, 10)), upto)
    numbers = range(10, 10 + len(outputs))
    run.keep(log(1, written(0, *numbers), marker(len(outputs), end, (7, 0))))
    return run


def test_each_input_yields_one_committed_output() -> None:
    assert told(exactly_once, moved(0, 1)) == []
    assert told(exactly_once, moved(0, 1, 1)) == [
        "1 offsets of input-0 yielded more than one output of group g, the first is 1"
    ]
    assert told(exactly_once, moved(0, 1, end=ABORT)) == [
        "2 offsets of input-0 yielded no output of group g, the first is 0"
    ]
    assert told(exactly_once, moved(0, 1, end=ABORT, upto=0)) == []  # it is to be taken again


def test_groups_that_move_the_same_each_have_an_output_of_their_own() -> None:
    run = moved(0, 1)
    move(run, {20: 0}, upto=1, process="mover-h", group="h")
    move(run, {21: 0}, upto=1, process="mover-i", group="i")
    run.keep(log(1, written(0, 10, 11, 20), marker(3, COMMIT, (7, 0))))
    assert told(exactly_once, run) == [
        "1 offsets of input-0 yielded no output of group i, the first is 0"
    ]


def test_at_the_end_all_are_led_and_in_sync() -> None:
    run = cluster()
    assert told(live, run) == []
    run.state(10, state(1, 0, (1,)))
    assert told(live, run) == ["the ISR of orders-0 is [1], its replicas [1, 2]"]
    run.state(11, state(NO_LEADER, 1, (1,)))
    assert told(live, run) == ["orders-0 has no leader, its ISR is [1]"]


def test_sends_succeed_some_time_after_all_is_healed() -> None:
    run = cluster()
    begun = run.row(10, "harness", Kind.FAULT_BEGUN, "broker-1", after={"kind": "kill"})
    run.row(20, "harness", Kind.FAULT_ENDED, "broker-1", caused_by=begun)
    run.send(25, 10)
    run.answer(26, Kind.UNKNOWN, 10, why="_TIMED_OUT")
    assert told(live, run, demands=Demands(recovery_us=10_000)) == []
    run.send(40, 11)
    run.answer(41, Kind.UNKNOWN, 11, why="_TIMED_OUT")
    (problem,) = told(live, run, demands=Demands(recovery_us=10_000))
    assert "1 sends to orders-0 failed though all was healed at 00:00:00.020" in problem


@pytest.mark.parametrize("why", ["_PURGE_QUEUE", "TransactionAbortedException"])
def test_what_a_client_took_back_itself_is_no_failure(why: str) -> None:
    run = cluster()
    run.send(40, 10)
    run.answer(41, Kind.UNKNOWN, 10, why=why)
    assert told(live, run, demands=Demands(recovery_us=10_000)) == []


def test_what_ended_by_itself_knows_of_all_its_sends() -> None:
    run = cluster()
    run.send(10, 10)
    assert told(live, run) == []  # it was killed, or still runs
    run.row(20, PRODUCER, Kind.ENDED, PRODUCER)
    assert "1 sends to orders-0 never had an outcome" in told(live, run)[0]


def struck() -> Run:
    run = cluster()
    begun = run.row(9, "harness", Kind.FAULT_BEGUN, "broker-1", after={"kind": "kill"})
    run.acked(10, 10, 0)
    run.row(20, "harness", Kind.FAULT_ENDED, "broker-1", caused_by=begun)
    run.acked(30, 11, 1)
    run.state(15, state(2, 1, (2, 1)))
    run.keep(*(log(broker, Batch(0, (10, 11))) for broker in (1, 2)))
    return run


FEW = Demands(acked_under_fault=1)


def test_a_run_in_which_nothing_happened_shows_nothing() -> None:
    assert list(too_little(struck().case(FEW))) == []
    lacking = Demands(acked_under_fault=2, elections=2, truncations=1)
    assert list(too_little(struck().case(lacking))) == [
        "1 sends acked under a fault, of 2 that a run must have",
        "1 elections, of 2 that a run must have",
        "0 truncations, of 1 that a run must have",
    ]


def test_a_judgement_says_what_holds_and_what_was_not_judged() -> None:
    judgement = judge(struck().evidence(), FEW)
    assert judgement.verdict is Verdict.HOLDS, str(judgement)
    rulings = {ruling.number: ruling for ruling in judgement.rulings}
    assert sorted(rulings) == list(range(1, 27))
    assert rulings[1].verdict is Verdict.HOLDS
    assert rulings[24].verdict is Verdict.INCONCLUSIVE
    assert rulings[24].why == "no records made of others"
    assert judge(struck().evidence()).verdict is Verdict.INCONCLUSIVE


def test_a_judgement_is_broken_by_one_violation_whose_chain_it_tells() -> None:
    run = struck()
    run.keep(log(1, Batch(0, (10, 11))), log(2, Batch(0, (10,))))
    judgement = judge(run.evidence(), FEW)
    assert judgement.verdict is Verdict.BROKEN
    broken = {each.invariant for each in judgement.violations}
    assert broken == {"durable", "log matching", "ISR completeness"}
    assert "offset 1 was acked at epoch 1 by broker 2 at 00:00:00.030" in str(judgement)


def test_an_empty_run_is_judged_inconclusive() -> None:
    judgement = judge(Run.empty().evidence())
    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert {ruling.verdict for ruling in judgement.rulings} == {Verdict.INCONCLUSIVE}
    assert READER not in str(judgement)
