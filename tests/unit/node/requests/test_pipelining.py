"""After which Produce the connection's next one may be appended at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logquake.node.replication.values import ProduceEntry
from logquake.node.requests.pipelining import ProducePipelining
from logquake.wire.records import read_header

ALL, IDEMPOTENT, NONE = ProducePipelining

Batch = Callable[..., bytes]


@pytest.fixture
def of_idempotent(batch: Batch) -> ProduceEntry:
    return entry(batch(b"a", producer_id=0, producer_epoch=0, base_sequence=0))


@pytest.fixture
def of_other(batch: Batch) -> ProduceEntry:
    return entry(batch(b"a"))


@pytest.fixture
def of_old_producer() -> ProduceEntry:
    """A message set, whose header the handler does not read."""
    return ProduceEntry("orders", 0, memoryview(b""))


def entry(records: bytes) -> ProduceEntry:
    view = memoryview(records)
    return ProduceEntry("orders", 0, view, read_header(view))


def test_by_default_a_request_may_follow_one_of_an_idempotent_producer(
    of_idempotent: ProduceEntry,
) -> None:
    assert IDEMPOTENT.lets_follow([of_idempotent, of_idempotent], waits=True)


def test_by_default_none_may_follow_one_with_a_batch_that_could_be_doubled(
    of_idempotent: ProduceEntry, of_other: ProduceEntry, of_old_producer: ProduceEntry
) -> None:
    assert not IDEMPOTENT.lets_follow([of_other], waits=True)
    assert not IDEMPOTENT.lets_follow([of_idempotent, of_other], waits=True)
    assert not IDEMPOTENT.lets_follow([of_old_producer], waits=True)


def test_by_default_a_request_may_follow_one_that_waits_for_nobody(
    of_other: ProduceEntry, of_old_producer: ProduceEntry
) -> None:
    assert IDEMPOTENT.lets_follow([of_other, of_old_producer], waits=False)
    assert not NONE.lets_follow([of_other], waits=False)


def test_all_may_follow_or_none_where_that_is_asked_for(
    of_idempotent: ProduceEntry, of_other: ProduceEntry
) -> None:
    assert ALL.lets_follow([of_idempotent], waits=True)
    assert ALL.lets_follow([of_other], waits=True)
    assert not NONE.lets_follow([of_idempotent], waits=True)
    assert not NONE.lets_follow([of_other], waits=True)
