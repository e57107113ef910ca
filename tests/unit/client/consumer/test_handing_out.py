"""Where a program reads on when something ends its poll before it has the records."""

from __future__ import annotations

from typing import NoReturn

import pytest

from logquake.client.consumer.deserializing import Deserializers
from logquake.client.consumer.fetch.collecting import Fetched
from logquake.client.consumer.handing_out import HandingOut
from logquake.client.consumer.interceptors import ConsumerInterceptor, Interceptors
from logquake.client.consumer.position import FetchPosition
from logquake.client.consumer.records import ConsumerRecord, ConsumerRecords
from logquake.client.consumer.settings import OffsetReset
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.errors import RecordDeserializationError
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.at_once import at_once

EPOCH = 4
READ = {TopicPartition("t", 0): range(5, 8), TopicPartition("u", 1): range(2)}


def fetched() -> Fetched[ConsumerRecord]:
    return Fetched(
        {
            place: [ConsumerRecord(place, at, 0, False, None, b"%d" % at, (), 0) for at in offsets]
            for place, offsets in READ.items()
        }
    )


def having_read() -> Subscriptions:
    """All of it: where it goes on is behind it."""
    subscriptions = Subscriptions(OffsetReset.EARLIEST)
    subscriptions.assign(list(READ))
    for place, offsets in READ.items():
        subscriptions.of(place).seek(FetchPosition(offsets.start))
        subscriptions.of(place).advance(offsets.stop, EPOCH)
    return subscriptions


def positions(subscriptions: Subscriptions) -> dict[TopicPartition, int]:
    return {place: position.offset for place, position in subscriptions.consumed().items()}


def ends(_: object) -> NoReturn:
    raise SystemExit


class EndingInterceptor(ConsumerInterceptor):
    def on_consume(self, records: ConsumerRecords) -> NoReturn:
        ends(records)


@pytest.mark.parametrize(
    ("deserializers", "interceptors"),
    [
        (Deserializers(None, ends), Interceptors([])),
        (Deserializers(None, bytes.decode), Interceptors([EndingInterceptor()])),
    ],
    ids=["deserializer", "interceptor"],
)
def test_a_program_that_ends_in_what_it_gave_its_consumer_loses_no_records(
    deserializers: Deserializers, interceptors: Interceptors
) -> None:
    subscriptions = having_read()
    handing_out = HandingOut(subscriptions, deserializers, interceptors)
    with pytest.raises(SystemExit):
        at_once(handing_out.steps(fetched()))
    assert positions(subscriptions) == {place: offsets[0] for place, offsets in READ.items()}


@pytest.mark.parametrize(("moved_to", "goes_on_at"), [(6, 5), (3, 3), (99, 99)])
def test_where_a_position_is_moved_meanwhile_is_not_passed_over(
    moved_to: int, goes_on_at: int
) -> None:
    """A new leader's log parts there from what was read; or, further on, it was reset."""
    subscriptions = having_read()
    place = next(iter(READ))

    def moves_and_ends(_: object) -> NoReturn:
        subscriptions.of(place).seek(FetchPosition(moved_to))
        raise SystemExit

    handing_out = HandingOut(subscriptions, Deserializers(None, moves_and_ends), Interceptors([]))
    with pytest.raises(SystemExit):
        at_once(handing_out.steps(fetched()))
    assert positions(subscriptions)[place] == goes_on_at


def fails_on(bad: bytes) -> Deserializers:
    def deserialize(value: bytes) -> str:
        if value == bad:
            raise ValueError(value)
        return value.decode()

    return Deserializers(None, deserialize)


def test_a_program_hears_of_what_cannot_be_deserialized_though_other_partitions_go_on() -> None:
    subscriptions = having_read()
    handing_out = HandingOut(subscriptions, fails_on(b"0"), Interceptors([]))
    with pytest.raises(RecordDeserializationError, match="u-1 at 0"):
        at_once(handing_out.steps(fetched()))
    assert positions(subscriptions) == {place: offsets[0] for place, offsets in READ.items()}


def test_what_is_before_a_record_that_cannot_be_deserialized_is_handed_out() -> None:
    subscriptions = having_read()
    handing_out = HandingOut(subscriptions, fails_on(b"1"), Interceptors([]))
    records = at_once(handing_out.steps(fetched()))
    assert [record.value for record in records] == ["5", "6", "7", "0"]
    assert positions(subscriptions) == dict(zip(READ, (8, 1), strict=True))


def test_what_is_handed_out_is_not_read_again() -> None:
    subscriptions = having_read()
    handing_out = HandingOut(subscriptions, Deserializers(None, bytes.decode), Interceptors([]))
    records = at_once(handing_out.steps(fetched()))
    assert [record.value for record in records] == ["5", "6", "7", "0", "1"]
    assert positions(subscriptions) == {place: offsets.stop for place, offsets in READ.items()}
