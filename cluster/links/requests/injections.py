"""All faults of requests that hold, on all connections; who waits for them, and who watches."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from weakref import WeakSet

from logquake.cluster.errors import ClusterError
from logquake.cluster.links.interception import Interceptor, Passage
from logquake.cluster.links.requests.interceptor import RequestInterceptor
from logquake.cluster.links.requests.rules import RequestFault, Rule, RuleBook
from logquake.cluster.links.requests.watching import Watch, Watches


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    rule_id: int
    times: int
    tell: Callable[[int], None]


class Injections:
    """``intercept`` is an interception.Intercept, ``now_us`` the wall clock."""

    def __init__(self, now_us: Callable[[], int] = lambda: time.time_ns() // 1000) -> None:
        self._book = RuleBook(self._on_hit)
        self._watches = Watches(now_us)
        self._interceptors: WeakSet[RequestInterceptor] = WeakSet()
        self._waiting: list[_Waiting] = []

    def hold(self, faults: Mapping[int, RequestFault]) -> None:
        """These hold now, by their ids, and no others."""
        for rule_id in self._book.ids - faults.keys():
            self._tell(rule_id)
            self._book.end(rule_id)
        for rule_id in sorted(faults.keys() - self._book.ids):
            self._book.begin(rule_id, faults[rule_id])
        for interceptor in list(self._interceptors):
            interceptor.review()

    def watch(self, watches: Mapping[int, Watch]) -> None:
        """These watch now, by their ids, and no others."""
        self._watches.hold(watches)

    def intercept(self, passage: Passage) -> Interceptor | None:
        ends = passage.dialler, passage.dialled
        if not self._book.concern(*ends) and not self._watches.concern(*ends):
            return None
        interceptor = RequestInterceptor(passage, self._book, self._watches)
        self._interceptors.add(interceptor)
        return interceptor

    def hits_of(self, rule_id: int) -> int | None:
        """How many requests, or answers, a fault has met; None if it holds not."""
        rule = self._book.get(rule_id)
        return None if rule is None else rule.hits

    def hits(self, rule_id: int) -> int:
        """Raises ClusterError if it holds not."""
        hits = self.hits_of(rule_id)
        if hits is None:
            raise ClusterError(f"no fault of requests has the id {rule_id}, or it was healed")
        return hits

    def when_met(self, rule_id: int, times: int, tell: Callable[[int], None]) -> None:
        """Tell how many it has met as soon as they are so many, or when it ends before.

        Raises ClusterError.
        """
        hits = self.hits(rule_id)
        if hits >= times:
            tell(hits)
        else:
            self._waiting.append(_Waiting(rule_id, times, tell))

    def _on_hit(self, rule: Rule) -> None:
        self._tell(rule.id, up_to=rule.hits)

    def _tell(self, rule_id: int, up_to: float = math.inf) -> None:
        """Those who wait for no more than so many."""
        due = [each for each in self._waiting if each.rule_id == rule_id and each.times <= up_to]
        self._waiting = [each for each in self._waiting if each not in due]
        for each in due:
            each.tell(self.hits(rule_id))
