"""Limits of addresses, as ZooKeeper has them."""

from __future__ import annotations

import pytest

from logquake.node.quotas.addresses import AddressHandler, at_address
from logquake.node.quotas.client_quotas import RateQuota
from logquake.node.quotas.measures import Windows
from tests.doubles.journal import MemoryJournal
from tests.doubles.scheduler import ManualScheduler
from tests.doubles.workers import ScheduledWorkers

RATE = "connection_creation_rate"


@pytest.fixture
def quota(scheduler: ManualScheduler) -> RateQuota:
    return RateQuota(Windows(), scheduler, 100)


@pytest.fixture
def handler(quota: RateQuota, scheduler: ManualScheduler, journal: MemoryJournal) -> AddressHandler:
    workers = ScheduledWorkers(scheduler, delay_ms=0)
    return AddressHandler(quota, workers, {"here": "127.0.0.1"}.get, journal)


def limit_of(quota: RateQuota, ip: str) -> float | None:
    found = quota.limits.of(at_address(ip))
    return None if found is None else found[0]


def test_an_address_has_its_own_limit_or_the_default(
    handler: AddressHandler, quota: RateQuota
) -> None:
    handler("127.0.0.9", {RATE: "5"})
    handler("<default>", {RATE: "7"})
    assert (limit_of(quota, "127.0.0.9"), limit_of(quota, "127.0.0.1")) == (5, 7)
    handler("127.0.0.9", {})
    assert limit_of(quota, "127.0.0.9") == 7


def test_a_host_is_looked_for(
    handler: AddressHandler, quota: RateQuota, scheduler: ManualScheduler
) -> None:
    handler("here", {RATE: "5"})
    scheduler.advance(1)
    assert limit_of(quota, "127.0.0.1") == 5


def test_what_makes_no_sense_limits_nobody(
    handler: AddressHandler,
    quota: RateQuota,
    scheduler: ManualScheduler,
    journal: MemoryJournal,
) -> None:
    handler("nowhere", {RATE: "5"})
    handler("127.0.0.9", {RATE: "many"})
    scheduler.advance(1)
    assert not quota.limits.are_set
    assert [event.subject for event in journal.events] == ["ips/127.0.0.9", "ips/nowhere"]
