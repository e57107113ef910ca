from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logquake.storage.cleaner.offset_map import ENTRY_BYTES, OffsetMap

KEYS = st.binary(max_size=3)


@given(st.lists(KEYS, max_size=60), st.integers(2, 80))
def test_it_answers_as_a_dict_does_up_to_where_it_is_full(keys: list[bytes], slots: int) -> None:
    offset_map, model = OffsetMap(slots * ENTRY_BYTES, offsets=1_000), dict[bytes, int]()
    for offset, key in enumerate(keys):
        if offset_map.is_full:
            break
        offset_map.put(key, offset)
        model[key] = offset
        assert offset_map.latest_offset == offset
    assert {key: offset_map.get(key) for key in model} == model
    assert len(offset_map) == len(model)
    assert all(offset_map.get(key) == -1 for key in keys if key not in model)


def test_the_offset_0_and_the_empty_key_are_like_any_other() -> None:
    offset_map = OffsetMap(1_000, offsets=2)
    assert offset_map.get(b"") == -1
    offset_map.put(b"", 0)
    assert offset_map.get(b"") == 0


def test_the_load_factor_leaves_slots_free_and_the_bound_holds() -> None:
    offset_map = OffsetMap(100 * ENTRY_BYTES, 0.5, offsets=10**9)
    count = 0
    while not offset_map.is_full:
        offset_map.put(str(count).encode(), count)
        count += 1
    assert count == 50
    assert offset_map.memory_bytes == 100 * ENTRY_BYTES


def test_few_offsets_take_little_memory_and_all_fit() -> None:
    offset_map = OffsetMap(1 << 30, 0.9, offsets=100)
    for offset in range(100):
        offset_map.put(str(offset).encode(), offset)
    assert not offset_map.is_full
    assert offset_map.memory_bytes < 200 * ENTRY_BYTES
    assert [offset_map.get(str(offset).encode()) for offset in range(100)] == list(range(100))


def test_memory_for_not_even_one_key_is_refused() -> None:
    with pytest.raises(ValueError, match="too few"):
        OffsetMap(ENTRY_BYTES, offsets=1)
