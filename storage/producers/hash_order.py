"""The order in which Java's HashMap<Long, ...> goes through its keys.

Kafka writes a .snapshot in the order in which the map of its producers happens to be: the same
bytes need the same order. By slot of the table, and within a slot by insertion. The table doubles
as it fills and never shrinks.

Caveat: eight ids in one slot of a table of 64 or more make a tree of it, with an order of its own;
that is left aside.
"""

from __future__ import annotations

from collections.abc import Iterable

FIRST_SLOTS = 16


def slots_for(size: int, slots: int = FIRST_SLOTS) -> int:
    """How many slots the table has once size keys are in it, having had this many before."""
    while 4 * size > 3 * slots:
        slots *= 2
    return slots


def in_hash_order(inserted: Iterable[int], slots: int) -> list[int]:
    """inserted are 64-bit keys, none negative, in the order of their insertion."""
    return sorted(inserted, key=lambda key: _spread(key) & (slots - 1))


def _spread(key: int) -> int:
    code = (key ^ (key >> 32)) & 0xFFFFFFFF
    return code ^ (code >> 16)
