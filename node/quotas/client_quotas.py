"""What clients used of one resource, and how long they wait when it was more than their limit.

ClientQuotaManager and its kin: produced and fetched bytes, the time that requests took, and
mutations of the cluster. Who has no limit is not counted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from logquake.node.quotas.entities import Client, ClientEntity, precedence
from logquake.node.quotas.measures import (
    Rate,
    TokenBucket,
    Windows,
    as_int,
    as_long,
    wait_for_tokens_ms,
    wait_ms,
)
from logquake.seams.scheduler import Scheduler

FORGET_AFTER_MS: Final = 3_600_000  # ClientQuotaManager.InactiveSensorExpirationTimeSeconds

M = TypeVar("M", Rate, TokenBucket)


class Limits(Generic[M]):
    """The limits of one resource, and what each who shares one has used lately.

    Of more than ``max_shares`` that used something within the hour those who did least lately are
    forgotten: clients choose their ids.
    """

    def __init__(
        self,
        measure: Callable[[Windows], M],
        windows: Windows,
        scheduler: Scheduler,
        max_shares: int,
    ) -> None:
        self._measure: Callable[[Windows], M] = measure
        self._windows = windows
        self._scheduler = scheduler
        self._max_shares = max_shares
        self._limits: dict[ClientEntity, float] = {}
        self._used: OrderedDict[ClientEntity, tuple[M, int]] = OrderedDict()  # least lately first

    @property
    def are_set(self) -> bool:
        return bool(self._limits)

    def set(self, entity: ClientEntity, limit: float | None) -> None:
        """None takes the limit of this entity back."""
        if limit is None:
            self._limits.pop(entity, None)
        else:
            self._limits[entity] = limit

    def of(self, client: Client) -> tuple[float, M] | None:
        """The limit that holds for a client, and what was used of it; None without one."""
        if not self._limits:
            return None
        for entity, share in precedence(client):
            limit = self._limits.get(entity)
            if limit is not None:
                return limit, self._used_by(share)
        return None

    def _used_by(self, share: ClientEntity) -> M:
        now_ms = self._scheduler.now_ms()
        known = self._used.pop(share, None)
        measure = self._measure(self._windows) if known is None else known[0]
        self._used[share] = (measure, now_ms)
        _, last_ms = next(iter(self._used.values()))
        if now_ms - last_ms >= FORGET_AFTER_MS or len(self._used) > self._max_shares:
            self._used.popitem(last=False)
        return measure


class RateQuota:
    """A limit of units a second. Whoever goes over it waits until the rate is back at it,
    ``longest_wait_ms`` at most.
    """

    def __init__(
        self,
        windows: Windows,
        scheduler: Scheduler,
        max_shares: int,
        longest_wait_ms: int | None = None,
    ) -> None:
        self._windows = windows
        self._scheduler = scheduler
        self._longest_wait_ms = longest_wait_ms
        self.limits: Limits[Rate] = Limits(Rate, windows, scheduler, max_shares)

    def record(self, client: Client, used: float) -> int:
        """How long the client has to wait, in ms; not at all below 1."""
        found = self.limits.of(client)
        if found is None:
            return 0
        limit, rate = found
        now_ms = self._scheduler.now_ms()
        rate.record(used, now_ms)
        wait = as_long(wait_ms(rate.measure(now_ms), limit, rate.elapsed_ms(now_ms)))
        return as_int(wait if self._longest_wait_ms is None else min(wait, self._longest_wait_ms))

    def unrecord(self, client: Client, used: float) -> None:
        """It was not used after all: the client was sent to wait first."""
        found = self.limits.of(client)
        if found is not None:
            found[1].record(-used, self._scheduler.now_ms())

    def most_at_once(self, client: Client) -> float | None:
        """What is over the limit by itself is more than this (getMaxValueInQuotaWindow)."""
        found = self.limits.of(client)
        if found is None:
            return None
        return found[0] * (self._windows.samples - 1) * self._windows.length_ms / 1_000


class MutationQuota:
    """A limit of partitions created and deleted a second (KIP-599): a bucket of tokens.

    One mutation may take more than there is; the next ones wait until it has come back.
    """

    def __init__(self, windows: Windows, scheduler: Scheduler, max_shares: int) -> None:
        self._scheduler = scheduler
        self.limits: Limits[TokenBucket] = Limits(TokenBucket, windows, scheduler, max_shares)

    def wait_ms(self, client: Client) -> int | None:
        """Of a client that took more than there was, else None. Not above 0 where no tokens come
        back at all.
        """
        found = self.limits.of(client)
        if found is None:
            return None
        limit, bucket = found
        tokens = bucket.tokens(limit, self._scheduler.now_ms())
        return as_long(wait_for_tokens_ms(tokens, limit)) if tokens < 0 else None

    def take(self, client: Client, mutations: int) -> None:
        found = self.limits.of(client)
        if found is not None:
            limit, bucket = found
            bucket.take(mutations, limit, self._scheduler.now_ms())
