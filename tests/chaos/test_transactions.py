"""The checker of transactions on tiny literal histories, good and bad."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.transactions import Fate, Ledger, Verdict, check_transactions
from logquake.chaos.workloads.readback import ReadRecord

FIRST, SECOND = 1, 10  # the sequences of the rows that begin them


def transaction(begun: int, fate: Fate, *numbers: int) -> Iterator[Row]:
    yield row(Kind.TRANSACTION_BEGUN, begun)
    for number in numbers:
        yield row(Kind.SEND, begun + number, value=number, caused_by=begun)
    if fate is not Fate.ABORTED:
        yield row(Kind.TRANSACTION_ENDING, begun + 8, after="commit", caused_by=begun)
    if fate is Fate.COMMITTED:
        yield row(Kind.TRANSACTION_ENDED, begun + 9, after="committed", caused_by=begun)


def row(what: Kind, sequence: int, **fields: Any) -> Row:
    return Row(0, "p", sequence, what, "t-1")._replace(**fields)


def judge(first: Fate, *values: bytes, second: Fate = Fate.COMMITTED) -> Verdict:
    """Two transactions of one producer, of two records and of one, in one partition."""
    rows = [*transaction(FIRST, first, 1, 2), *transaction(SECOND, second, 3)]
    read = [ReadRecord(0, offset, None, value) for offset, value in enumerate(values)]
    return check_transactions(Ledger(rows), read)


WHOLE = (b"1", b"2")
NEXT = b"3"


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


def test_a_commit_that_failed_and_was_aborted_instead_is_aborted() -> None:
    ended = row(Kind.TRANSACTION_ENDED, 9, after="aborted", caused_by=FIRST)
    ledger = Ledger([*transaction(FIRST, Fate.UNKNOWN, 1), ended])
    assert ledger.count(Fate.ABORTED) == 1


def test_a_record_that_is_read_twice_is_doubled() -> None:
    assert judge(Fate.COMMITTED, *WHOLE, WHOLE[1], NEXT).doubled == 1


def test_a_record_of_an_earlier_transaction_is_out_of_order() -> None:
    assert judge(Fate.COMMITTED, WHOLE[0], NEXT, WHOLE[1]).out_of_order == 1


@pytest.mark.parametrize("value", [b"7", b"nothing", b""])
def test_a_record_of_no_transaction_is_a_phantom(value: bytes) -> None:
    assert judge(Fate.COMMITTED, *WHOLE, NEXT, value).phantom == 1
