"""Committed and pending ISRs: which set counts for what."""

from __future__ import annotations

from logquake.node.replication.partition.isr import CommittedIsr


def test_a_new_member_goes_to_the_end_and_counts_at_once() -> None:
    pending = CommittedIsr((2, 1)).expand(0)
    assert pending.proposed == (2, 1, 0)
    assert pending.maximal == (2, 1, 0)
    assert pending.committed == (2, 1)


def test_a_leaving_member_counts_until_the_controller_confirms() -> None:
    pending = CommittedIsr((2, 1, 0)).shrink((1,))
    assert pending.proposed == (2, 0)
    assert pending.maximal == (2, 1, 0)
    assert pending.committed == (2, 1, 0)


def test_a_proposal_remembers_what_to_go_back_to() -> None:
    committed = CommittedIsr((2, 1))
    assert committed.expand(0).base is committed
    assert committed.shrink((1,)).base is committed
