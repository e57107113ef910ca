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

from logquake.chaos.readback import ReadRecord

_EXAMPLES = 5


class Fate(Enum):
    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "of unknown fate"  # also while it is open


class TransactionName(NamedTuple):
    """Transactions of a producer are numbered in the order in which they begin."""

    producer: str
    number: int


class Piece(NamedTuple):
    """One record of a transaction, as its value names it."""

    transaction: TransactionName
    number: int

    def to_value(self) -> bytes:
        return f"{self.transaction.producer}/{self.transaction.number}/{self.number}".encode()

    @classmethod
    def from_value(cls, value: bytes) -> Piece:
        """Raises ValueError for what to_value() did not write."""
        producer, number, piece = value.decode().rsplit("/", 2)
        return cls(TransactionName(producer, int(number)), int(piece))


@dataclass(slots=True)
class Transaction:
    pieces: int
    fate: Fate = Fate.UNKNOWN


class Ledger:
    """Every transaction, by whoever began it. Each is written to by one thread alone."""

    def __init__(self) -> None:
        self.transactions: dict[TransactionName, Transaction] = {}

    def begin(self, name: TransactionName, pieces: int) -> Transaction:
        """Its fate is written into what this returns."""
        transaction = self.transactions[name] = Transaction(pieces)
        return transaction

    def count(self, fate: Fate) -> int:
        return sum(each.fate is fate for each in list(self.transactions.values()))


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
    verdict = Verdict(
        committed=ledger.count(Fate.COMMITTED),
        aborted=ledger.count(Fate.ABORTED),
        unknown=ledger.count(Fate.UNKNOWN),
    )
    times_read = _times_read(ledger, read, verdict)
    for name, transaction in ledger.transactions.items():
        _check(verdict, name, transaction, times_read)
    return verdict


def _times_read(ledger: Ledger, read: Iterable[ReadRecord], verdict: Verdict) -> Counter[Piece]:
    times: Counter[Piece] = Counter()
    latest: dict[tuple[int, str], int] = {}
    for record in read:
        try:
            piece = Piece.from_value(record.value or b"")
            known = ledger.transactions.get(piece.transaction)
        except ValueError:
            known = None
        if known is None or not 0 <= piece.number < known.pieces:
            verdict.phantom += 1
            verdict.note(f"{record} is of no transaction")
            continue
        times[piece] += 1
        producer, number = piece.transaction
        if number < latest.get((record.partition, producer), 0):
            verdict.out_of_order += 1
            verdict.note(f"{record} is read after a later transaction")
        latest[record.partition, producer] = number
    return times


def _check(
    verdict: Verdict, name: TransactionName, transaction: Transaction, times: Counter[Piece]
) -> None:
    counts = [times[Piece(name, number)] for number in range(transaction.pieces)]
    there = sum(count > 0 for count in counts)
    doubled = sum(count > 1 for count in counts)
    match transaction.fate:
        case Fate.COMMITTED if there < transaction.pieces:
            verdict.lost += 1
        case Fate.ABORTED if there:
            verdict.leaked += 1
        case Fate.UNKNOWN if 0 < there < transaction.pieces:
            verdict.torn += 1
        case _ if not doubled:
            return
    verdict.doubled += doubled
    verdict.note(f"{name}, {transaction.fate.value}: its records are read {counts} times")
