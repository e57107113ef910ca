from __future__ import annotations

from logquake.storage.producers.hash_order import in_hash_order, slots_for


def test_keys_go_by_slot_and_within_one_by_insertion() -> None:
    assert in_hash_order([33, 16, 1, 0], 16) == [16, 0, 33, 1]
    assert in_hash_order([33, 16, 1, 0], 32) == [0, 33, 1, 16]


def test_both_halves_of_a_long_count() -> None:
    assert in_hash_order([2, 2**32, 2**32 + 2], 16) == [2**32, 2, 2**32 + 2]
    assert in_hash_order([2, 3 << 16], 16) == [2, 3 << 16]


def test_the_table_doubles_beyond_three_quarters_and_never_shrinks() -> None:
    assert [slots_for(size) for size in (0, 12, 13, 24, 25)] == [16, 16, 32, 32, 64]
    assert slots_for(1, 64) == 64
