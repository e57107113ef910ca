"""How much a batch takes, and what cannot be read any more."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from logquake.pipeline.source.admission import (
    admitted,
    available,
    from_document,
    losses,
    missed,
    to_document,
)
from logquake.wire.topic_partition import TopicPartition

A, B, C = (TopicPartition("t", partition) for partition in range(3))

counts = st.dictionaries(st.sampled_from([A, B, C]), st.integers(0, 1_000), min_size=1)


def test_offsets_are_written_as_the_connector_writes_them() -> None:
    document = {"t": {"0": 3, "2": 5}}
    assert to_document({C: 5, A: 3}) == document
    assert from_document(document) == {A: 3, C: 5}


def test_partitions_share_a_batch_in_proportion() -> None:
    assert admitted({A: 0, B: 100}, {A: 300, B: 200}, 40) == {A: 30, B: 110}


def test_the_smallest_share_is_one_record() -> None:
    assert admitted({A: 0, B: 0}, {A: 999, B: 1}, 10) == {A: 9, B: 1}


def test_all_is_taken_where_there_is_less_than_may_be() -> None:
    ends = {A: 3, B: 4}
    assert admitted({A: 0, B: 4}, ends, 3) == ends


@given(sizes=counts, limit=st.integers(1, 500))
def test_batch_after_batch_takes_all_and_none_is_far_above_the_limit(
    sizes: dict[TopicPartition, int], limit: int
) -> None:
    starts = dict.fromkeys(sizes, 7)
    ends = {at: 7 + size for at, size in sizes.items()}
    for _ in range(available(starts, ends)):
        after = dict(admitted(starts, ends, limit))
        assert 0 < available(starts, after) <= limit + len(sizes)
        starts = after
        if starts == ends:
            return
    assert starts == ends


def test_what_was_lost_is_named() -> None:
    starts, ends = {A: 5, B: 5, C: 5}, {A: 3, B: 9}
    assert list(losses(starts, ends, {A: 0, B: 8})) == [
        "t-0 ends at offset 3, and was read up to 5: cut off, or made anew",
        "t-1 has lost offsets 5 to 7: its log begins at 8",
        "t-2 is gone, with all from offset 5 on",
    ]
    assert list(losses({A: 5}, {A: 9, B: 4}, {A: 5, B: 2})) == []
    assert list(losses({A: 5}, {A: 5}, {A: 8})) == []


def test_what_a_partition_lost_before_it_was_known_is_named() -> None:
    told = "t-1 came later, and has lost offsets 0 to 6: it begins at 7"
    assert list(missed({A: 5}, {A: 9, B: 7, C: 0})) == [told]
