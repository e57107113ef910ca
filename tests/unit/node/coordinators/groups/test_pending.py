"""Members that were given an id: who is waited for, and until when."""

from __future__ import annotations

from logquake.node.coordinators.groups.membership.pending import PendingMembers


def test_the_first_that_is_overdue_goes_first() -> None:
    pending = PendingMembers()
    pending.add("late", 300)
    pending.add("early", 100)
    pending.add("came", 50)
    pending.discard("came")
    assert (len(pending), pending.next_deadline_ms) == (2, 100)
    assert pending.overdue(99) is None
    assert pending.overdue(300) == "early"
    pending.discard("early")
    assert pending.overdue(300) == "late"
    pending.discard("late")
    assert (pending.overdue(1_000), pending.next_deadline_ms, len(pending)) == (None, None, 0)


def test_each_goes_at_its_own_deadline() -> None:
    pending = PendingMembers()
    asked = [f"member-{number}" for number in range(1_000)]
    for number, asking in enumerate(asked):
        pending.add(asking, number)
    gone = []
    for now_ms in range(len(asked)):
        while (member_id := pending.overdue(now_ms)) is not None:
            pending.discard(member_id)
            gone.append((now_ms, member_id))
    assert gone == list(enumerate(asked))
