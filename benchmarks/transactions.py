"""Transactions: a record to each of some partitions with three replicas, with offsets or without.

The producers are this process's own (``clients``). Each waits as the Java client does when the
markers of its last transaction are still on their way, so that there are more of them than a
cluster of this machine has to do with at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from benchmarks.clients.cluster import OpenLines, look_at
from benchmarks.clients.driver import run
from benchmarks.clients.producer import TransactionalProducer
from benchmarks.clients.repeating import Act, repeat
from benchmarks.figures import Figures
from benchmarks.rounds import Case
from benchmarks.target import Target
from benchmarks.topics import scratch_topic

PRODUCERS = 40
PARTITIONS = 12
IN_EACH = 3  # partitions of a transaction
REPLICAS = 3

_WARM_UP_SHARE = 0.375

Transaction = Callable[[TransactionalProducer], Act]


def transactions_cases(seconds: float) -> list[Case[Target]]:
    return [
        _case("transaction", lambda producer: producer.write, seconds),
        _case(
            "transaction with offsets", lambda producer: producer.write_and_commit_offsets, seconds
        ),
    ]


def _case(name: str, transaction: Transaction, seconds: float) -> Case[Target]:
    measured = partial(_measure, transaction)
    return Case(
        f"{name}, {IN_EACH} partitions",
        lambda target: measured(target, seconds),
        lambda target: measured(target, seconds * _WARM_UP_SHARE),
    )


def _measure(transaction: Transaction, target: Target, seconds: float) -> Figures:
    with scratch_topic(target.bootstrap, PARTITIONS, REPLICAS) as topic:
        cluster = look_at(target.bootstrap, topic)
        with OpenLines(cluster, PRODUCERS) as lines:
            producers = [
                TransactionalProducer(each, cluster, _new_id(), _partitions(number))
                for number, each in enumerate(lines.of)
            ]
            run(each.begin() for each in producers)
            return repeat(target, map(transaction, producers), seconds, "transaction")


def _partitions(number: int) -> list[int]:
    """Some in a row, which most often have different leaders."""
    return [(number * IN_EACH + index) % PARTITIONS for index in range(IN_EACH)]


def _new_id() -> str:
    return f"benchmark-{os.urandom(4).hex()}"
