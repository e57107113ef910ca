"""What a step waits for."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event

from logquake.chaos.faults.performing import Performed
from logquake.chaos.runs.tally import Tally, Watch
from logquake.chaos.scenarios.steps import Condition
from logquake.cluster.errors import ClusterError, WaitTimeoutError
from logquake.cluster.running.cluster import RunningCluster
from logquake.wire.sentinels import NO_LEADER
from logquake.wire.topic_partition import TopicPartition

# An answer of ZooKeeper's, and a look whether the run was given up, lie between two of these.
LOOK_EVERY_S = 0.1


class GivenUpError(ClusterError):
    """Somebody ended the run while a step waited."""


class Waiting:
    """Waits on a thread of its own, until ``given_up`` is set.

    ``patience`` is how many times as long it waits for what a scenario says a time of.
    """

    def __init__(
        self, cluster: RunningCluster, tally: Tally, given_up: Event, patience: float = 1.0
    ) -> None:
        self._cluster = cluster
        self._tally = tally
        self._given_up = given_up
        self._patience = patience

    def rest(self, seconds: float) -> None:
        """Raises GivenUpError."""
        if self._given_up.wait(seconds):
            raise GivenUpError("the run was ended")

    def watch(self, condition: Condition) -> Watch | None:
        """Count rows from now on, before they are waited for; None where it is no matter of rows.

        Whoever waits for what a fault does begins to count before the fault.
        """
        if condition.rows is None:
            return None
        return self._tally.watch(condition.rows, condition.times)

    def until(self, condition: Condition, within_s: float, watch: Watch | None = None) -> None:
        """``watch`` was begun before. Raises WaitTimeoutError with what was waited for,
        GivenUpError.
        """
        within_s *= self._patience
        watch = watch or self.watch(condition)
        if watch is not None:
            self._until_seen(watch, within_s, str(condition))
        else:
            self._until(lambda: self._holds(condition), within_s, str(condition))

    def until_met(self, fault: Performed, times: int, within_s: float) -> None:
        """Until a fault of requests has met so many. Raises as until()."""
        self._until(lambda: fault.hits() >= times, within_s, f"{fault.subject} met {times} times")

    def _until_seen(self, watch: Watch, within_s: float, what: str) -> None:
        try:
            self._until(watch.satisfied.is_set, within_s, what)
        except WaitTimeoutError as error:
            raise WaitTimeoutError(f"{error}; {watch.seen} were seen") from None
        finally:
            self._tally.forget(watch)

    def _until(self, holds: Callable[[], bool], within_s: float, what: str) -> None:
        deadline = time.monotonic() + within_s
        while not holds():
            if time.monotonic() > deadline:
                raise WaitTimeoutError(f"no [{what}] within {within_s:g} s")
            self.rest(LOOK_EVERY_S)

    def _holds(self, condition: Condition) -> bool:
        """False too while nobody can say, because ZooKeeper is what is broken."""
        try:
            if condition.zookeepers is not None:
                return self._cluster.zookeepers_serving() >= condition.zookeepers
            if condition.controller:
                return _is_wanted(self._cluster.view.controller(), condition)
            if condition.high_watermark is not None:
                return self._has_reached(condition.high_watermark, condition.reaches or 0)
            return self._partition_holds(condition)
        except WaitTimeoutError:
            raise
        except ClusterError:
            return False

    def _has_reached(self, name: str, offset: int) -> bool:
        """As the observer saw it last."""
        topic, _, partition = name.rpartition("/")
        seen = self._tally.observed.get(str(TopicPartition(topic, int(partition))))
        return seen is not None and seen.offset is not None and seen.offset >= offset

    def _partition_holds(self, condition: Condition) -> bool:
        topic, _, partition = (condition.isr or condition.leader or "").rpartition("/")
        state = self._cluster.view.partition(topic, int(partition))
        if state is None:
            return False
        if condition.isr is not None:
            return len(state.isr) == condition.size
        return _is_wanted(None if state.leader == NO_LEADER else state.leader, condition)


def _is_wanted(found: int | None, condition: Condition) -> bool:
    if condition.no_one or found is None:
        return condition.no_one and found is None
    if condition.broker is not None:
        return found == condition.broker
    return found != condition.not_broker
