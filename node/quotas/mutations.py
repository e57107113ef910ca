"""What one request of a client's may change of the cluster, and the wait that follows (KIP-599).

ControllerMutationQuota, strict and permissive.
"""

from __future__ import annotations

from logquake.node.quotas.client_quotas import MutationQuota
from logquake.node.quotas.entities import Client
from logquake.node.quotas.measures import as_int
from logquake.seams.scheduler import Scheduler


class Mutations:
    """Asked for each topic: whether so many of its partitions may come or go.

    A strict one refuses whoever has taken more than there was before, the other lets him, and makes
    him wait: older clients do not know the error.
    """

    def __init__(
        self, quota: MutationQuota, client: Client, scheduler: Scheduler, *, is_strict: bool
    ) -> None:
        self._quota = quota
        self._client = client
        self._scheduler = scheduler
        self._is_strict = is_strict
        self._found_wait_ms = 0
        self._found_at_ms = 0

    def __call__(self, partitions: int) -> bool:
        if self._is_strict:
            if self._is_over():
                return False
            self._quota.take(self._client, partitions)
        else:
            self._quota.take(self._client, partitions)
            self._is_over()
        return True

    @property
    def wait_ms(self) -> int:
        """By now: an answer may have waited for the topics since."""
        passed_ms = self._scheduler.now_ms() - self._found_at_ms
        return as_int(max(0, self._found_wait_ms - passed_ms))

    def _is_over(self) -> bool:
        wait_ms = self._quota.wait_ms(self._client)
        if wait_ms is None:
            return False
        self._found_wait_ms, self._found_at_ms = wait_ms, self._scheduler.now_ms()
        return True
