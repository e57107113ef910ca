"""Records that travel together: how many there is room for, what is sent, what they are told."""

from __future__ import annotations

import sys
from functools import partial
from sys import getrefcount

import pytest

from logquake.client.errors import ClientError, ConnectionLostError, DeliveryError
from logquake.client.producer.appended import RECORDS
from logquake.client.producer.batch import Fate, ProducerBatch, Stamp
from logquake.client.producer.delivery import Delivery, Outcome, RecordMetadata
from logquake.client.producer.filling import Form
from logquake.client.producer.ratios import CompressionRatios
from logquake.client.producer.turns import Turns
from logquake.client.telling import Telling
from logquake.wire.compression import Codec
from logquake.wire.records import (
    HEADER_BYTES,
    Record,
    check_crc,
    iterate_records,
    read_header,
    size_bound,
)
from logquake.wire.sentinels import NO_TIMESTAMP, UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition

PLACE = TopicPartition("t", 3)
NOW_MS = 1_000


ROOMY = Form(10_000)


def batch_of(
    *values: bytes, form: Form = ROOMY, told: list[Outcome] | None = None
) -> ProducerBatch:
    """All of them, whose outcomes are put in ``told``."""
    batch = ProducerBatch(PLACE, NOW_MS, form)
    for value in values:
        assert append(batch, value, told)
    return batch


def append(batch: ProducerBatch, value: bytes, told: list[Outcome] | None = None) -> bool:
    delivery = batch.try_append(Record(0, NOW_MS, b"k", value))
    if delivery is not None and told is not None:
        delivery.when_done(partial(put_outcome, told, delivery))
    return delivery is not None


def put_outcome(told: list[Outcome], delivery: Delivery) -> None:
    assert delivery.outcome is not None
    told.append(delivery.outcome)


def read_back(batch: ProducerBatch) -> list[Record]:
    view = memoryview(batch.build())
    header = read_header(view, 0)
    check_crc(view, 0, header)
    return list(iterate_records(view, 0, header, 100_000))


def test_without_compression_its_size_is_exact_before_it_is_built() -> None:
    batch = batch_of(b"x" * 10, b"y" * 200)
    estimated = batch.estimated_bytes
    assert estimated == len(batch.build()) == batch.estimated_bytes


def test_a_record_that_fits_to_the_byte_fills_it() -> None:
    size = batch_of(b"x" * 10, b"y" * 20).estimated_bytes
    batch = batch_of(b"x" * 10, form=Form(size))
    assert append(batch, b"y" * 20)
    assert batch.is_full


def test_one_byte_more_and_it_is_closed() -> None:
    size = batch_of(b"x" * 10, b"y" * 20).estimated_bytes
    batch = batch_of(b"x" * 10, form=Form(size - 1))
    assert not append(batch, b"y" * 20)
    assert not append(batch, b"")
    assert [record.value for record in read_back(batch)] == [b"x" * 10]


def test_a_first_record_is_taken_whatever_its_size() -> None:
    assert batch_of(b"x" * 1000, form=Form(0)).is_full


def test_compression_is_thought_to_do_what_it_did() -> None:
    """With a twentieth more, to be sure (MemoryRecordsBuilder)."""
    batch = batch_of(b"x" * 500, form=Form(10_000, Codec.GZIP, estimated_ratio=0.5))
    plain = batch_of(b"x" * 500).estimated_bytes - HEADER_BYTES
    assert batch.estimated_bytes == HEADER_BYTES + int(plain * 0.5 * 1.05)


def test_what_is_sent_can_be_read() -> None:
    batch = batch_of(b"one", b"two", form=Form(10_000, Codec.ZSTD))
    batch.stamp = Stamp(9, 2, 41)
    assert [(record.offset, record.value) for record in read_back(batch)] == [
        (0, b"one"),
        (1, b"two"),
    ]
    header = read_header(memoryview(batch.build()), 0)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (9, 2, 41)


