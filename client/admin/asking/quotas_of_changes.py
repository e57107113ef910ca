"""Changes that a quota delays (KIP-599): topics created, grown and deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from logquake.client.admin.asking.asks import Ask, Asks
from logquake.client.admin.asking.refusals import refusal
from logquake.client.admin.asking.results import Results
from logquake.client.errors import (
    ClientError,
    ThrottlingQuotaExceededError,
    TimedOutError,
)
from logquake.wire.errors import ErrorCode

K = TypeVar("K")
I = TypeVar("I")  # noqa: E741 - the request for an item
V = TypeVar("V")


_LEAST_PAUSE_MS = 100  # from a broker that does not throttle


def put_off(
    items: Mapping[K, I],
    results: Results[K, V],
    ask: Callable[[Mapping[K, I]], Ask[Any]],
    told: Callable[[Any], Iterable[tuple[K, V | ClientError]]],
    *,
    retry_on_quota_violation: bool,
) -> Asks:
    """Request all, then again those that exceeded the quota.

    The connection observes the broker's throttling meanwhile (KIP-219). Items that still exceed
    the quota when the time is up fail with that error.
    """
    left = items
    put_off: dict[K, ThrottlingQuotaExceededError] = {}
    while left:
        pause_ms = _LEAST_PAUSE_MS if put_off else 0
        try:
            reply = yield replace(ask(left), delay_ms=pause_ms)
        except TimedOutError:
            results.settle_each(put_off.items())
            raise
        put_off = {}
        for key, outcome in told(reply.message):
            if retry_on_quota_violation and isinstance(outcome, ThrottlingQuotaExceededError):
                put_off[key] = outcome
            else:
                results.settle(key, outcome)
        left = {key: items[key] for key in put_off if key in items}


def change_refusal(
    code: int, context: str, message: str | None, throttle_time_ms: int
) -> ClientError | None:
    """Like `refusal`; a quota's error says when to retry."""
    if code == ErrorCode.THROTTLING_QUOTA_EXCEEDED:
        return ThrottlingQuotaExceededError(throttle_time_ms, message or context)
    return refusal(code, context, message)
