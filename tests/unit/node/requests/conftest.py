"""A broker for each test, and batches for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from logquake.wire.records import Record, encode_batch
from tests.doubles.journal import MemoryJournal
from tests.doubles.scheduler import ManualScheduler
from tests.unit.node.requests.lone_broker import TOPIC, LoneBroker


@pytest.fixture
def properties() -> dict[str, str]:
    """What a test's broker has set besides."""
    return {}


@pytest.fixture
def stopped_broker(
    scheduler: ManualScheduler, journal: MemoryJournal, properties: Mapping[str, str]
) -> LoneBroker:
    """A broker that has not been started."""
    return LoneBroker(scheduler, journal, properties)


@pytest.fixture
def broker(stopped_broker: LoneBroker) -> Iterator[LoneBroker]:
    """A broker that leads ``orders`` with two partitions, and knows that broker 2 exists."""
    lone = stopped_broker
    lone.start()
    lone.create_topic(TOPIC, partitions=2)
    lone.learn_of_other_broker()
    yield lone
    lone.broker.close()


@pytest.fixture
def batch() -> Callable[..., bytes]:
    """One batch of the given values, as a producer sends it."""

    def make(
        *values: bytes, timestamp_ms: int = 1_700_000_000_000, step_ms: int = 1, **fields: Any
    ) -> bytes:
        records = [
            Record(at, timestamp_ms + at * step_ms, key=None, value=value, headers=())
            for at, value in enumerate(values)
        ]
        return bytes(encode_batch(records, **fields))

    return make