def test_another_sequence_leaves_what_was_sent_alone() -> None:
    """Bytes of an attempt that was given up may still be on their way."""
    batch = batch_of(b"one")
    batch.stamp = Stamp(9, 2, 41)
    sent = batch.build()
    before = bytes(sent)
    batch.restamp(Stamp(9, 3, 0))
    assert batch.was_restamped
    assert sent == before
    again = batch.build()
    check_crc(memoryview(again), 0, read_header(memoryview(again), 0))
    assert read_header(memoryview(again), 0).base_sequence == 0
    assert not batch.was_restamped


def test_records_are_told_where_they_are_in_order() -> None:
    told: list[Outcome] = []
    batch = batch_of(b"one", b"", told=told)
    assert batch.written(70, NO_TIMESTAMP)
    batch.tell()
    assert told == [
        RecordMetadata("t", 3, 70, NOW_MS, 1, 3),
        RecordMetadata("t", 3, 71, NOW_MS, 1, 0),
    ]


def test_where_the_topic_sets_the_time_it_is_the_brokers() -> None:
    told: list[Outcome] = []
    batch = batch_of(b"one", told=told)
    batch.written(UNKNOWN_OFFSET, 5_000)
    batch.tell()
    assert told == [RecordMetadata("t", 3, UNKNOWN_OFFSET, 5_000, 1, 3)]


def test_an_outcome_comes_once() -> None:
    told: list[Outcome] = []
    batch = batch_of(b"one", told=told)
    assert batch.failed(lambda _: ClientError("too late"))
    assert not batch.written(70, NO_TIMESTAMP)
    assert not batch.failed(lambda _: ClientError("again"))
    batch.tell()
    assert len(told) == 1
    assert isinstance(told[0], DeliveryError)


def fails() -> None:
    raise ZeroDivisionError


def test_a_callback_that_raises_keeps_nobody_from_being_told() -> None:
    told: list[Outcome | None] = []
    batch = ProducerBatch(PLACE, NOW_MS, ROOMY)
    delivery = RECORDS.add_first(batch, Record(0, NOW_MS, None, None))
    delivery.when_done(fails)
    delivery.when_done(lambda: told.append(delivery.outcome))
    batch.written(1, NO_TIMESTAMP)
    batch.tell()
    assert delivery.is_done
    assert told == [RecordMetadata("t", 3, 1, NOW_MS, -1, -1)]


def test_a_callback_that_ends_the_thread_keeps_no_other_record_from_being_told() -> None:
    told: list[Outcome] = []
    batch = ProducerBatch(PLACE, NOW_MS, ROOMY)
    RECORDS.add_first(batch, Record(0, NOW_MS, None, None)).when_done(sys.exit)
    assert append(batch, b"two", told)
    batch.written(1, NO_TIMESTAMP)
    with pytest.raises(SystemExit):
        batch.tell()
    assert len(told) == 1


def test_callbacks_may_come_after_the_outcome() -> None:
    """When nobody has the core to himself any more."""
    told: list[Outcome] = []
    telling = Telling()
    turns = Turns(telling)
    batch = ProducerBatch(PLACE, NOW_MS, ROOMY)
    turns.begins(batch)
    assert append(batch, b"one", told)
    batch.written(1, NO_TIMESTAMP)
    turns.settled(PLACE)
    assert batch.is_settled
    assert told == []
    telling.tell()
    assert told == [RecordMetadata("t", 3, 1, NOW_MS, 1, 3)]


def test_of_records_that_nobody_asks_about_a_batch_keeps_nothing() -> None:
    batch = ProducerBatch(PLACE, NOW_MS, ROOMY)
    delivery = RECORDS.add_first(batch, Record(0, NOW_MS, b"k", b"v"))
    others = getrefcount(delivery) - 2  # this name, and the call's argument
    assert others == 0


