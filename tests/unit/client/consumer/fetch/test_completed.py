"""A partition's share of a Fetch answer, taken as batches: whole, checked, none that is hidden."""

from __future__ import annotations

import pytest

from logquake.client.consumer.fetch.collecting import Take
from logquake.client.consumer.fetch.completed import CompletedFetch
from logquake.client.consumer.fetch.statistics import Tally
from logquake.client.consumer.settings import FetchSettings
from logquake.client.errors import CorruptRecordError
from logquake.client.settings.consumer import ConsumerConfig
from logquake.client.settings.reading import read
from logquake.wire.crc import crc32c
from logquake.wire.messages.fetch import AbortedTransaction, PartitionData
from logquake.wire.records import (
    HEADER_BYTES,
    BatchFlag,
    Codec,
    Record,
    encode_batch,
    encode_message_set,
    read_header,
)
from logquake.wire.records.layout import HEADER
from logquake.wire.topic_partition import TopicPartition

PLACE = TopicPartition("t", 0)
MANY = 100


def batch(first: int, count: int, *, base: int = 0, producer_id: int = -1, flags: int = 0) -> bytes:
    records = [Record(offset, 1, None, b"v") for offset in range(first, first + count)]
    return bytes(
        encode_batch(
            records, base_offset=base, flags=flags, producer_id=producer_id, producer_epoch=0
        )
    )


def completed(
    stored: bytes,
    asked_offset: int = 0,
    aborted: int | None = None,
    settings: FetchSettings | None = None,
) -> CompletedFetch:
    data = PartitionData(
        partition_index=0,
        error_code=0,
        high_watermark=100,
        records=memoryview(stored),
        aborted_transactions=None
        if aborted is None
        else [AbortedTransaction(producer_id=aborted, first_offset=0)],
    )
    return CompletedFetch(PLACE, asked_offset, data, settings or FetchSettings(), Tally(1), 1)


def test_batches_are_whole_and_say_from_where_on_they_were_asked_for() -> None:
    fetch = completed(batch(0, 5) + batch(5, 3), asked_offset=2)
    (first,) = fetch.take_batches(1)
    assert (first.first_offset, first.header.base_offset, first.header.record_count) == (2, 0, 5)
    assert fetch.next_offset == 5
    (second,) = fetch.take_batches(MANY)
    assert (second.first_offset, second.position) == (5, len(batch(0, 5)))
    assert (fetch.next_offset, fetch.is_consumed, fetch.count) == (8, True, 8)


def test_aborted_batches_are_passed_over() -> None:
    transactional = batch(0, 2, producer_id=7, flags=BatchFlag.TRANSACTIONAL)
    fetch = completed(transactional + batch(2, 1), aborted=7)
    assert [each.first_offset for each in fetch.take_batches(MANY)] == [2]
    hidden_alone = completed(transactional, aborted=7)
    assert hidden_alone.take_batches(MANY) == []
    assert hidden_alone.next_offset == 2


def test_a_control_batch_of_which_a_cleaner_left_the_header_alone_is_passed_over() -> None:
    flags = BatchFlag.TRANSACTIONAL | BatchFlag.CONTROL
    left = bytearray(batch(0, 1, producer_id=7, flags=flags)[:HEADER_BYTES])
    left[8:12] = (HEADER_BYTES - 12).to_bytes(4)
    left[57:61] = bytes(4)  # how many records
    left[17:21] = crc32c(left[21:]).to_bytes(4)
    fetch = completed(bytes(left) + batch(1, 1))
    assert [record.offset for record in fetch.take(MANY)] == [1]


def test_what_is_left_of_a_batch_that_records_were_taken_of_is_taken_as_a_batch() -> None:
    fetch = completed(batch(0, 5))
    assert [record.offset for record in fetch.take(3)] == [0, 1, 2]
    assert [each.first_offset for each in fetch.take_batches(MANY)] == [3]
    assert fetch.take(MANY) == []


def test_a_batch_whose_checksum_does_not_fit_is_told_after_those_before_it() -> None:
    damaged = bytearray(batch(0, 2) + batch(2, 2))
    damaged[-1] ^= 1
    fetch = completed(bytes(damaged))
    assert [each.first_offset for each in fetch.take_batches(MANY)] == [0]
    for _ in range(2):
        with pytest.raises(CorruptRecordError, match="t-0 at 2"):
            fetch.take_batches(MANY)


