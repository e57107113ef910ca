"""Who lets go of a descriptor when there are too many."""

from __future__ import annotations

from logquake.storage.segments.open_files import OpenFiles


class Holder:
    def __init__(self) -> None:
        self.was_used = False
        self.is_open = True

    def let_go(self) -> None:
        self.is_open = False


def test_the_one_that_was_opened_first_lets_go() -> None:
    open_files = OpenFiles(2)
    first, second, third = holders = [Holder(), Holder(), Holder()]
    for holder in holders:
        open_files.opened(holder)
    assert [first.is_open, second.is_open, third.is_open] == [False, True, True]
    assert len(open_files) == 2


def test_who_was_used_since_gets_a_second_chance() -> None:
    open_files = OpenFiles(2)
    first, second, third = holders = [Holder(), Holder(), Holder()]
    open_files.opened(first)
    open_files.opened(second)
    first.was_used = True
    open_files.opened(third)
    assert [holder.is_open for holder in holders] == [True, False, True]
    open_files.opened(second)
    assert [holder.is_open for holder in holders] == [True, False, False]
    assert len(open_files) == 2


def test_when_all_were_used_one_lets_go_all_the_same() -> None:
    open_files = OpenFiles(3)
    holders = [Holder() for _ in range(10)]
    for holder in holders:
        holder.was_used = True
        open_files.opened(holder)
    assert sum(holder.is_open for holder in holders) == 3
    assert holders[-1].is_open


def test_one_that_closed_does_not_count() -> None:
    open_files = OpenFiles(1)
    first, second = Holder(), Holder()
    open_files.opened(first)
    open_files.closed(first)
    open_files.opened(second)
    assert first.is_open
