"""Invariants are asserted after each change where that was asked for, as it is in all tests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from logquake.storage.invariants import InvariantError, asserted_after, must_hold
from logquake.storage.log.log import Log


@asserted_after("spend")
class Purse:
    def __init__(self, coins: int) -> None:
        self.coins = coins

    def spend(self, coins: int) -> int:
        if coins < 0:
            raise ValueError(coins)
        self.coins -= coins
        return self.coins

    def lose(self) -> None:
        self.coins = -1

    def check_invariants(self) -> None:
        must_hold(self.coins >= 0, "no debts", self.coins)


def test_a_change_that_keeps_them_is_itself() -> None:
    assert Purse(3).spend(3) == 0


def test_a_change_that_breaks_one_is_told_with_the_values() -> None:
    with pytest.raises(InvariantError, match="no debts: -1"):
        Purse(3).spend(4)


def test_a_change_that_is_refused_is_not_judged() -> None:
    purse = Purse(3)
    purse.lose()
    with pytest.raises(ValueError, match="-2"):
        purse.spend(-2)


def test_a_log_whose_recovery_point_is_beyond_its_end_is_caught(
    open_log: Callable[..., Log],
) -> None:
    log = open_log()
    log._syncs.recovery_point = 5
    with pytest.raises(InvariantError, match="synced <= written: 5, 0"):
        log.commit()


def test_a_broker_asserts_none_and_its_methods_are_as_written() -> None:
    code = (
        "import logquake.node.process.broker_process\n"
        "from logquake.storage.log.log import Log\n"
        "assert not hasattr(Log.commit, '__wrapped__')"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
