"""What a topic holds twice, or late."""

from __future__ import annotations

from collections.abc import Iterator

from logquake.chaos.card.stored import Finding, Senders, misplaced
from logquake.chaos.history.rows import Kind
from logquake.client.sync.ranges import ReadBatch
from logquake.wire.records import Record, encode_batch, iterate_batches

PARTITION = "orders-0"


def batch(first_offset: int, *records: tuple[int, bytes]) -> ReadBatch:
    """Of timestamps and values."""
    stored = [
        Record(first_offset + place, timestamp_ms, None, value)
        for place, (timestamp_ms, value) in enumerate(records)
    ]
    encoded = bytes(encode_batch(stored, base_offset=first_offset))
    _, header = next(iter(iterate_batches(memoryview(encoded))))
    return ReadBatch(header, stored)


def sent_by(client: str, *batches: ReadBatch) -> Senders:
    return {(PARTITION, each.header.crc): client for each in batches}


def found(batches: list[ReadBatch], senders: Senders) -> Iterator[tuple[Kind, int, int, str]]:
    for each in misplaced(PARTITION, batches, senders):
        assert isinstance(each, Finding)
        yield each.what, each.offset, each.other, each.client


def test_a_batch_that_was_sent_again_is_there_twice() -> None:
    once, again = batch(0, (1, b"a"), (2, b"b")), batch(2, (1, b"a"), (2, b"b"))
    assert list(found([once, again], sent_by("app", once, again))) == [
        (Kind.STORED_TWICE, 2, 0, "app"),
        (Kind.STORED_TWICE, 3, 1, "app"),
    ]


def test_a_record_behind_a_later_one_of_its_client_is_late() -> None:
    early, late, others = batch(0, (5, b"a")), batch(1, (3, b"b")), batch(2, (1, b"c"))
    senders = {**sent_by("app", early, late), **sent_by("another", others)}
    assert list(found([early, late, others], senders)) == [(Kind.STORED_LATE, 1, 0, "app")]
