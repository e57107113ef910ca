"""On tiny literal histories of transactions what is wrong is named, and what is right is not."""

from __future__ import annotations

import pytest

from logquake.node.coordinators.transactions.metadata import Producer
from logquake.wire.topic_partition import TopicPartition
from tests.sim.transactions.ledger import Attempt, Ledger

PLACE = TopicPartition("orders", 0)
FIRST, SECOND = Producer(7, 0), Producer(7, 1)


@pytest.fixture
def ledger() -> Ledger:
    ledger = Ledger()
    ledger.begin_epoch("t", FIRST, None)
    return ledger


@pytest.fixture
def attempt(ledger: Ledger) -> Attempt:
    """One record was handed over, and left in a batch."""
    attempt = ledger.begin("t", FIRST)
    attempt.records.add(b"a")
    ledger.send(attempt, 100, PLACE, [b"a"])
    return attempt


def problems(ledger: Ledger) -> list[str]:
    return list(ledger.take_problems())


def commit(ledger: Ledger, attempt: Attempt) -> None:
    ledger.ask(attempt, committed=True)
    ledger.see(PLACE, FIRST.id, 100)
    ledger.see_marker(PLACE, FIRST, commits=True)
    ledger.tell(attempt, committed=True)


def test_what_is_committed_was_acked(ledger: Ledger, attempt: Attempt) -> None:
    ledger.ack(100, [b"a"], was_latest=True)
    commit(ledger, attempt)
    assert problems(ledger) == []


def test_a_commit_waits_for_its_records(ledger: Ledger, attempt: Attempt) -> None:
    commit(ledger, attempt)
    (problem,) = problems(ledger)
    assert "[b'a'] were not acked" in problem


def test_what_is_left_of_a_transaction_goes_nowhere(ledger: Ledger, attempt: Attempt) -> None:
    ledger.tell(attempt, committed=False)
    ledger.send(attempt, 101, PLACE, [b"a"])
    following = ledger.begin("t", FIRST)
    ledger.send(following, 102, PLACE, [b"a"])
    late, foreign = problems(ledger)
    assert "left after the end" in late
    assert "is of another one" in foreign


def test_a_transaction_is_asked_to_end_one_way(ledger: Ledger, attempt: Attempt) -> None:
    ledger.ask(attempt, committed=True)
    ledger.ask(attempt, committed=True)
    assert problems(ledger) == []
    ledger.ask(attempt, committed=False)
    assert len(problems(ledger)) == 1


def test_who_is_fenced_writes_nothing(ledger: Ledger, attempt: Attempt) -> None:
    ledger.begin_epoch("t", SECOND, FIRST)
    assert not ledger.is_latest("t", FIRST)
    ledger.ack(100, [b"a"], was_latest=False)
    (problem,) = problems(ledger)
    assert str(attempt) in problem


def test_epochs_go_on(ledger: Ledger) -> None:
    ledger.begin_epoch("t", SECOND, FIRST)
    ledger.begin_epoch("t", FIRST, None)  # told late, asked for before anybody had one
    assert ledger.is_latest("t", SECOND)
    assert problems(ledger) == []
    ledger.begin_epoch("t", SECOND, SECOND)
    assert len(problems(ledger)) == 1
