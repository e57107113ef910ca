"""Transactions against what a reader of committed records saw.

check_transactions is the specification of "no torn transaction": of a transaction that was
committed, every record is read once; of one that was aborted, none; of one whose fate the producer
never learned, all of them once, or none. In each partition a producer's transactions are read in
the order in which they were begun. Nothing is read that belongs to no transaction (KIP-98).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from logquake.chaos.history.numbers import number_of
from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.workloads.readback import ReadRecord

_EXAMPLES = 5


class Fate(Enum):
    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "of unknown fate"


class TransactionName(NamedTuple):
    """A process, and the sequence of its row that began the transaction."""

    producer: str
    sequence: int


@dataclass(slots=True)
class Transaction:
    """``pieces`` are its sends' numbers. It is aborted as long as nobody asked to commit it."""

    pieces: list[int] = field(default_factory=list)
    fate: Fate = Fate.ABORTED


class Ledger:
    """Every transaction of a history, and which one a send belongs to."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.transactions: dict[TransactionName, Transaction] = {}
        self.owners: dict[int, TransactionName] = {}
        for row in rows:
            self._note(row)

    def _note(self, row: Row) -> None:
        name = TransactionName(row.process, row.caused_by or 0)
        match row.what, row.after:
            case Kind.TRANSACTION_BEGUN, _:
                begun = TransactionName(row.process, row.sequence)
                self.transactions[begun] = Transaction()
            case Kind.SEND, _ if name in self.transactions and row.value is not None:
                self.transactions[name].pieces.append(row.value)
                self.owners[row.value] = name
            case Kind.TRANSACTION_ENDING, "commit":
                self.transactions[name].fate = Fate.UNKNOWN
            case Kind.TRANSACTION_ENDED, "committed":
                self.transactions[name].fate = Fate.COMMITTED
            case Kind.TRANSACTION_ENDED, "aborted":
                self.transactions[name].fate = Fate.ABORTED

    def count(self, fate: Fate) -> int:
        return sum(each.fate is fate for each in self.transactions.values())


@dataclass(slots=True)
class Verdict:
    """Counts of transactions, and the first few that are wrong, in words."""

    committed: int = 0
    aborted: int = 0
    unknown: int = 0
    lost: int = 0  # committed, and some of it is not read
    torn: int = 0  # of unknown fate, and a part of it is read
    leaked: int = 0  # aborted, and some of it is read
    doubled: int = 0  # records that are read more than once
    out_of_order: int = 0
    phantom: int = 0  # records of no transaction
    examples: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        wrong = self.lost, self.torn, self.leaked, self.doubled, self.out_of_order, self.phantom
        return not any(wrong)

    def note(self, text: str) -> None:
        if len(self.examples) < _EXAMPLES:
            self.examples.append(text)


def check_transactions(ledger: Ledger, read: Iterable[ReadRecord]) -> Verdict:
    """All records of a topic that transactions alone write to."""
    verdict = Verdict(
        committed=ledger.count(Fate.COMMITTED),
        aborted=ledger.count(Fate.ABORTED),
        unknown=ledger.count(Fate.UNKNOWN),
    )
    times_read = _times_read(ledger, read, verdict)
    for name, transaction in ledger.transactions.items():
        _check(verdict, name, transaction, times_read)
    return verdict


def _times_read(ledger: Ledger, read: Iterable[ReadRecord], verdict: Verdict) -> Counter[int]:
    times: Counter[int] = Counter()
    latest: dict[tuple[int, str], int] = {}
    for record in read:
        number = number_of(record.value)
        owner = ledger.owners.get(number)
        if owner is None:
            verdict.phantom += 1
            verdict.note(f"{record} is of no transaction")
            continue
        times[number] += 1
        producer, sequence = owner
        if sequence < latest.get((record.partition, producer), 0):
            verdict.out_of_order += 1
            verdict.note(f"{record} is read after a later transaction")
        latest[record.partition, producer] = sequence
    return times


def _check(
    verdict: Verdict, name: TransactionName, transaction: Transaction, times: Counter[int]
) -> None:
    counts = [times[number] for number in transaction.pieces]
    there = sum(count > 0 for count in counts)
    doubled = sum(count > 1 for count in counts)
    match transaction.fate:
        case Fate.COMMITTED if there < len(counts):
            verdict.lost += 1
        case Fate.ABORTED if there:
            verdict.leaked += 1
        case Fate.UNKNOWN if 0 < there < len(counts):
            verdict.torn += 1
        case _ if not doubled:
            return
    verdict.doubled += doubled
    verdict.note(f"{name}, {transaction.fate.value}: its records are read {counts} times")
