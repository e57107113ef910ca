"""How much of something was used lately: pure, of times that the caller names.

Kafka's Rate over a WindowedSum, and its TokenBucket (org.apache.kafka.common.metrics.stats), so
that the same use brings the same wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, inf, isnan, nan
from typing import Final

_LONG: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Windows:
    """quota.window.num samples of quota.window.size.seconds each."""

    samples: int = 11
    length_ms: int = 1_000

    @property
    def span_ms(self) -> int:
        return self.samples * self.length_ms


@dataclass(slots=True)
class _Sample:
    start_ms: int
    last_ms: int
    total: float = 0.0


class Rate:
    """Units a second over the last windows.

    A window that began before the span and had use within it counts whole. Until all windows but
    one have passed they are taken as passed: a first burst is measured against the whole span.
    """

    __slots__ = ("_samples", "_windows")

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._samples: list[_Sample] = []  # in the order of their begin

    def record(self, used: float, now_ms: int) -> None:
        samples = self._samples
        if not samples or now_ms - samples[-1].start_ms >= self._windows.length_ms:
            samples.append(_Sample(now_ms, now_ms))
            del samples[: -(self._windows.samples + 1)]
        samples[-1].total += used
        samples[-1].last_ms = now_ms

    def measure(self, now_ms: int) -> float:
        total = sum(sample.total for sample in self._current(now_ms))
        return total * 1_000 / self.elapsed_ms(now_ms)

    def elapsed_ms(self, now_ms: int) -> int:
        """Over how long the rate is taken (Rate.windowSize)."""
        length_ms = self._windows.length_ms
        current = self._current(now_ms)
        elapsed_ms = now_ms - current[0].start_ms if current else 0
        lacking = self._windows.samples - 1 - elapsed_ms // length_ms
        return max(elapsed_ms + max(lacking, 0) * length_ms, 1)

    def _current(self, now_ms: int) -> list[_Sample]:
        """Without the samples that had no use within the span."""
        span_ms = self._windows.span_ms
        self._samples = [each for each in self._samples if now_ms - each.last_ms < span_ms]
        return self._samples


class SimpleRate(Rate):
    """Over the time that has passed since the first window, and never over less than one."""

    __slots__ = ()

    def elapsed_ms(self, now_ms: int) -> int:
        current = self._current(now_ms)
        return max(now_ms - current[0].start_ms if current else 0, self._windows.length_ms)


def wait_ms(rate: float, limit: float, elapsed_ms: int) -> float:
    """With so much longer a time the rate were the limit (QuotaUtils.throttleTime)."""
    if rate <= limit:
        return 0.0
    return _quotient(rate - limit, limit) * elapsed_ms


def wait_for_tokens_ms(tokens: float, rate: float) -> float:
    """Until those that are lacking have come back (ControllerMutationQuotaManager.throttleTimeMs).

    Below zero where nothing lacks.
    """
    return _quotient(-tokens, rate) * 1_000


def as_long(number: float) -> int:
    """Math.round: what is no number is 0, what is beyond a long is the last one."""
    if isnan(number):
        return 0
    if abs(number) >= _LONG:
        return _LONG if number > 0 else -_LONG - 1
    return floor(number + 0.5)


def as_int(number: int) -> int:
    """A long made an int, as Java does: what is beyond wraps around.

    So nobody waits for a limit of zero bytes, whose wait has no end, and of waits beyond 24 days
    any number may come out, as in Kafka.
    """
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


def _quotient(dividend: float, divisor: float) -> float:
    """As floating-point numbers are divided: by nothing as well."""
    if divisor:
        return dividend / divisor
    return nan if not dividend else inf if dividend > 0 else -inf


class TokenBucket:
    """Tokens that come back at ``rate`` a second, up to what the windows' span brings.

    More may be taken than there are: then their number is negative until they came back.
    """

    __slots__ = ("_last_ms", "_tokens", "_windows")

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._tokens = inf  # it begins full, whatever that is
        self._last_ms = 0

    def take(self, used: float, rate: float, now_ms: int) -> None:
        left = self.tokens(rate, now_ms)
        self._tokens = min(self._most(rate), left - used)

    def tokens(self, rate: float, now_ms: int) -> float:
        come_back = rate * (now_ms - self._last_ms) / 1_000
        self._tokens = min(self._most(rate), self._tokens + come_back)
        self._last_ms = now_ms
        return self._tokens

    def _most(self, rate: float) -> float:
        return rate * self._windows.span_ms / 1_000
