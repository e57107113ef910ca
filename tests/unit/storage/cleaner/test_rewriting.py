"""What is left of a batch (the behaviours of Kafka's LogCleanerTest and MemoryRecordsTest)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pytest

from logquake.storage.cleaner.record_filter import Horizon, LastRecord, RecordFilter
from logquake.storage.cleaner.rewriting import rewrite
from logquake.storage.cleaner.transactions import CleanedTransactions
from logquake.storage.segments.txn_index import AbortedTransaction
from logquake.wire.errors import RecordError
from logquake.wire.records import (
    BatchFlag,
    BatchHeader,
    Codec,
    ControlType,
    Record,
    encode_batch,
    encode_end_marker,
    encode_message_set,
    iterate_records,
    read_header,
)

NOW_MS, RETENTION_MS = 50_000, 1_000
PID = 9


class Latest:
    """Knows these keys, up to latest_offset."""

    def __init__(self, offsets: Mapping[bytes, int], latest_offset: int) -> None:
        self._offsets = offsets
        self.latest_offset = latest_offset

    def get(self, key: bytes) -> int:
        return self._offsets.get(key, -1)


def retention(
    latest: Mapping[str, int] | None = None,
    *,
    up_to: int = 1_000,
    aborted: Sequence[AbortedTransaction] = (),
    producers: Mapping[int, LastRecord] | None = None,
) -> RecordFilter:
    offsets = {key.encode(): offset for key, offset in (latest or {}).items()}
    return RecordFilter(Latest(offsets, up_to), CleanedTransactions(aborted), producers or {})


def batch(*entries: tuple[int, str | None, str | None], **fields: Any) -> bytes:
    """Of (offset, key, value); the time of each is 1000 and its offset."""
    records = [
        Record(offset, 1_000 + offset, _encoded(key), _encoded(value))
        for offset, key, value in entries
    ]
    return bytes(encode_batch(records, base_offset=entries[0][0], **fields))


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def marker(offset: int, control_type: ControlType = ControlType.COMMIT) -> bytes:
    return bytes(
        encode_end_marker(
            control_type,
            coordinator_epoch=0,
            producer_id=PID,
            producer_epoch=3,
            timestamp_ms=1_000,
            base_offset=offset,
        )
    )


def left_of(
    data: bytes, rules: RecordFilter, *, now_ms: int = NOW_MS, legacy: bool = True
) -> bytes:
    view = memoryview(data)
    result = rewrite(view, 0, read_header(view), rules, Horizon(now_ms, RETENTION_MS, legacy))
    return bytes(result.batch.data) if result.batch else b""


def offsets(data: bytes) -> list[int]:
    view = memoryview(data)
    return [record.offset for record in iterate_records(view, 0, header(data), 10**6)]


def header(data: bytes) -> BatchHeader:
    return read_header(memoryview(data))


DATA = batch((5, "a", "1"), (6, "b", "2"), (7, "a", "3"), (8, "c", "4"), leader_epoch=2)


def test_a_batch_of_latest_records_stays_as_it_is() -> None:
    assert left_of(DATA, retention({"a": 5, "b": 6})) == DATA
    assert left_of(DATA, retention({}, up_to=4)) == DATA


def test_superseded_records_go_and_the_batch_keeps_its_place() -> None:
    left = left_of(DATA, retention({"a": 7, "b": 90, "c": 91}))
    assert offsets(left) == [7]
    before, after = header(DATA), header(left)
    assert (after.base_offset, after.last_offset) == (5, 8)
    assert after.partition_leader_epoch == before.partition_leader_epoch
    assert after.base_timestamp == after.max_timestamp == 1_007


def test_what_the_map_does_not_reach_stays() -> None:
    assert offsets(left_of(DATA, retention({"a": 900, "b": 900}, up_to=6))) == [7, 8]


def test_records_without_a_key_go() -> None:
    left = left_of(batch((1, None, "x"), (2, "k", "y")), retention())
    assert offsets(left) == [2]


def test_a_batch_with_nothing_left_goes() -> None:
    assert left_of(DATA, retention(dict.fromkeys("abc", 99))) == b""


@pytest.mark.parametrize("codec", list(Codec))
def test_a_batch_is_built_anew_in_its_own_codec(codec: Codec) -> None:
    data = batch(*((offset, str(offset), "v" * 50) for offset in range(20)), codec=codec)
    left = left_of(data, retention({str(offset): 99 for offset in range(0, 20, 2)}))
    assert offsets(left) == list(range(1, 20, 2))
    assert header(left).codec is codec


def test_append_times_stay() -> None:
    data = batch((1, "a", "x"), (2, "b", "y"), flags=BatchFlag.LOG_APPEND_TIME, max_timestamp=7_777)
    left = left_of(data, retention({"a": 9}))
    assert header(left).is_log_append_time
    view = memoryview(left)
    (record,) = iterate_records(view, 0, header(left), 10**6)
    assert record.timestamp_ms == header(left).max_timestamp == 7_777


def test_a_damaged_batch_is_refused() -> None:
    damaged = bytearray(DATA)
    damaged[-1] ^= 1
    with pytest.raises(RecordError):
        left_of(bytes(damaged), retention())


class TestTombstones:
    def test_the_first_cleaning_sets_the_horizon_and_keeps_every_time(self) -> None:
        data = batch((1, "a", None), (2, "b", "y"))
        left = left_of(data, retention())
        assert offsets(left) == [1, 2]
        assert header(left).has_delete_horizon
        assert header(left).base_timestamp == NOW_MS + RETENTION_MS
        view = memoryview(left)
        times = [record.timestamp_ms for record in iterate_records(view, 0, header(left), 10**6)]
        assert times == [1_001, 1_002]
        assert header(left).max_timestamp == 1_002

    def test_it_stays_until_the_horizon_and_goes_at_it(self) -> None:
        left = left_of(batch((1, "a", None), (2, "b", "y")), retention())
        horizon_ms = header(left).base_timestamp
        assert left_of(left, retention(), now_ms=horizon_ms - 1) == left
        later = left_of(left, retention(), now_ms=horizon_ms)
        assert offsets(later) == [2]
        assert header(later).base_timestamp == horizon_ms

    def test_a_superseded_one_goes_at_once(self) -> None:
        assert left_of(batch((1, "a", None)), retention({"a": 2})) == b""

    @pytest.mark.parametrize("magic", [0, 1])
    def test_in_a_message_set_the_age_of_the_segment_decides(self, magic: int) -> None:
        data = encode_message_set([Record(1, 1_000, b"a", None)], magic)
        assert left_of(data, retention(), legacy=True) == data
        assert left_of(data, retention(), legacy=False) == b""


@pytest.mark.parametrize("magic", [0, 1])
def test_a_wrapper_of_a_message_set_is_built_anew(magic: int) -> None:
    records = [Record(offset, 1_000 + offset, str(offset).encode(), b"v") for offset in range(4, 9)]
    data = encode_message_set(records, magic, codec=Codec.GZIP)
    left = left_of(data, retention({"4": 99, "8": 99}))
    assert offsets(left) == [5, 6, 7]
    assert (header(left).magic, header(left).codec) == (magic, Codec.GZIP)
    assert header(left).last_offset == 7


class TestProducers:
    FIELDS: ClassVar[dict[str, int]] = {
        "producer_id": PID,
        "producer_epoch": 3,
        "base_sequence": 40,
        "leader_epoch": 6,
    }

    def test_the_last_batch_of_a_known_one_stays_empty_for_its_sequence(self) -> None:
        data = batch((5, "a", "1"), (6, "b", "2"), **self.FIELDS)
        left = left_of(data, retention({"a": 9, "b": 9}, producers={PID: LastRecord(6, 3)}))
        before, after = header(data), header(left)
        assert after.record_count == 0
        assert len(left) == after.size == 61
        assert after.last_sequence == before.last_sequence == 41
        same = ("base_offset", "last_offset", "producer_id", "producer_epoch", "max_timestamp")
        assert [getattr(after, name) for name in same] == [getattr(before, name) for name in same]
        assert after.base_timestamp == -1
        again = left_of(left, retention(producers={PID: LastRecord(6, 3)}))
        assert again == left

    def test_an_empty_one_goes_when_the_producer_is_forgotten_or_wrote_more(self) -> None:
        data = batch((5, "a", "1"), **self.FIELDS)
        left = left_of(data, retention({"a": 9}, producers={PID: LastRecord(5, 3)}))
        assert left_of(left, retention()) == b""
        assert left_of(left, retention(producers={PID: LastRecord(8, 3)})) == b""

    def test_a_batch_keeps_its_last_sequence_when_its_last_record_goes(self) -> None:
        data = batch((5, "a", "1"), (6, "b", "2"), **self.FIELDS)
        left = left_of(data, retention({"b": 9}))
        assert offsets(left) == [5]
        assert header(left).last_sequence == 41


class TestTransactions:
    FIELDS: ClassVar[dict[str, int]] = {
        "producer_id": PID,
        "producer_epoch": 3,
        "base_sequence": 0,
        "flags": int(BatchFlag.TRANSACTIONAL),
    }
    ABORTED = AbortedTransaction(PID, 5, 7, 8)

    def test_records_of_an_aborted_one_go_and_its_marker_stays_for_now(self) -> None:
        rules = retention(aborted=[self.ABORTED])
        assert left_of(batch((5, "a", "1"), **self.FIELDS), rules) == b""
        assert left_of(marker(7, ControlType.ABORT), rules) == marker(7, ControlType.ABORT)

    def test_the_marker_of_what_is_gone_gets_a_horizon_and_goes_at_it(self) -> None:
        for control_type in ControlType:
            left = left_of(marker(7, control_type), retention())
            assert header(left).has_delete_horizon
            assert header(left).is_control
            assert left_of(left, retention(), now_ms=NOW_MS + RETENTION_MS - 1) == left
            assert left_of(left, retention(), now_ms=NOW_MS + RETENTION_MS) == b""

    def test_a_commit_stays_as_long_as_a_batch_of_it_does(self) -> None:
        rules = retention({})
        data = batch((5, "a", "1"), **self.FIELDS)
        assert left_of(data, rules) == data
        assert left_of(marker(7), rules) == marker(7)
        assert header(left_of(marker(8), rules)).has_delete_horizon

    def test_what_follows_an_aborted_one_is_not_aborted(self) -> None:
        rules = retention(aborted=[self.ABORTED])
        left_of(batch((5, "a", "1"), **self.FIELDS), rules)
        left_of(marker(7, ControlType.ABORT), rules)
        data = batch((8, "a", "2"), **self.FIELDS)
        assert left_of(data, rules) == data

    def test_records_outside_transactions_are_not_aborted_with_one(self) -> None:
        rules = retention(aborted=[self.ABORTED])
        data = batch((6, "a", "1"))
        assert left_of(data, rules) == data

    def test_the_last_marker_of_a_known_producer_stays_empty_for_its_epoch(self) -> None:
        rules = retention(producers={PID: LastRecord(-1, 3)})
        left = left_of(marker(7), rules)
        emptied = left_of(left, rules, now_ms=NOW_MS + RETENTION_MS)
        assert header(emptied).record_count == 0
        assert header(emptied).is_control
        assert header(emptied).producer_epoch == 3

    def test_the_index_is_told_of_aborted_ones_of_which_something_is_left(self) -> None:
        transactions = CleanedTransactions([self.ABORTED])
        rules = RecordFilter(Latest({}, 100), transactions, {})
        left_of(batch((5, "a", "1"), **self.FIELDS), rules)
        left_of(marker(7, ControlType.ABORT), rules)
        assert transactions.take_kept() == [self.ABORTED]
        assert transactions.take_kept() == []
