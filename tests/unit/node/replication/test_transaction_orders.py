"""No order of messages tears a transaction or leaves one open; planted bugs are found."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from logquake.node.replication.partition.replica_log import ReplicaLog
from logquake.node.replication.settings import TopicConfig
from logquake.storage.log.transactions import LogTransactions
from logquake.storage.log_config import LogConfig
from logquake.storage.producers import rules
from logquake.storage.producers.verification import Verifications
from tests.doubles.memory_disk import MemoryDisk
from tests.doubles.network import ScriptedNetwork
from tests.unit.node.replication.one_broker import OneBroker
from tests.unit.node.replication.transaction_orders import TransactionOrders, Violation

SEEDS = 25
SEEDS_A_BUG = 50
VERIFIED = LogConfig()
STABLE = "last stable is"
TORN = "transaction .* (ended what is of|is committed, and not whole)"
HANGS = "readers of committed records wait"

Start = Callable[[MemoryDisk], OneBroker]


@pytest.fixture
def run(start: Start, network: ScriptedNetwork) -> Callable[..., TransactionOrders]:
    def run_seed(seed: int, config: LogConfig = VERIFIED) -> TransactionOrders:
        network.sent.clear()
        broker = start(MemoryDisk())
        broker.config = TopicConfig(log=config)
        orders = TransactionOrders(broker, network, seed)
        orders.run()
        return orders

    return run_seed


def test_no_order_tears_a_transaction_or_leaves_it_open(
    run: Callable[..., TransactionOrders],
) -> None:
    runs = [run(seed) for seed in range(SEEDS)]
    assert sum(each.ended for each in runs) >= 3 * SEEDS
    assert sum(each.refused for each in runs) >= 3 * SEEDS


def with_reads_past_what_is_open(patch: pytest.MonkeyPatch) -> None:
    mark = property(lambda replica: replica.high_watermark)
    patch.setattr(ReplicaLog, "last_stable_offset", mark)


def with_reads_past_what_is_not_replicated(patch: pytest.MonkeyPatch) -> None:
    """The end of a transaction counts before its marker is below the high watermark."""

    def undecided(log: LogTransactions) -> int | None:
        return log._state.producers.transactions.first_undecided_offset

    patch.setattr(LogTransactions, "first_unstable_offset", property(undecided))


def with_markers_of_any_coordinator_epoch(patch: pytest.MonkeyPatch) -> None:
    check = rules.check_end_marker
    patch.setattr(
        rules, "check_end_marker", lambda entry, header, _epoch: check(entry, header, 2**31)
    )


def with_verifications_that_outlive_a_marker(patch: pytest.MonkeyPatch) -> None:
    """An answer from before the end of a transaction opens it again."""
    patch.setattr(Verifications, "end", lambda _self, _producer_id: None)


def first_violation(run: Callable[..., TransactionOrders], config: LogConfig = VERIFIED) -> str:
    for seed in range(SEEDS_A_BUG):
        try:
            run(seed, config)
        except Violation as violation:
            return str(violation)
    return "nothing was found"


@pytest.mark.parametrize(
    ("plant", "found"),
    [
        (with_reads_past_what_is_open, STABLE),
        (with_reads_past_what_is_not_replicated, STABLE),
        (with_markers_of_any_coordinator_epoch, TORN),
        (with_verifications_that_outlive_a_marker, f"{TORN}|{HANGS}"),
    ],
)
def test_a_planted_bug_is_found(
    plant: Callable[[pytest.MonkeyPatch], None],
    found: str,
    run: Callable[..., TransactionOrders],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant(monkeypatch)
    assert re.match(found, first_violation(run))


def test_without_verification_a_late_batch_leaves_a_transaction_open(
    run: Callable[..., TransactionOrders],
) -> None:
    unverified = replace(VERIFIED, transactions_verified=False)
    assert re.match(f"{TORN}|{HANGS}", first_violation(run, unverified))
