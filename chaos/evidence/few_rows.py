"""What the few rows tell that become no columns: who began, transactions, assignments, looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any

from logquake.chaos.evidence.clients import NONE, Commit, Transaction
from logquake.chaos.history.rows import Kind, Row

_in_order = itemgetter(Row._fields.index("process"), Row._fields.index("sequence"))


class Told:
    """Each process's rows are taken in its order, whatever order they come in."""

    def __init__(self) -> None:
        self.transactions: list[Transaction] = []
        self.begun: dict[tuple[str, int], int] = {}  # process, sequence -> index of transactions
        self.assignments: list[Row] = []
        self.commits: dict[tuple[str, int], Commit] = {}
        self.kept: dict[str, list[Row]] = {kind: [] for kind in _KEPT}
        self.told: dict[str, Mapping[str, Any]] = {}
        self.began_us: dict[str, int] = {}
        self.ended: set[str] = set()

    def take(self, rows: Iterable[Row]) -> None:
        for row in sorted(rows, key=_in_order):
            TAKERS[row.what](self, row)

    def keep(self, row: Row) -> None:
        self.kept[row.what].append(row)

    def begin(self, row: Row) -> None:
        self.told[row.process] = row.after or {}
        self.began_us[row.process] = row.at_us

    def end(self, row: Row) -> None:
        self.ended.add(row.process)

    def assign(self, row: Row) -> None:
        self.assignments.append(row)

    def begin_transaction(self, row: Row) -> None:
        self.begun[row.process, row.sequence] = len(self.transactions)
        self.transactions.append(Transaction(row.subject, row.process, row.at_us))

    def ask_to_end(self, row: Row) -> None:
        for transaction in self._transaction_of(row):
            transaction.asked, transaction.asked_us = row.after, row.at_us

    def end_transaction(self, row: Row) -> None:
        for transaction in self._transaction_of(row):
            transaction.outcome = row.after

    def _transaction_of(self, row: Row) -> Iterator[Transaction]:
        index = self.begun.get((row.process, row.caused_by or 0))
        if index is not None:
            yield self.transactions[index]

    def ask_commit(self, row: Row) -> None:
        self.commits[row.process, row.sequence] = Commit(
            row.process,
            row.group or "",
            row.subject,
            row.offset or 0,
            row.epoch,
            self.begun.get((row.process, row.caused_by or 0), NONE),
            row.at_us,
        )

    def answer_commit(self, row: Row) -> None:
        key = row.process, row.caused_by or 0
        asked = self.commits.get(key)
        if asked is not None:
            self.commits[key] = replace(asked, answered_us=row.at_us, result=row.after)


FAULTS = (Kind.FAULT_BEGUN, Kind.FAULT_ENDED)
_KEPT = (Kind.REVOKED, Kind.OBSERVED, *FAULTS)
TAKERS: Mapping[str, Callable[[Told, Row], None]] = {
    Kind.BEGAN: Told.begin,
    Kind.ENDED: Told.end,
    Kind.ASSIGNED: Told.assign,
    Kind.TRANSACTION_BEGUN: Told.begin_transaction,
    Kind.TRANSACTION_ENDING: Told.ask_to_end,
    Kind.TRANSACTION_ENDED: Told.end_transaction,
    Kind.COMMIT_ASKED: Told.ask_commit,
    Kind.COMMIT_ANSWERED: Told.answer_commit,
    **dict.fromkeys(_KEPT, Told.keep),
}
