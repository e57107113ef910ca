from __future__ import annotations

from logquake.storage.producers.transactions import Transactions


def test_without_transactions_everything_is_stable() -> None:
    transactions = Transactions()
    assert transactions.first_unstable_offset is None
    assert transactions.first_undecided_offset is None


def test_a_decided_transaction_is_unstable_until_its_marker_is_replicated() -> None:
    transactions = Transactions()
    transactions.begin(10, producer_id=1)
    assert transactions.first_unstable_offset == 10
    transactions.end(10, marker_offset=15)
    assert transactions.first_undecided_offset is None
    transactions.replicated_to(15)
    assert transactions.first_unstable_offset == 10
    transactions.replicated_to(16)
    assert transactions.first_unstable_offset is None


def test_the_oldest_transaction_of_either_kind_counts() -> None:
    transactions = Transactions()
    transactions.begin(10, producer_id=1)
    transactions.begin(12, producer_id=2)
    transactions.begin(14, producer_id=3)
    assert transactions.end(10, marker_offset=20) == 12
    assert transactions.end(14, marker_offset=21) == 12
    assert transactions.first_unstable_offset == 10
    transactions.replicated_to(21)
    assert transactions.first_unstable_offset == 12
    assert transactions.end(12, marker_offset=30) == 31
    transactions.replicated_to(31)
    assert transactions.first_unstable_offset is None


def test_a_snapshot_may_name_them_in_any_order() -> None:
    transactions = Transactions()
    transactions.begin(1, producer_id=9)
    transactions.load([(30, 1), (10, 2), (20, 3)])
    assert transactions.first_undecided_offset == 10
    assert transactions.end(20, marker_offset=40) == 10
    assert transactions.end(10, marker_offset=41) == 30