def test_a_compressed_message_set_that_ends_behind_an_offset_may_begin_before_it() -> None:
    records = [Record(offset, 1, None, b"v") for offset in range(10, 20)]
    old = bytes(encode_message_set(records, magic=1, codec=Codec.GZIP))
    (compressed,) = completed(old, asked_offset=10).take_batches(MANY)
    assert compressed.header.base_offset == 19
    assert compressed.may_begin_before(15)
    (new,) = completed(batch(0, 10)).take_batches(MANY)
    assert [new.may_begin_before(offset) for offset in (0, 1)] == [False, True]


def test_what_a_batch_may_decompress_to_is_a_key() -> None:
    zeros = bytes(encode_batch([Record(0, 1, None, bytes(10_000))], codec=Codec.ZSTD))
    for most_bytes, key in ((9_000, "9000"), (11_000, 11_000)):
        given = {"bootstrap.servers": "a:1", "logquake.max.decompressed.bytes": key}
        fetch = completed(zeros, settings=read(ConsumerConfig, given).fetching())
        if most_bytes > 10_000:
            assert [record.value for record in fetch.take(1)] == [bytes(10_000)]
        else:
            with pytest.raises(CorruptRecordError, match=r"more than 9000 .*decompressed\.bytes"):
                fetch.take(1)


def with_header(stored: bytes, **fields: int) -> bytes:
    """Where a broker says something else of its batch, with a checksum that fits."""
    header = read_header(memoryview(stored))._replace(**fields)
    changed = bytearray(HEADER.pack(*header) + stored[HEADER_BYTES:])
    changed[17:21] = crc32c(changed[21:]).to_bytes(4)
    return bytes(changed)


def at_offsets(*offsets: int, base: int = 10, last_delta: int = 1) -> bytes:
    records = [Record(offset, 1, None, b"v") for offset in offsets]
    return with_header(bytes(encode_batch(records, base_offset=base)), last_offset_delta=last_delta)


@pytest.mark.parametrize("base", [2**63 - 1, 2**63 - 1 - 2**31 + 1])
@pytest.mark.parametrize("take", [CompletedFetch.take, CompletedFetch.take_batches])
def test_a_batch_that_nothing_could_follow_is_corrupt(base: int, take: Take[object]) -> None:
    far = with_header(batch(0, 1), base_offset=base)
    fetch = completed(batch(0, 2) + far)
    assert take(fetch, MANY)
    for _ in range(2):
        with pytest.raises(CorruptRecordError, match=f"t-0 at 2: .*a batch at offset {base}"):
            take(fetch, MANY)
    assert fetch.next_offset == 2


def test_a_compressed_record_that_nothing_could_follow_is_corrupt() -> None:
    records = [Record(2**63 - 1, 1, None, b"v")]
    old = bytearray(encode_message_set(records, magic=0, codec=Codec.GZIP))
    old[:8] = bytes(8)  # as early librdkafka leaves it
    with pytest.raises(CorruptRecordError, match=f"a record at offset {2**63 - 1}"):
        completed(bytes(old)).take(MANY)


@pytest.mark.parametrize(
    ("offsets", "last_delta", "taken"),
    [
        # As many records as offsets: they are counted.
        ((10, 3), 1, [10, 11]),
        ((3, 3), 1, [10, 11]),
        ((73, 10), 1, [10, 11]),
        # Others are passed over where they go back, as Kafka's consumer does.
        ((10, 3, 12), 5, [10, 12]),
        ((3, 3), 5, []),
        ((73, 10), 63, [73]),
        ((10, 12, 12, 11, 15), 5, [10, 12, 15]),
    ],
)
@pytest.mark.parametrize("most", [1, MANY])
def test_offsets_that_go_back_within_a_batch_are_never_handed_out(
    offsets: tuple[int, ...], last_delta: int, taken: list[int], most: int
) -> None:
    fetch = completed(at_offsets(*offsets, last_delta=last_delta), asked_offset=10)
    found: list[int] = []
    while records := fetch.take(most):
        found += [record.offset for record in records]
    assert found == taken
    assert fetch.next_offset == max(10 + last_delta, *taken, 0) + 1


@pytest.mark.parametrize("first", range(9, 16))
def test_what_is_before_the_offset_asked_for_is_passed_over(first: int) -> None:
    dense = batch(10, 5, base=10)
    cleaned = at_offsets(10, 12, 13, last_delta=4)
    for stored, offsets in ((dense, range(10, 15)), (cleaned, (10, 12, 13))):
        fetch = completed(stored, asked_offset=first)
        assert [each.offset for each in fetch.take(MANY)] == [at for at in offsets if at >= first]
        assert fetch.take(MANY) == []
        assert fetch.next_offset == 15
