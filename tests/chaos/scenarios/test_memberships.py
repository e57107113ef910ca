"""Generations, returns and records handed out again, of literal rows."""

from __future__ import annotations

from typing import Any

from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.scenarios.memberships import Memberships, memberships

P = "orders-0"


def row(process: str, what: Kind, **fields: Any) -> Row:
    return Row(0, process, 1, what, fields.pop("subject", P), group="readers", **fields)


def assigned(process: str, epoch: int, subject: str = P) -> Row:
    return row(process, Kind.ASSIGNED, epoch=epoch, subject=subject)


def revoked(process: str, epoch: int, subject: str = P) -> Row:
    return row(process, Kind.REVOKED, epoch=epoch, subject=subject, after="revoked")


def polled(process: str, offset: int, *values: int, subject: str = P) -> Row:
    return row(process, Kind.POLLED, offset=offset, values=values, subject=subject)


def test_a_static_member_returns_within_its_generation() -> None:
    quiet = [assigned("a", 1), revoked("a", 1), assigned("a", 1)]
    assert memberships(quiet) == Memberships(generations=1, returns=1, quiet_returns=1)
    # As it leaves it may have forgotten in which.
    forgetful = [assigned("a", 1), revoked("a", -1), assigned("a", 1)]
    assert memberships(forgetful) == Memberships(generations=1, returns=1, quiet_returns=1)


def test_others_return_in_another_generation() -> None:
    rows = [assigned("a", 1), revoked("a", 1), assigned("b", 2), revoked("b", 2), assigned("a", 3)]
    assert memberships(rows) == Memberships(generations=3, returns=1)


def test_one_that_keeps_a_partition_was_never_away() -> None:
    rows = [assigned("a", 1), assigned("a", 1, "orders-1"), revoked("a", 1, "orders-1")]
    assert memberships([*rows, assigned("a", 2, "orders-1")]) == Memberships(generations=2)


def test_a_member_that_others_made_generations_without_is_told_of_them_as_it_leaves() -> None:
    rows = [assigned("a", 1), assigned("b", 2, "orders-1"), revoked("a", 2), assigned("a", 2)]
    assert memberships(rows) == Memberships(generations=2, returns=1, quiet_returns=1)


def test_what_the_group_was_handed_before_is_handed_out_again() -> None:
    rows = [polled("a", 0, 1, 2, 3), polled("b", 2, 3, 4), polled("b", 0, 1, subject="orders-1")]
    assert memberships(rows).repeated == 1
    assert memberships([*rows, polled("a", 0, 1, 2, 3, 4, 5)]).repeated == 1 + 4


def test_who_is_in_no_group_is_none_of_them() -> None:
    alone = Row(0, "reader", 1, Kind.POLLED, P, offset=0, values=[1, 2])
    assert memberships([alone, alone]) == Memberships()
