"""What a transactional workload tells of a transaction that it cannot end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from logquake.chaos.history.writer import HistoryWriter
from logquake.chaos.workloads.life import Life
from logquake.chaos.workloads.plan import Plan
from logquake.chaos.workloads.transactions import ProducerOver, TransactionLife


class RefusedError(Exception):
    """With the name of what it was refused for."""


class Fenced:
    """A sender whose coordinator knows of its successor."""

    def begin_transaction(self) -> None:
        pass

    def abort_transaction(self) -> None:
        raise RefusedError("PRODUCER_FENCED")

    def release(self) -> None:
        pass


class Fated(TransactionLife[Any]):
    failures = (RefusedError,)

    def take(self) -> Fenced:
        return Fenced()

    def requires_abort(self, error: Exception) -> bool:
        return str(error.args[0]) == "INVALID_PRODUCER_EPOCH"

    def name_of(self, error: Exception) -> str:
        return str(error.args[0])


@pytest.mark.parametrize("error", ["INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED"])
def test_whoever_is_fenced_is_over_for_that(tmp_path: Path, error: str) -> None:
    """Also if the first to say so was a partition's leader, which knows of the epoch alone."""
    plan = Plan.of("transactional", "localhost:9", {"take_over": False})
    with HistoryWriter(tmp_path / "rows.jsonl", "zombie") as history:
        transactions = Fated(Life(plan, "zombie", history), "orders")
        transactions.begin()
        with pytest.raises(ProducerOver, match="PRODUCER_FENCED"):
            transactions.end_after(RefusedError(error))
