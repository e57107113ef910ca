"""Groups of writes that ZooKeeper takes as one transaction."""

from __future__ import annotations

from logquake.zk.multi_groups import MAX_BYTES, MAX_WRITES, multi_groups
from logquake.zk.operations import Create, Delete


def test_groups_keep_the_order_and_the_bound_on_their_number() -> None:
    units = [(Delete(f"/{number}"),) for number in range(MAX_WRITES * 2 + 1)]
    groups = list(multi_groups(units))
    assert [len(group) for group in groups] == [MAX_WRITES, MAX_WRITES, 1]
    assert [unit for group in groups for unit in group] == units


def test_groups_stay_below_the_size_that_zookeeper_takes() -> None:
    large = Create("/large", bytes(MAX_BYTES // 3))
    assert [len(group) for group in multi_groups([(large,)] * 5)] == [2, 2, 1]


def test_what_belongs_together_is_not_divided() -> None:
    pair = (Create("/a", b""), Create("/b", b""))
    single = (Delete("/c"),)
    groups = list(multi_groups([single] * (MAX_WRITES - 1) + [pair, pair]))
    assert [len(group) for group in groups] == [MAX_WRITES - 1, 2]


def test_a_write_that_is_too_large_goes_alone() -> None:
    small, huge = (Create("/small", b""),), (Create("/huge", bytes(MAX_BYTES * 2)),)
    assert list(multi_groups([small, huge, small])) == [[small], [huge], [small]]
    assert list(multi_groups([])) == []