class TestSplit:
    def test_into_two_at_least(self) -> None:
        """What fits into the slack beside a record that is too large would be refused with it."""
        batch = batch_of(b"x" * 1_000, b"small")
        assert [part.count for part in batch.split(100)] == [1, 1]
        assert [part.count for part in batch_of(b"one", b"two").split(10_000)] == [1, 1]

    def test_into_what_fits(self) -> None:
        told: list[Outcome] = []
        values = [bytes([65 + index]) * 100 for index in range(5)]
        form = Form(1000, Codec.GZIP, estimated_ratio=0.2)
        batch = batch_of(*values, form=form, told=told)
        batch.stamp = Stamp(9, 2, 0x7FFFFFFE)
        parts = batch.split(300)
        assert batch.fate is Fate.SPLIT
        assert [[record.value for record in read_back(part)] for part in parts] == [
            values[:2],
            values[2:4],
            values[4:],
        ]
        # The sequences that the records had.
        assert [part.stamp.base_sequence for part in parts] == [0x7FFFFFFE, 0, 2]
        assert all(part.created_ms == NOW_MS and part.attempts == 0 for part in parts)
        settled = [batch.is_settled]
        for offset, part in ((10, parts[0]), (12, parts[1]), (14, parts[2])):
            part.written(offset, NO_TIMESTAMP)
            part.tell()
            settled.append(batch.is_settled)
        assert settled == [False, False, False, True]
        assert [one.offset for one in told if isinstance(one, RecordMetadata)] == [*range(10, 15)]

    def test_who_asks_later_is_told_by_the_part(self) -> None:
        batch = ProducerBatch(PLACE, NOW_MS, ROOMY)
        one, two = (batch.try_append(Record(0, NOW_MS, None, value)) for value in (b"1", b"2"))
        assert one is not None
        assert two is not None
        first, second = batch.split(10)
        told: list[str] = []
        two.when_done(lambda: told.append("two"))
        second.written(70, NO_TIMESTAMP)
        second.tell()
        assert (one.is_done, two.is_done, told) == (False, True, ["two"])
        first.failed(lambda _: ClientError("too late"))
        assert isinstance(one.outcome, DeliveryError)
        assert two.outcome == RecordMetadata("t", 3, 70, NOW_MS, -1, 1)

    def test_a_part_holds_one_record_at_least(self) -> None:
        batch = batch_of(b"x" * 400, b"y" * 400, form=Form(2000))
        assert [part.count for part in batch.split(0)] == [1, 1]


def test_a_retry_to_a_new_leader_is_one_as_long_as_it_has_not_failed_there() -> None:
    batch = batch_of(b"one")
    retries_at_once = []
    batch.saw_leader(4)
    batch.will_retry(ConnectionLostError("lost"), NOW_MS, 100)
    for epoch in (4, 5, 5):
        batch.saw_leader(epoch)
        retries_at_once.append(batch.has_new_leader)
    batch.will_retry(ConnectionLostError("lost"), NOW_MS, 100)
    assert [*retries_at_once, batch.has_new_leader] == [False, True, True, False]


def test_the_bound_of_a_batch_of_one_record() -> None:
    """61 of the header, 21 of a record's at most, a byte each for the three lengths, and what it
    holds (DefaultRecordBatch.estimateBatchSizeUpperBound).
    """
    assert size_bound(Record(0, 0, b"k", b"v" * 10)) == 61 + 21 + 2 + 11 + 1


class TestRatios:
    def test_fall_slowly(self) -> None:
        ratios = CompressionRatios()
        ratios.observe("t", 0.2)
        assert ratios.estimate("t") == pytest.approx(0.995)

    def test_but_not_below_what_was_seen(self) -> None:
        ratios = CompressionRatios()
        ratios.observe("t", 0.998)
        assert ratios.estimate("t") == pytest.approx(0.998)

    def test_and_rise_fast(self) -> None:
        ratios = CompressionRatios()
        ratios.observe("t", 1.01)
        assert ratios.estimate("t") == pytest.approx(1.05)
        ratios.observe("t", 1.3)
        assert ratios.estimate("t") == pytest.approx(1.3)

    def test_a_batch_that_was_too_large_makes_them_what_they_were(self) -> None:
        ratios = CompressionRatios()
        ratios.observe("t", 0.2)
        ratios.was_too_large("t", 0.3)
        assert ratios.estimate("t") == 1.0

    def test_are_a_topics_own(self) -> None:
        ratios = CompressionRatios()
        ratios.observe("t", 0.2)
        assert ratios.estimate("u") == 1.0
