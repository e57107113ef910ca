"""What of a batch reaches a state, and what damage takes with it."""

from __future__ import annotations

import pytest

from logquake.node.coordinators.replay import Progress, replay_batches
from logquake.wire.errors import RecordError
from logquake.wire.records import Codec, Record, encode_batch
from tests.unit.node.coordinators.words import Words


def logged(offset: int, key: bytes | None, codec: Codec = Codec.NONE) -> bytearray:
    records = [Record(offset, 0, key, b"w", ())]
    return encode_batch(records, base_offset=offset, codec=codec)


def replayed(data: bytes) -> tuple[list[int], Progress]:
    state, progress = Words(), Progress(0)
    replay_batches(data, state, progress)
    return [record.offset for record in state.seen], progress


def test_a_batch_that_is_cut_is_for_the_next_time() -> None:
    whole = bytes(logged(3, b"a") + logged(4, b"b"))
    seen, progress = replayed(whole[:-1])
    assert (seen, progress.next_offset) == ([3], 4)


def test_damage_within_a_batch_takes_that_batch_alone() -> None:
    damaged = logged(1, b"b", Codec.GZIP)
    damaged[70:] = bytes(len(damaged) - 70)
    seen, progress = replayed(bytes(logged(0, b"a") + damaged + logged(2, b"c")))
    assert (seen, progress.next_offset, progress.left_out) == ([0, 2], 3, 1)
    assert progress.fault is not None
    assert progress.fault.startswith("offset 1: ")


def test_a_record_without_a_key_is_left_out() -> None:
    seen, progress = replayed(bytes(logged(0, None) + logged(1, b"a")))
    assert (seen, progress.records, progress.left_out) == ([1], 1, 1)


def test_where_no_batch_can_be_found_the_rest_is_lost() -> None:
    bad = logged(1, b"b")
    bad[16] = 9  # a magic that nobody has defined
    state, progress = Words(), Progress(0)
    with pytest.raises(RecordError):
        replay_batches(bytes(logged(0, b"a") + bad), state, progress)
    assert progress.next_offset == 1


def test_a_batch_of_which_compaction_left_nothing() -> None:
    empty = encode_batch([], base_offset=1, last_offset=4)
    seen, progress = replayed(bytes(logged(0, b"a") + empty + logged(5, b"b")))
    assert (seen, progress.next_offset, progress.left_out) == ([0, 5], 6, 0)
