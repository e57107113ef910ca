"""What one request of a client used of its quotas, told when it is answered (KIP-124, 219).

The time is that in which it was handled: an answer that came later took none. What sending the
answer takes does not count, unlike in Kafka, whose network threads are others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from logquake.node.quotas.client_quotas import MutationQuota, RateQuota
from logquake.node.quotas.entities import Client
from logquake.node.quotas.mutations import Mutations
from logquake.seams.scheduler import Scheduler

_NS_A_PERCENT: Final = 10_000_000  # of a second
_NO_BOUND: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Resources:
    """What is shared. ``thread_time_ns`` is the loop's time on a processor."""

    produce: RateQuota
    fetch: RateQuota
    request_time: RateQuota
    mutations: MutationQuota
    scheduler: Scheduler
    thread_time_ns: Callable[[], int]


class Usage:
    """Each request calls one of the methods that count; they give the wait, in ms, that is none
    below 1. ``wait_ms`` is that of a Fetch, None before it has counted.
    """

    __slots__ = ("_began_ns", "_mutations", "_resources", "_spent_ns", "client", "wait_ms")

    def __init__(self, resources: Resources, client: Client) -> None:
        self._resources = resources
        self._began_ns = resources.thread_time_ns()
        self._spent_ns: int | None = None
        self._mutations: Mutations | None = None
        self.client = client
        self.wait_ms: int | None = None

    def handled(self) -> None:
        """Its handler has returned."""
        if self._spent_ns is None:
            self._spent_ns = self._resources.thread_time_ns() - self._began_ns

    def answered(self) -> int:
        self.handled()
        percent = (self._spent_ns or 0) / _NS_A_PERCENT
        wait_ms = self._resources.request_time.record(self.client, percent)
        return wait_ms if self._mutations is None else max(wait_ms, self._mutations.wait_ms)

    def produced(self, size: int, *, is_answered: bool) -> int:
        """Where there is no answer its time does not count (acks=0)."""
        wait_ms = self._resources.produce.record(self.client, size)
        return max(wait_ms, self.answered() if is_answered else 0)

    def fetched(self, size: Callable[[], int]) -> int:
        """What is to be sent; who has to wait gets nothing instead."""
        fetch = self._resources.fetch
        wait_ms = max(0, self.answered())
        if fetch.limits.of(self.client) is not None:
            fetched = size()
            wait_ms = max(wait_ms, fetch.record(self.client, fetched))
            if wait_ms:
                fetch.unrecord(self.client, fetched)
        self.wait_ms = wait_ms
        return wait_ms

    @property
    def most_to_fetch(self) -> int:
        """Bytes of one answer that are not over the limit by themselves."""
        most = self._resources.fetch.most_at_once(self.client)
        return _NO_BOUND if most is None else int(min(most, _NO_BOUND))

    def created(self, partitions: int) -> None:
        """Of topics that it was answered about: the answer does not wait, the next mutations do."""
        self._resources.mutations.take(self.client, partitions)

    def mutations(self, *, is_strict: bool) -> Mutations:
        """What it may change of the cluster; its answer tells the wait of that too."""
        self._mutations = Mutations(
            self._resources.mutations, self.client, self._resources.scheduler, is_strict=is_strict
        )
        return self._mutations
