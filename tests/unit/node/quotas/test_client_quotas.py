"""Which limit holds for a client, and how long it waits beyond it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from logquake.node.quotas.client_quotas import FORGET_AFTER_MS, MutationQuota, RateQuota
from logquake.node.quotas.entities import DEFAULT, Client, ClientEntity
from logquake.node.quotas.measures import Windows
from tests.doubles.scheduler import ManualScheduler

WINDOWS = Windows(samples=11, length_ms=1_000)
MAX_SHARES = 50
ALICE = Client("alice", "app")
PRECEDENCE = [
    ClientEntity("alice", "app"),
    ClientEntity("alice", DEFAULT),
    ClientEntity("alice"),
    ClientEntity(DEFAULT, "app"),
    ClientEntity(DEFAULT, DEFAULT),
    ClientEntity(DEFAULT),
    ClientEntity(None, "app"),
    ClientEntity(None, DEFAULT),
]


@pytest.fixture
def scheduler() -> ManualScheduler:
    return ManualScheduler()


@pytest.fixture
def quota(scheduler: ManualScheduler) -> RateQuota:
    return RateQuota(WINDOWS, scheduler, MAX_SHARES)


def limit_of(quota: RateQuota, client: Client = ALICE) -> float | None:
    found = quota.limits.of(client)
    return found and found[0]


@pytest.mark.parametrize("first", range(len(PRECEDENCE)))
def test_the_most_particular_limit_holds(quota: RateQuota, first: int) -> None:
    for place, entity in enumerate(PRECEDENCE[first:]):
        quota.limits.set(entity, place + 1)
    quota.limits.set(ClientEntity("bob"), 100)
    assert limit_of(quota) == 1


def test_without_a_limit_nothing_is_counted(quota: RateQuota) -> None:
    quota.limits.set(ClientEntity("bob"), 1)
    quota.limits.set(ClientEntity("alice"), 1)
    quota.limits.set(ClientEntity("alice"), None)
    assert (limit_of(quota), quota.record(ALICE, 1e9), quota.most_at_once(ALICE)) == (None, 0, None)


def waits(quota: RateQuota, *clients: Client, used: float = 15_000) -> list[int]:
    return [quota.record(client, used) for client in clients]


def test_a_client_waits_until_its_rate_is_the_limit(quota: RateQuota) -> None:
    """15,000 in what counts as 10 s is 1,500 a second; over 15 s it were 1,000."""
    quota.limits.set(ClientEntity("alice"), 1_000)
    assert waits(quota, ALICE) == [5_000]


@pytest.mark.parametrize(
    ("entity", "shared_by"),
    [
        (ClientEntity("alice"), [Client("alice", "other")]),
        (ClientEntity(DEFAULT), [Client("alice", "other")]),
        (ClientEntity(None, "app"), [Client("bob", "app")]),
        (ClientEntity(None, DEFAULT), [Client("bob", "app")]),
        (ClientEntity("alice", DEFAULT), []),
        (ClientEntity(DEFAULT, DEFAULT), []),
    ],
)
def test_who_shares_a_limit(
    quota: RateQuota, entity: ClientEntity, shared_by: Iterable[Client]
) -> None:
    quota.limits.set(entity, 1_000)
    others = [Client("alice", "other"), Client("bob", "app"), Client("bob", "other")]
    quota.record(ALICE, 10_000)
    assert [each for each in others if quota.record(each, 1)] == [
        each for each in others if each in shared_by
    ]


def test_what_is_unrecorded_leaves_no_wait(quota: RateQuota) -> None:
    quota.limits.set(ClientEntity("alice"), 1_000)
    quota.record(ALICE, 50_000)
    quota.unrecord(ALICE, 50_000)
    assert waits(quota, ALICE, used=1_000) == [0]


def test_the_most_that_may_be_used_at_once(quota: RateQuota) -> None:
    quota.limits.set(ClientEntity("alice"), 1_000)
    most = quota.most_at_once(ALICE)
    assert most == 10_000
    assert waits(quota, ALICE, used=most) == [0]


def test_a_wait_may_be_bounded(scheduler: ManualScheduler) -> None:
    quota = RateQuota(WINDOWS, scheduler, MAX_SHARES, longest_wait_ms=1_000)
    quota.limits.set(ClientEntity("alice"), 1)
    assert waits(quota, ALICE) == [1_000]


def test_a_wait_without_end_is_none_unless_it_is_bounded(
    quota: RateQuota, scheduler: ManualScheduler
) -> None:
    """As in Kafka, whose wait for a limit of 0 does not fit its type."""
    bounded = RateQuota(WINDOWS, scheduler, MAX_SHARES, longest_wait_ms=1_000)
    for each in (quota, bounded):
        each.limits.set(ClientEntity("alice"), 0)
    assert (waits(quota, ALICE, used=1), waits(bounded, ALICE, used=1)) == ([-1], [1_000])


@pytest.mark.parametrize("limit", [float("nan"), float("inf"), -float("inf"), -1.0, 1e-300])
@pytest.mark.parametrize("used", [0, 1, 1e300])
def test_no_limit_is_too_odd(quota: RateQuota, limit: float, used: float) -> None:
    quota.limits.set(ClientEntity("alice"), limit)
    assert -(2**31) <= quota.record(ALICE, used) < 2**31


def test_limits_of_client_ids_are_not_for_those_without_one(quota: RateQuota) -> None:
    for place, entity in enumerate(PRECEDENCE):
        quota.limits.set(entity, place)
    assert limit_of(quota, Client("alice", "")) == PRECEDENCE.index(ClientEntity("alice"))
    assert limit_of(quota, Client("bob", "")) == PRECEDENCE.index(ClientEntity(DEFAULT))
    quota.limits.set(ClientEntity(DEFAULT), None)
    assert limit_of(quota, Client("bob", "")) is None


def test_who_invents_client_ids_fills_no_memory(quota: RateQuota) -> None:
    quota.limits.set(ClientEntity(None, DEFAULT), 1)
    for number in range(1_000):
        quota.record(Client("", f"app-{number}"), 1)
    assert len(quota.limits._used) == MAX_SHARES


def test_who_was_not_seen_for_an_hour_is_forgotten(
    quota: RateQuota, scheduler: ManualScheduler
) -> None:
    quota.limits.set(ClientEntity(None, DEFAULT), 1)
    for number in range(1_000):
        quota.record(Client("", f"app-{number}"), 1)
        scheduler.advance(FORGET_AFTER_MS // 10)
    assert len(quota.limits._used) <= 11


def test_mutations_wait_for_those_before_them(scheduler: ManualScheduler) -> None:
    quota = MutationQuota(WINDOWS, scheduler, MAX_SHARES)
    quota.limits.set(ClientEntity("alice"), 2)
    found = []
    for count in (22, 1, 1):
        quota.take(ALICE, count)
        found.append(quota.wait_ms(ALICE))
    assert found == [None, 500, 1_000]
    scheduler.advance(1_000)
    assert quota.wait_ms(ALICE) is None


def test_mutations_without_a_limit(scheduler: ManualScheduler) -> None:
    quota = MutationQuota(WINDOWS, scheduler, MAX_SHARES)
    quota.take(ALICE, 10**6)
    assert quota.wait_ms(ALICE) is None


def test_what_is_over_a_limit_of_no_mutations_has_no_wait(scheduler: ManualScheduler) -> None:
    quota = MutationQuota(WINDOWS, scheduler, MAX_SHARES)
    quota.limits.set(ClientEntity("alice"), 0)
    assert quota.wait_ms(ALICE) is None
    quota.take(ALICE, 1)
    assert quota.wait_ms(ALICE) == 2**63 - 1
