"""A log of transactions as Kafka 3.9.1 left it: what is made of it here, to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from logquake.storage.producers.snapshot import decode_snapshot, encode_snapshot
from logquake.storage.segments.txn_index import AbortedTransaction, decode_aborted, encode_aborted
from tests.storage.kafka_wrote import (
    OF_PRODUCERS,
    TRANSACTIONAL,
    files,
    open_log,
    opened_and_closed,
    recovered,
    replicated,
)

END, STABLE_END = 61, 56  # as Kafka told its consumers
ABORTED = [
    AbortedTransaction(2, 12, 18, 2),
    AbortedTransaction(3, 14, 19, 2),
    AbortedTransaction(2, 20, 26, 2),
    AbortedTransaction(3, 30, 35, 2),
    AbortedTransaction(2, 36, 42, 2),
    AbortedTransaction(2, 44, 50, 2),
    AbortedTransaction(1, 2, 51, 46),
    AbortedTransaction(3, 46, 52, 53),
    AbortedTransaction(2, 53, 55, 56),
    AbortedTransaction(2, 58, 60, 56),
]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return opened_and_closed(TRANSACTIONAL, tmp_path / "t-0")


def test_what_was_read_is_written_the_same() -> None:
    found: list[AbortedTransaction] = []
    for content in files(TRANSACTIONAL, ".txnindex").values():
        found += decode_aborted(content)
        assert encode_aborted(decode_aborted(content)) == content
    assert found == ABORTED
    for content in files(TRANSACTIONAL, ".snapshot").values():
        assert encode_snapshot(decode_snapshot(content)) == content


def test_a_start_and_a_stop_change_no_byte(copy: Path) -> None:
    assert files(copy) == files(TRANSACTIONAL)


def test_it_is_understood(copy: Path) -> None:
    log = open_log(copy)
    log.replicated_to(log.end_offset)
    assert (log.end_offset, log.first_unstable_offset) == (END, STABLE_END)
    assert log.aborted_transactions(0, END) == ABORTED
    assert log.aborted_transactions(53, STABLE_END) == ABORTED[-2:-1]
    under_way = [
        (entry.producer_id, entry.current_txn_first_offset)
        for entry in log.producers.entries()
        if entry.in_transaction
    ]
    assert under_way == [(3, STABLE_END)]
    log.close(clean=False)


def test_recovery_makes_every_byte_again(tmp_path: Path) -> None:
    assert files(recovered(TRANSACTIONAL, tmp_path / "t-0")) == files(TRANSACTIONAL)


def test_a_follower_writes_the_same_indexes_and_snapshots(copy: Path, tmp_path: Path) -> None:
    follower = replicated(copy, tmp_path / "follower-0")
    kinds = (".log", *OF_PRODUCERS)
    assert files(follower, *kinds) == files(TRANSACTIONAL, *kinds)
