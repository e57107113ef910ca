"""Is what recovery made of a log allowed, and does all that is derived from the log agree with it?

Each function asserts one promise. The history of a log is the batches of the moment that explains
it, up to the log's end, as they were before retention or compaction took some away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from logquake.storage.log.log import Log
from logquake.wire.records import (
    ControlType,
    Record,
    iterate_records,
    patch_base,
    read_end_marker,
)
from tests.storage.crash.found import Found, read_back
from tests.storage.crash.story import Expectation, Moment, Stored

_LIMIT_BYTES = 1 << 20


def check_log(log: Log | None, expected: Expectation) -> Found:
    found = read_back(log)
    if log is None:
        assert any(moment.topic_id is None for moment in expected.moments)
        return found
    history = _explained(found, expected)
    _nothing_sure_is_lost(found, expected)
    _epochs_agree(log, found, expected)
    _transactions_agree(log, found, history)
    _times_agree(log, found)
    _repeats_are_known(log, found, history)
    return replace(found, history=history)


# The log itself


def _explained(found: Found, expected: Expectation) -> tuple[Stored, ...]:
    """The history; fails where no possible moment leads to what was found."""
    for moment in expected.moments:
        # Without an id it would pass for a later topic's of the name: then nothing may be in it.
        if found.topic_id != moment.topic_id and (found.topic_id or found.end):
            continue
        history = _up_to(moment, found)
        if history is None:
            continue
        if expected.is_compacted:
            history = _without_holes(history, found, len(expected.sure))
        explains = _explains_compacted if expected.is_compacted else _explains
        if explains(found, history):
            assert expected.lowest_start <= found.start
            assert found.start <= max(one.start for one in expected.moments)
            return history
    offsets = [batch.header.base_offset for batch in found.batches]
    raise AssertionError(
        f"[{found.start}, {found.end}) with batches at {offsets}, id {found.topic_id!r}, "
        f"where {len(expected.moments)} moments were possible, "
        f"the first to {expected.moments[0].end}, the last to {expected.moments[-1].end}"
    )


def _up_to(moment: Moment, found: Found) -> tuple[Stored, ...] | None:
    if found.end == moment.end:
        return moment.batches
    history = tuple(batch for batch in moment.batches if batch.header.next_offset <= found.end)
    reached = history[-1].header.next_offset if history else 0
    # Where less was left than what was to be deleted, the log begins anew at its start offset.
    is_restarted = found.start == found.end == moment.start
    return history if reached == found.end or is_restarted else None


def _without_holes(history: tuple[Stored, ...], found: Found, sure: int) -> tuple[Stored, ...]:
    """Between segments that were not synced, where compaction makes gaps look right, a loss of
    power can leave one out, as in Kafka.
    """
    kept = {record.offset for record in _records(found.batches)}
    return history[:sure] + tuple(
        batch for batch in history[sure:] if batch.header.last_offset in kept
    )


def _explains(found: Found, history: tuple[Stored, ...]) -> bool:
    """All batches from the start offset's on, byte by byte."""
    return found.batches == tuple(
        batch for batch in history if batch.header.last_offset >= found.start
    )


def _explains_compacted(found: Found, history: tuple[Stored, ...]) -> bool:
    """No record that was not written, and of every key what a reader of all of it ends up with."""
    kept = {record.offset: record for record in _records(found.batches)}
    written = {record.offset: record for record in _records(history)}
    return all(written.get(offset) == record for offset, record in kept.items()) and _latest(
        kept.values()
    ) == _latest(written.values())


def _nothing_sure_is_lost(found: Found, expected: Expectation) -> None:
    if not expected.sure:
        return
    assert found.end >= expected.sure[-1].header.next_offset
    if not expected.is_compacted:
        readable = {one for one in expected.sure if one.header.last_offset >= found.start}
        assert readable <= set(found.batches)


def _latest(records: Iterable[Record]) -> dict[bytes | None, bytes]:
    values = {record.key: record.value for record in records}
    return {key: value for key, value in values.items() if value is not None}


def _records(batches: Iterable[Stored]) -> Iterator[Record]:
    for batch in batches:
        yield from iterate_records(memoryview(batch.data), 0, batch.header, _LIMIT_BYTES)


# What is derived from it


def _epochs_agree(log: Log, found: Found, expected: Expectation) -> None:
    """Where a start offset that was never checkpointed fell back, as in Kafka, the epochs before it
    stay forgotten.
    """
    entries = log.epochs.entries
    for before, after in pairwise(entries):
        assert before.epoch < after.epoch
        assert before.start_offset < after.start_offset
    assert all(found.start <= entry.start_offset for entry in entries)
    if found.start < found.end:  # an empty log may still know its last epoch
        assert not entries or entries[-1].start_offset < found.end
    for batch in found.batches:
        offset = max(found.start, batch.header.base_offset)
        known = log.epochs.epoch_for(offset)
        if known is not None or offset >= expected.highest_start:
            assert known == batch.header.partition_leader_epoch


def _times_agree(log: Log, found: Found) -> None:
    latest = log.offset_of_max_timestamp()
    if latest is None or latest[1] >= found.start:  # Kafka does not look whether it is deleted
        times = [one.header.max_timestamp for one in found.batches if one.header.record_count]
        assert (None if latest is None else latest[0]) == max(times, default=None)
    readable = [record for record in _records(found.batches) if record.offset >= found.start]
    for wanted in readable[:: max(1, len(readable) // 4)]:
        first = next(one for one in readable if one.timestamp_ms >= wanted.timestamp_ms)
        assert log.offset_for_time(wanted.timestamp_ms) == (first.timestamp_ms, first.offset)


def _transactions_agree(log: Log, found: Found, history: tuple[Stored, ...]) -> None:
    """Aborted and undecided ones are those that markers and batches tell."""
    undecided: dict[int, int] = {}
    aborted = []
    for batch in history:
        header = batch.header
        if header.is_control:
            first = undecided.pop(header.producer_id, None)
            if first is not None and _marker_type(batch) is ControlType.ABORT:
                aborted.append((header.producer_id, first, header.base_offset))
        elif header.is_transactional:
            undecided.setdefault(header.producer_id, header.base_offset)
    log.replicated_to(log.end_offset)
    if found.start == 0:
        assert log.first_unstable_offset == min(undecided.values(), default=None)
        listed = log.aborted_transactions(0, found.end)
        assert sorted(entry[:3] for entry in listed) == sorted(aborted)


def _marker_type(batch: Stored) -> ControlType | None:
    marker = read_end_marker(memoryview(batch.data), 0, batch.header)
    return None if marker is None else marker.control_type


def _repeats_are_known(log: Log, found: Found, history: tuple[Stored, ...]) -> None:
    """A producer's last batch, sent again, is a duplicate as long as the log holds it."""
    last: dict[int, Stored] = {}
    held = {batch.header.last_offset for batch in found.batches}
    for batch in history:
        if batch.header.producer_id >= 0 and not batch.header.is_control:
            last[batch.header.producer_id] = batch
    for batch in last.values():
        header = batch.header
        if header.last_offset not in held:
            continue
        again = memoryview(bytearray(batch.data))
        patch_base(again, 0, 0, -1)
        answer = log.stage_as_leader(again, header.partition_leader_epoch, 0)
        assert answer.duplicate
        assert (answer.first_offset, answer.last_offset) == (header.base_offset, header.last_offset)
    assert log.end_offset == log.written_end_offset
