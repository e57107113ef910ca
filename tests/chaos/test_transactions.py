"""The checker of transactions on tiny literal histories, good and bad."""

from __future__ import annotations

import pytest

from logquake.chaos.readback import ReadRecord
from logquake.chaos.transactions import (
    Fate,
    Ledger,
    Piece,
    TransactionName,
    Verdict,
    check_transactions,
)

FIRST, SECOND = TransactionName("p", 0), TransactionName("p", 1)


def piece(name: TransactionName, number: int) -> bytes:
    return Piece(name, number).to_value()


def judge(first: Fate, *values: bytes, second: Fate = Fate.COMMITTED) -> Verdict:
    """Two transactions of one producer, of two records and of one, in one partition."""
    ledger = Ledger()
    ledger.begin(FIRST, 2).fate = first
    ledger.begin(SECOND, 1).fate = second
    read = [ReadRecord(0, offset, None, value) for offset, value in enumerate(values)]
    return check_transactions(ledger, read)


WHOLE = (piece(FIRST, 0), piece(FIRST, 1))
NEXT = piece(SECOND, 0)


def test_a_committed_transaction_is_read_whole() -> None:
    verdict = judge(Fate.COMMITTED, *WHOLE, NEXT)
    assert verdict.holds
    assert verdict.committed == 2
    assert judge(Fate.COMMITTED, WHOLE[1], NEXT).lost == 1
    assert judge(Fate.COMMITTED, NEXT).lost == 1


def test_an_aborted_transaction_is_not_read() -> None:
    assert judge(Fate.ABORTED, NEXT).holds
    assert judge(Fate.ABORTED, WHOLE[0], NEXT).leaked == 1


def test_a_transaction_of_unknown_fate_is_read_whole_or_not_at_all() -> None:
    assert judge(Fate.UNKNOWN, NEXT).holds
    assert judge(Fate.UNKNOWN, *WHOLE, NEXT).holds
    verdict = judge(Fate.UNKNOWN, WHOLE[0], NEXT)
    assert (verdict.torn, verdict.holds) == (1, False)
    assert "of unknown fate: its records are read [1, 0] times" in verdict.examples[0]


def test_a_record_that_is_read_twice_is_doubled() -> None:
    assert judge(Fate.COMMITTED, *WHOLE, WHOLE[1], NEXT).doubled == 1


def test_a_record_of_an_earlier_transaction_is_out_of_order() -> None:
    assert judge(Fate.COMMITTED, WHOLE[0], NEXT, WHOLE[1]).out_of_order == 1


@pytest.mark.parametrize("value", [b"p/7/0", b"p/0/2", b"q/0/0", b"nothing", b""])
def test_a_record_of_no_transaction_is_a_phantom(value: bytes) -> None:
    assert judge(Fate.COMMITTED, *WHOLE, NEXT, value).phantom == 1
