"""What a program's calls make of its transactions."""

from __future__ import annotations

import pytest

from logquake.client.clock import SystemClock
from logquake.client.driving.steps import Steps, Wait
from logquake.client.errors import BrokerError, ProducerClosedError
from logquake.client.producer.idempotence.identity import Identity
from logquake.client.producer.transactions.operation import Operation
from logquake.client.producer.transactions.producer_states import Aborting, Failed, Remedy
from logquake.client.producer.transactions.steps import TransactionSteps
from logquake.client.producer.transactions.transactions import Transactions
from logquake.wire.errors import ErrorCode

MAX_BLOCK_MS = 60_000


ERROR = BrokerError(ErrorCode.INVALID_RECORD, "t-0")


def committing() -> tuple[Transactions, Operation, Steps[None]]:
    """Transactions, a commit of them that the program waits for no more, and what close() does."""
    transactions = Transactions("mine", 60_000)
    transactions.course.named(Identity(9, 0))
    transactions.begin()
    commit = transactions.commit()
    steps = TransactionSteps(transactions, SystemClock(), MAX_BLOCK_MS, lambda: "")
    return transactions, commit, steps.end_what_is_open(SystemClock().now_ms() + MAX_BLOCK_MS)


def test_close_aborts_what_has_failed_after_its_commit_had_timed_out() -> None:
    transactions, commit, closing = committing()
    transactions.record_failed(ERROR)
    commit.fail(ERROR)  # nobody waits for it any more
    before = transactions.state
    assert isinstance(before, Failed)
    assert is_over(closing)
    assert not is_over(closing)
    after = transactions.state
    assert isinstance(after, Aborting)


def test_close_aborts_what_is_refused_while_it_waits_for_the_commit() -> None:
    transactions, commit, closing = committing()
    wait = next(closing)
    assert isinstance(wait, Wait)
    assert not wait.is_done()
    transactions.course.fail_to_end(ERROR, Remedy.ABORT)
    assert not wait.is_done()  # its operation is
    commit.fail(ERROR)
    assert wait.is_done()
    assert not is_over(closing)
    after = transactions.state
    assert isinstance(after, Aborting)


def is_over(closing: Steps[None]) -> bool:
    """What it waits for next."""
    wait = next(closing)
    assert isinstance(wait, Wait)
    return wait.is_done()


def test_who_calls_while_another_thread_closes_hears_that_it_is_closed() -> None:
    """And not that it was the wrong call: what close() aborts is not the caller's any more."""
    transactions = Transactions("mine", 60_000)
    transactions.course.named(Identity(9, 0))
    transactions.begin()
    steps = TransactionSteps(transactions, SystemClock(), MAX_BLOCK_MS, lambda: "")
    steps.begin_close()
    next(steps.end_what_is_open(SystemClock().now_ms() + MAX_BLOCK_MS))
    for call in (steps.commit(), steps.abort(), steps.begin(), steps.init()):
        with pytest.raises(ProducerClosedError):
            next(call)
    with pytest.raises(ProducerClosedError):
        steps.check_may_send()
