"""What one request of a client used of its quotas, told when it is answered (KIP-124, 219).

The time is that in which it was handled: an answer that came later took none. What sending the
answer takes does not count, unlike in Kafka, whose network threads are others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from logquake.node.quotas.client_quotas import RateQuota
from logquake.node.quotas.entities import Client

_NS_A_PERCENT: Final = 10_000_000  # of a second
_NO_BOUND: Final = 2**31 - 1


class Usage:
    """Each request calls one of the methods that count; they give the wait, in ms, that is none
    below 1. ``wait_ms`` is that of a Fetch, None before it has counted.
    """

    __slots__ = (
        "_began_ns",
        "_fetch",
        "_produce",
        "_request_time",
        "_spent_ns",
        "_thread_time_ns",
        "client",
        "wait_ms",
    )

    def __init__(
        self,
        produce: RateQuota,
        fetch: RateQuota,
        request_time: RateQuota,
        client: Client,
        thread_time_ns: Callable[[], int],
    ) -> None:
        self._produce = produce
        self._fetch = fetch
        self._request_time = request_time
        self._thread_time_ns = thread_time_ns
        self._began_ns = thread_time_ns()
        self._spent_ns: int | None = None
        self.client = client
        self.wait_ms: int | None = None

    def handled(self) -> None:
        """Its handler has returned."""
        if self._spent_ns is None:
            self._spent_ns = self._thread_time_ns() - self._began_ns

    def answered(self) -> int:
        self.handled()
        return self._request_time.record(self.client, (self._spent_ns or 0) / _NS_A_PERCENT)

    def produced(self, size: int, *, is_answered: bool) -> int:
        """Where there is no answer its time does not count (acks=0)."""
        wait_ms = self._produce.record(self.client, size)
        return max(wait_ms, self.answered() if is_answered else 0)

    def fetched(self, size: Callable[[], int]) -> int:
        """What is to be sent; who has to wait gets nothing instead."""
        wait_ms = max(0, self.answered())
        if self._fetch.limits.of(self.client) is not None:
            fetched = size()
            wait_ms = max(wait_ms, self._fetch.record(self.client, fetched))
            if wait_ms:
                self._fetch.unrecord(self.client, fetched)
        self.wait_ms = wait_ms
        return wait_ms

    @property
    def most_to_fetch(self) -> int:
        """Bytes of one answer that are not over the limit by themselves."""
        most = self._fetch.most_at_once(self.client)
        return _NO_BOUND if most is None else int(min(most, _NO_BOUND))
