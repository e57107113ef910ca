"""A cluster that runs: what can be done to it, and waited for.

The same object serves the command line, tests and demonstrations.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from logquake.cluster.control import connect
from logquake.cluster.errors import ClusterError, WaitTimeoutError
from logquake.cluster.fault import Fault
from logquake.cluster.layout import last_line
from logquake.cluster.observed import COMMAND_TIMEOUT_S, ObservedCluster, Target
from logquake.cluster.state import ZOOKEEPER, MemberState, Phase
from logquake.wire.sentinels import NO_LEADER, NO_LEADER_EPOCH
from logquake.wire.topic_partition import TopicPartition

DEFAULT_TIMEOUT = 60.0  # seconds

T = TypeVar("T")


class RunningCluster(ObservedCluster):
    """Every method raises ClusterError; a wait raises WaitTimeoutError with the cluster's state.

    A target is a broker id or one of targets.FORMS. Time-outs are in seconds.
    """

    # What can be done to it

    def kill(self, target: Target) -> Fault:
        """SIGKILL; as a context manager the fault starts it again. Returns when it is dead."""
        return self._fault("kill", target, "start")

    def stop(self, target: Target) -> Fault:
        """Controlled shutdown; as a context manager the fault starts it again."""
        return self._fault("stop", target, "start")

    def pause(self, target: Target) -> Fault:
        """SIGSTOP; as a context manager the fault resumes it."""
        return self._fault("pause", target, "resume")

    def resume(self, target: Target) -> str:
        """The name of the member that was meant, as with start and restart."""
        return self._do("resume", self.member_name(target))

    def start(self, target: Target, *, wait: bool = True, timeout: float = DEFAULT_TIMEOUT) -> str:
        """Start a member that has ended; return when it is ready, without ``wait`` at once.

        A broker is ready when it is registered, accepts connections, and the controller has told
        its replicas whom to lead or to follow; they may have much to copy then. ZooKeeper is when
        it serves.
        """
        return self._start("start", self.member_name(target), wait=wait, timeout=timeout)

    def restart(
        self, target: Target, *, wait: bool = True, timeout: float = DEFAULT_TIMEOUT
    ) -> str:
        """Stop a member in order if it runs, and start it; return as start() does."""
        return self._start("restart", self.member_name(target), wait=wait, timeout=timeout)

    def shut_down(self, *, remove: bool, at_once: bool = False) -> None:
        """End it; return when its supervisor is gone. ``remove`` takes its data as well."""
        control = connect(self.layout.control_socket)
        try:
            control.ask("shutdown", timeout_s=COMMAND_TIMEOUT_S, remove=remove, at_once=at_once)
            control.wait_until_closed(timeout_s=COMMAND_TIMEOUT_S)
        finally:
            control.close()

    # What can be waited for

    def wait_ready(self, timeout: float = DEFAULT_TIMEOUT, *, after_start: bool = False) -> None:
        """Until every running broker answers, knows all the others, and knows the controller.

        A broker that dies meanwhile raises; after a start, one that was dead before as well.
        """
        from logquake.cluster.readiness import Readiness

        dead = {one.name for one in self.state().brokers if one.phase is Phase.ENDED}
        readiness = Readiness(
            self.state,
            lambda name: last_line(self.layout.log_of(name)),
            self.connect,
            frozenset() if after_start else frozenset(dead),
        )
        try:
            if not readiness.wait(time.monotonic() + timeout):
                raise self._timed_out(readiness.missing(), timeout)
        finally:
            readiness.close()

    def wait_isr(
        self, topic: str, partition: int, size: int, timeout: float = DEFAULT_TIMEOUT
    ) -> tuple[int, ...]:
        """Until the ISR has ``size`` members; returns it."""

        def isr() -> tuple[int, ...] | None:
            state = self.view.partition(topic, partition)
            return state.isr if state and len(state.isr) == size else None

        return self._wait(isr, f"ISR of {topic}-{partition} has not {size} members", timeout)

    def wait_leader(self, topic: str, partition: int, timeout: float = DEFAULT_TIMEOUT) -> int:
        """Until the partition has a leader; returns it.

        A new controller takes dead brokers out of the ISRs first and elects afterwards, as Kafka's
        does: for a moment the ISR is right already and there is no leader yet.
        """
        what = f"{topic}-{partition} has no leader"
        return self._wait_leader(topic, partition, NO_LEADER_EPOCH, what, timeout)

    def wait_leader_change(
        self, topic: str, partition: int, since: Fault, timeout: float = DEFAULT_TIMEOUT
    ) -> int:
        """Until a leader was elected that did not lead before the fault; returns it.

        A leader elected anew, in a later epoch, counts: what matters is that somebody decided.
        """
        before = since.leader_epochs.get(TopicPartition(topic, partition), NO_LEADER_EPOCH)
        what = f"{topic}-{partition} has no leader of an epoch above {before}"
        return self._wait_leader(topic, partition, before, what, timeout)

    def wait_controller(
        self, other_than: int | None = None, timeout: float = DEFAULT_TIMEOUT
    ) -> int:
        """Until there is a controller, and another than the one named; returns it."""

        def controller() -> int | None:
            broker_id = self.view.controller()
            return broker_id if broker_id != other_than else None

        wanted = "controller" if other_than is None else f"controller but {other_than}"
        return self._wait(controller, f"there is no {wanted}", timeout)

    # Behind it

    def _fault(self, verb: str, target: Target, remedy: str) -> Fault:
        name = self.member_name(target)
        epochs = self._leader_epochs()
        self._do(verb, name)
        return Fault(name, epochs, lambda: self._heal(name, remedy))

    def _start(self, verb: str, name: str, *, wait: bool, timeout: float) -> str:
        deadline = time.monotonic() + timeout
        try:
            self.ask(verb, timeout_s=timeout, member=name, wait=wait)
        except TimeoutError:
            raise self._timed_out(f"{name} is not ready", timeout) from None
        if wait and name == ZOOKEEPER:
            self._wait_for_zookeeper(deadline, timeout)
        return name

    def _wait_for_zookeeper(self, deadline: float, timeout: float) -> None:
        from logquake.cluster.zookeeper.probe import PROBE_INTERVAL_S, Patience, serves

        member = self._member(ZOOKEEPER)
        patience = Patience()
        while not patience.probe(partial(serves, member.host, member.port)):
            if time.monotonic() > deadline:
                raise self._timed_out(f"{ZOOKEEPER} does not serve", timeout)
            time.sleep(PROBE_INTERVAL_S)

    def _leader_epochs(self) -> dict[TopicPartition, int]:
        """None are known while ZooKeeper itself is at fault; brokers can be hurt all the same."""
        zookeeper = self.state().member(ZOOKEEPER)
        if zookeeper and zookeeper.phase is not Phase.RUNNING:
            return {}
        return {one: state.leader_epoch for one, state in self.view.all_partitions().items()}

    def _heal(self, name: str, remedy: str) -> None:
        """Undo a fault, unless somebody has already."""
        phase = self._member(name).phase
        if remedy == "start" and phase is Phase.ENDED:
            self._start(remedy, name, wait=True, timeout=DEFAULT_TIMEOUT)
        elif remedy == "resume" and phase is Phase.PAUSED:
            self._do(remedy, name)
        self.wait_ready()

    def _member(self, name: str) -> MemberState:
        member = self.state().member(name)
        if member is None:
            raise ClusterError(f"there is no {name}")
        return member

    def _do(self, verb: str, name: str) -> str:
        self.ask(verb, member=name)
        return name

    def _wait_leader(
        self, topic: str, partition: int, above_epoch: int, what_is_not: str, timeout: float
    ) -> int:
        def leader() -> int | None:
            state = self.view.partition(topic, partition)
            if state is None or state.leader == NO_LEADER or state.leader_epoch <= above_epoch:
                return None
            return state.leader

        return self._wait(leader, what_is_not, timeout)

    def _wait(self, read: Callable[[], T | None], what_is_not: str, timeout: float) -> T:
        """What ``read`` saw when it held: read once more, it might hold no longer."""
        found = self.view.wait_for(read, timeout)
        if found is None:
            raise self._timed_out(what_is_not, timeout)
        return found

    def _timed_out(self, what_is_not: str, timeout: float) -> WaitTimeoutError:
        return WaitTimeoutError(f"{what_is_not} after {timeout:g} s\n{self.describe()}")
