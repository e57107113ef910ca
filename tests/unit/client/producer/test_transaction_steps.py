"""What a program's calls make of its transactions."""

from __future__ import annotations

from logquake.client.clock import SystemClock
from logquake.client.driving.steps import Wait
from logquake.client.errors import BrokerError
from logquake.client.producer.identity import Identity
from logquake.client.producer.transactions.producer_states import Aborting, Failed
from logquake.client.producer.transactions.steps import TransactionSteps
from logquake.client.producer.transactions.transactions import Transactions
from logquake.wire.errors import ErrorCode

MAX_BLOCK_MS = 60_000


def test_close_aborts_what_has_failed_after_its_commit_had_timed_out() -> None:
    transactions = Transactions("mine", 60_000)
    transactions.course.named(Identity(9, 0))
    transactions.begin()
    commit = transactions.commit()
    error = BrokerError(ErrorCode.INVALID_RECORD, "t-0")
    transactions.record_failed(error)
    commit.fail(error)  # nobody waits for it any more
    before = transactions.state
    assert isinstance(before, Failed)
    steps = TransactionSteps(transactions, SystemClock(), MAX_BLOCK_MS, lambda: "")
    wait = next(steps.end_what_is_open(SystemClock().now_ms() + MAX_BLOCK_MS))
    after = transactions.state
    assert isinstance(after, Aborting)
    assert isinstance(wait, Wait)
    assert not wait.is_done()
