"""A function of the program's asks a future of asyncio's that was cancelled: it alone fails."""

from __future__ import annotations

import asyncio

import pytest

from logquake.client.callbacks import fails_alone
from logquake.client.consumer.group.errands import Errand
from logquake.client.producer.delivery import Delivery, Results
from logquake.wire.records import Record
from logquake.wire.topic_partition import TopicPartition


def ask_a_cancelled_future() -> None:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("error", "does"),
    [
        (ValueError(), True),
        (asyncio.CancelledError(), True),
        (SystemExit(), False),
        (KeyboardInterrupt(), False),
    ],
)
def test_what_fails_alone(error: BaseException, does: bool) -> None:
    assert fails_alone(error) is does


def test_the_next_who_wants_to_hear_of_a_record_is_told() -> None:
    results, told = Results(TopicPartition("topic", 0)), list[bool]()
    delivery = Delivery(results, 0, Record(0, 0, None, b"value", ()))
    delivery.when_done(ask_a_cancelled_future)
    delivery.when_done(lambda: told.append(True))
    results.written(0, 0)
    results.tell()
    assert told == [True]


def test_an_assignor_has_failed() -> None:
    errand = Errand(ask_a_cancelled_future)
    errand.run()
    assert errand.is_done
    with pytest.raises(RuntimeError, match="CancelledError"):
        errand.outcome()
