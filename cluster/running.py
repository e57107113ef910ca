"""A cluster that runs: what can be asked of it, done to it, and waited for.

The same object serves the command line, tests and demonstrations. Whoever launched the cluster is
no matter: everything goes over its control socket, through ZooKeeper, or to the brokers.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from logquake.cluster.control import SupervisorGoneError, connect
from logquake.cluster.errors import ClusterError, WaitTimeoutError
from logquake.cluster.fault import Fault
from logquake.cluster.layout import Layout, last_line
from logquake.cluster.state import ClusterState, MemberState, Phase
from logquake.cluster.tables import (
    MEMBER_COLUMNS,
    PARTITION_COLUMNS,
    as_text,
    leader_counts,
    member_rows,
    partition_rows,
)
from logquake.cluster.targets import resolve
from logquake.zk.znodes.topics import NO_LEADER, PartitionState

if TYPE_CHECKING:
    from logquake.cluster.view import ClusterView

DEFAULT_TIMEOUT = 30.0  # seconds
COMMAND_TIMEOUT_S = 90.0  # longer than a broker's controlled shutdown with all its retries

Target = int | str


class RunningCluster:
    """Every method raises ClusterError; a wait raises WaitTimeoutError with the cluster's state.

    A target is a broker id or one of targets.FORMS. Time-outs are in seconds.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    @staticmethod
    def preload() -> None:
        """Import what waiting will need, at a moment when there is nothing else to do.

        kazoo and the wire schemas take a tenth of a second, more than all other imports here.
        """
        importlib.import_module("logquake.cluster.readiness")
        importlib.import_module("logquake.cluster.view")

    # What it is

    def state(self) -> ClusterState:
        """Its processes, as the supervisor sees them."""
        return ClusterState.from_json(self._ask("status"))

    @property
    def bootstrap_servers(self) -> str:
        return self.state().bootstrap_servers

    @property
    def zookeeper_connect(self) -> str:
        return self.state().zookeeper

    @cached_property
    def view(self) -> ClusterView:
        """What ZooKeeper knows of it, read over one session that lasts until close()."""
        from logquake.cluster.view import ClusterView

        return ClusterView(self.zookeeper_connect)

    def leader(self, topic: str, partition: int) -> int:
        state = self._partition(topic, partition)
        if state.leader == NO_LEADER:
            raise ClusterError(f"{topic}-{partition} has no leader at the moment")
        return state.leader

    def isr(self, topic: str, partition: int) -> tuple[int, ...]:
        return self._partition(topic, partition).isr

    def controller(self) -> int:
        controller = self.view.controller()
        if controller is None:
            raise ClusterError("there is no controller at the moment")
        return controller

    def describe(self) -> str:
        """Members and partitions as text."""
        try:
            partitions = self.view.all_partitions()
        except ClusterError as error:
            return f"{as_text(MEMBER_COLUMNS, member_rows(self.state(), None))}\n\n{error}"
        members = member_rows(self.state(), leader_counts(partitions))
        return (
            f"{as_text(MEMBER_COLUMNS, members)}\n\n"
            f"{as_text(PARTITION_COLUMNS, partition_rows(partitions))}"
        )

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

    def start(self, target: Target) -> str:
        return self._do("start", self.member_name(target))

    def restart(self, target: Target) -> str:
        return self._do("restart", self.member_name(target))

    def shut_down(self, *, remove: bool, at_once: bool = False) -> None:
        """End it; return when its supervisor is gone. ``remove`` takes its data as well."""
        control = connect(self.layout.control_socket)
        try:
            control.ask("shutdown", timeout_s=COMMAND_TIMEOUT_S, remove=remove, at_once=at_once)
            control.wait_until_closed(timeout_s=COMMAND_TIMEOUT_S)
        finally:
            control.close()

    def member_name(self, target: Target) -> str:
        text = str(target)
        return resolve(text, self.state(), lambda: self.view)

    def close(self) -> None:
        """Let go of it; the cluster runs on."""
        view = self.__dict__.pop("view", None)
        if view is not None:
            view.close()

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

        def holds() -> bool:
            state = self.view.partition(topic, partition)
            return state is not None and len(state.isr) == size

        self._wait(holds, f"ISR of {topic}-{partition} has not {size} members", timeout)
        return self.isr(topic, partition)

    def wait_leader(self, topic: str, partition: int, timeout: float = DEFAULT_TIMEOUT) -> int:
        """Until the partition has a leader; returns it."""

        def holds() -> bool:
            state = self.view.partition(topic, partition)
            return state is not None and state.leader != NO_LEADER

        self._wait(holds, f"{topic}-{partition} has no leader", timeout)
        return self.leader(topic, partition)

    def wait_leader_change(
        self, topic: str, partition: int, since: Fault, timeout: float = DEFAULT_TIMEOUT
    ) -> int:
        """Until a leader was elected that did not lead before the fault; returns it.

        A leader elected anew, in a later epoch, counts: what matters is that somebody decided.
        """
        before = since.leader_epochs.get((topic, partition), -1)

        def holds() -> bool:
            state = self.view.partition(topic, partition)
            return state is not None and state.leader != NO_LEADER and state.leader_epoch > before

        what = f"{topic}-{partition} has no leader of an epoch above {before}"
        self._wait(holds, what, timeout)
        return self.leader(topic, partition)

    def wait_controller(
        self, other_than: int | None = None, timeout: float = DEFAULT_TIMEOUT
    ) -> int:
        """Until there is a controller, and another than the one named; returns it."""

        def holds() -> bool:
            return self.view.controller() not in (None, other_than)

        wanted = "controller" if other_than is None else f"controller but {other_than}"
        self._wait(holds, f"there is no {wanted}", timeout)
        return self.controller()

    # Behind it

    def _partition(self, topic: str, partition: int) -> PartitionState:
        state = self.view.partition(topic, partition)
        if state is None:
            raise ClusterError(f"no partition {topic}-{partition}, or it has never had a leader")
        return state

    def _fault(self, verb: str, target: Target, remedy: str) -> Fault:
        name = self.member_name(target)
        epochs = {one: state.leader_epoch for one, state in self.view.all_partitions().items()}
        self._do(verb, name)
        return Fault(name, epochs, lambda: self._heal(name, remedy))

    def _heal(self, name: str, remedy: str) -> None:
        """Undo a fault, unless somebody has already."""
        member = self._member(name)
        if member.phase is (Phase.PAUSED if remedy == "resume" else Phase.ENDED):
            self._do(remedy, name)
        self.wait_ready()

    def _member(self, name: str) -> MemberState:
        member = self.state().member(name)
        if member is None:
            raise ClusterError(f"there is no {name}")
        return member

    def _do(self, verb: str, name: str) -> str:
        self._ask(verb, member=name)
        return name

    def _ask(self, verb: str, **arguments: Any) -> Any:
        try:
            control = connect(self.layout.control_socket)
        except SupervisorGoneError as error:
            raise SupervisorGoneError(
                f"no cluster runs in {self.layout.root}: start one with logquake up"
            ) from error
        try:
            return control.ask(verb, timeout_s=COMMAND_TIMEOUT_S, **arguments)
        finally:
            control.close()

    def _wait(self, holds: Callable[[], bool], what_is_not: str, timeout: float) -> None:
        if not self.view.wait_until(holds, timeout):
            raise self._timed_out(what_is_not, timeout)

    def _timed_out(self, what_is_not: str, timeout: float) -> WaitTimeoutError:
        return WaitTimeoutError(f"{what_is_not} after {timeout:g} s\n{self.describe()}")
