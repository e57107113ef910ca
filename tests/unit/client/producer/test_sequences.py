"""Sequences begin again at 0 after 2^31 - 1, and nothing else changes there."""

from __future__ import annotations

import weakref
from collections import deque

import pytest

from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.filling import Form
from logquake.client.producer.idempotence.identity import Identity
from logquake.client.producer.idempotence.sequences import SequenceBook
from logquake.client.producer.sequence_order import is_before, sequence_after
from logquake.wire.records import Record
from logquake.wire.topic_partition import TopicPartition

PLACE = TopicPartition("t", 3)
LAST = 0x7FFFFFFF
ME = Identity(7, 0)


def batch_of(count: int) -> ProducerBatch:
    batch = ProducerBatch(PLACE, 0, Form(10_000))
    for _ in range(count):
        assert batch.try_append(Record(0, 0, b"k", b"v"))
    return batch


@pytest.fixture
def book() -> SequenceBook:
    """Whose next sequence is the last but one."""
    book = SequenceBook()
    first = batch_of(1)
    book.number(first, ME)
    book.written(first, 0)
    book.partitions[PLACE].next = LAST - 1
    book.partitions[PLACE].last_acked = LAST - 2
    return book


def numbered(book: SequenceBook, *counts: int) -> list[ProducerBatch]:
    batches = [batch_of(count) for count in counts]
    for batch in batches:
        book.number(batch, ME)
    return batches


def first_sequences(batches: list[ProducerBatch] | deque[ProducerBatch]) -> list[int]:
    return [batch.stamp.base_sequence for batch in batches]


def test_after_the_last_one_comes_0() -> None:
    assert [sequence_after(LAST, 1), sequence_after(0, -1)] == [0, LAST]
    assert is_before(LAST, 0)
    assert not is_before(0, LAST)
    assert not is_before(5, 5)


def test_batches_leave_in_the_order_of_their_sequences(book: SequenceBook) -> None:
    before, across, after = numbered(book, 1, 3, 1)
    queue: deque[ProducerBatch] = deque()
    for batch in (after, before, across):
        book.forget(batch)
    for batch in (after, before, across):
        book.put_back(queue, batch)
    assert first_sequences(queue) == [LAST - 1, LAST, 2]
    assert first_sequences(book.partitions[PLACE].in_flight) == [LAST - 1, LAST, 2]
    assert [book.holds_back(batch, ME) for batch in (before, across, after)] == [False, True, True]


def test_nothing_new_follows_once_as_many_left_as_a_leader_remembers(book: SequenceBook) -> None:
    """The first may be written, and its leader gone: the next one has to know it again."""
    first, *others, new = (batch_of(1) for _ in range(6))
    for batch in (first, *others):
        assert not book.holds_back(batch, ME)
        book.number(batch, ME)
    for batch in others:
        book.written(batch, 10)
    assert book.holds_back(new, ME)
    assert not book.holds_back(first, ME)
    book.written(first, 9)
    assert not book.holds_back(new, ME)


def test_the_parts_of_one_that_was_split_count_in_its_place(book: SequenceBook) -> None:
    whole = batch_of(2)
    assert not book.holds_back(whole, ME)
    book.number(whole, ME)
    book.was_split(whole)
    queue: deque[ProducerBatch] = deque()
    parts = whole.split(80)
    for part in reversed(parts):
        book.put_back(queue, part)
    assert first_sequences(queue) == [LAST - 1, LAST]
    book.written(parts[0], 10)
    others = numbered(book, 1, 1, 1)
    assert not book.holds_back(batch_of(1), ME)
    for batch in [*others, *numbered(book, 1)]:
        book.written(batch, 20)
    assert book.holds_back(batch_of(1), ME)


def test_what_follows_the_last_one_is_next_once_that_is_acked(book: SequenceBook) -> None:
    before, across, after = numbered(book, 1, 3, 1)
    book.written(before, 10)
    assert [book.is_next(across), book.is_next(after)] == [True, False]
    book.written(across, 11)
    assert book.is_next(after)
    assert book.partitions[PLACE].last_acked == 1


def test_what_was_given_up_there_and_is_written_leaves_no_gap(book: SequenceBook) -> None:
    before, across, after = numbered(book, 1, 3, 1)
    book.written(before, 10)
    for batch in (across, before):  # of which the second tells nothing new
        book.given_up(batch)
        book.forget(batch)
    assert book.unresolved(PLACE) == 2
    book.written(after, 14)
    assert book.take_gaps() == []


def test_what_was_given_up_there_and_is_missing_leaves_one(book: SequenceBook) -> None:
    (across,) = numbered(book, 3)
    book.given_up(across)
    book.forget(across)
    assert book.take_gaps() == [PLACE]


def test_what_follows_a_refused_one_moves_up(book: SequenceBook) -> None:
    before, across, after = numbered(book, 1, 3, 1)
    book.forget(across)
    book.close_gap(across)
    assert first_sequences([before, after]) == [LAST - 1, LAST]
    assert book.partitions[PLACE].next == 0


def test_nothing_is_kept_of_batches_that_are_done(book: SequenceBook) -> None:
    """A partition that rests would keep their bytes, which buffer.memory knows nothing of."""
    batches = [weakref.ref(batch) for batch in numbered(book, 1, 1, 1)]
    for each in batches:
        batch = each()
        assert batch is not None
        book.written(batch, 0)
    del batch
    assert [each() for each in batches] == [None, None, None]


def test_what_is_done_behind_one_that_was_split_counts_with_its_parts(book: SequenceBook) -> None:
    """Leaders remember five, from the first that is not done on."""
    first, second, third, fourth = numbered(book, 2, 1, 1, 1)
    for done in (second, third, fourth):
        book.written(done, 0)
    parts = first.split(0)
    book.was_split(first)
    for part in reversed(parts):
        book.put_back(deque(), part)
    assert book.partitions[PLACE].is_far_ahead()
