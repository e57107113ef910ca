"""A cluster that runs: what can be done to it.

The same object serves the command line, tests and demonstrations.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import Any, Unpack

from logquake.cluster.control.client import connect
from logquake.cluster.errors import ClusterError
from logquake.cluster.faults.orders import DieAtCall
from logquake.cluster.faults.power.taking_back import TakenBack
from logquake.cluster.faults.power.unsynced import Unsynced
from logquake.cluster.layout import Layout
from logquake.cluster.running.deeds import Deeds, deed
from logquake.cluster.running.fault import Fault
from logquake.cluster.running.injected import InjectedCluster
from logquake.cluster.running.inside_faults import InsideFaults, Until
from logquake.cluster.running.membership import ChangingCluster
from logquake.cluster.running.observed import CHANGE_TIMEOUT_S, COMMAND_TIMEOUT_S, Target
from logquake.cluster.running.power_loss import PowerLoss
from logquake.cluster.running.waits import DEFAULT_TIMEOUT
from logquake.cluster.running.zookeeper_faults import ZooKeeperFaults
from logquake.cluster.spec import as_property
from logquake.cluster.state import LINKS, MemberState, Phase, is_zookeeper
from logquake.wire.sentinels import NO_NUM_PARTITIONS, NO_REPLICATION_FACTOR


class RunningCluster(ChangingCluster, InjectedCluster, InsideFaults, ZooKeeperFaults):
    """Every method raises ClusterError; a wait raises WaitTimeoutError with the cluster's state.

    A target is a broker id or one of targets.FORMS. Time-outs are in seconds. ``deeds`` is what
    was done to it through this object.
    """

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.deeds = Deeds()

    @deed
    def kill(self, target: Target) -> Fault:
        """SIGKILL; as a context manager the fault starts it again. Returns when it is dead."""
        return self._fault("kill", target, "start")

    @deed
    def stop(self, target: Target) -> Fault:
        """Controlled shutdown; as a context manager the fault starts it again."""
        return self._fault("stop", target, "start")

    @deed
    def pause(self, target: Target) -> Fault:
        """SIGSTOP; as a context manager the fault resumes it."""
        return self._fault("pause", target, "resume")

    @deed
    def power_loss(
        self, *targets: Target, unsynced: str = Unsynced.LOST.value, seed: int = 0
    ) -> PowerLoss:
        """SIGKILL, and what was not synced is taken back; healing starts them again.

        All at once; all brokers if none is named. What was not synced is ``lost``, or of it remains
        what the seed says: ``journaled`` or ``scattered``, as faults/power/unsynced.py has them.
        """
        names = [self.member_name(target) for target in targets]
        epochs = self.leader_epochs()
        lost = self.ask("power-loss", members=names, unsynced=unsynced, seed=seed)

        def heal(*, wait: bool = True) -> None:
            for name in lost:
                self._heal(name, "start", wait=False)
            if wait:
                self.wait_ready()

        taken_back = {name: TakenBack(**counts) for name, counts in lost.items()}
        return PowerLoss(taken_back, epochs, heal, partial(heal, wait=False))

    @deed
    def torn_write(self, target: Target, *, path: str = "*.log", **until: Unpack[Until]) -> Fault:
        """The next write ends half-way, and the process with it; healing starts it again."""
        return self.crash_at(target, "write", path=path, **until)

    @deed
    def crash_at(
        self,
        target: Target,
        call: str,
        *,
        nth: int = 1,
        path: str = "*",
        **until: Unpack[Until],
    ) -> Fault:
        """SIGKILL when it is about to make the nth such call on its disk; healing starts it."""
        ordered = self._order(self.member_name(target), DieAtCall((call,), path, nth), **until)

        def heal(*, wait: bool = True) -> None:
            ordered.heal()
            self._heal(ordered.member, "start", wait=wait)

        return Fault(ordered.member, ordered.leader_epochs, heal, partial(heal, wait=False))

    @deed
    def resume(self, target: Target) -> str:
        """The name of the member that was meant, as with start and restart."""
        return self._do("resume", self.member_name(target))

    @deed
    def start(self, target: Target, *, wait: bool = True, timeout: float = DEFAULT_TIMEOUT) -> str:
        """Start a member that has ended; return when it is ready, without ``wait`` at once.

        A broker is ready when it is registered, accepts connections, and the controller has told
        its replicas whom to lead or to follow; they may have much to copy then. ZooKeeper is when
        it serves, unless too few of its servers run for any to serve.
        """
        return self._start("start", self.member_name(target), wait=wait, timeout=timeout)

    @deed
    def restart(
        self, target: Target, *, wait: bool = True, timeout: float = DEFAULT_TIMEOUT
    ) -> str:
        """Stop a member in order if it runs, and start it; return as start() does."""
        return self._start("restart", self.member_name(target), wait=wait, timeout=timeout)

    @deed
    def create_topic(
        self,
        name: str,
        *,
        partitions: int = NO_NUM_PARTITIONS,
        replication_factor: int = NO_REPLICATION_FACTOR,
        config: Mapping[str, object] | None = None,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> str:
        """As the brokers' settings say, unless told; return its name when every broker tells of it.

        Some clients take a broker that was not told yet for one that knows the topic is gone.
        """
        from logquake.client.admin import NewTopic
        from logquake.client.errors import ClientError

        values = {key: as_property(value) for key, value in (config or {}).items()}
        wanted = NewTopic(name, partitions, replication_factor, configs=values)
        try:
            with self.admin(timeout, answer=CHANGE_TIMEOUT_S) as admin:
                admin.create_topics([wanted])[name].result()
        except ClientError as error:
            raise ClusterError(f"topic {name}: {error}") from error
        self.wait_topic(name, timeout)
        return name

    def heal(self) -> None:
        """Undo every fault of this object that stands, the newest first; wait until all serve."""
        if self.deeds.standing:
            self.deeds.heal()
            self.wait_ready()

    def standing_faults(self) -> list[dict[str, Any]]:
        """Of links and inside brokers, whoever began them: id, what, since_ms, until_ms, more."""
        return [*(self.link_faults() if self._has_links else []), *self.orders()]

    def heal_standing(self, fault_id: str | None = None) -> int:
        """Heal one, or all, whoever began them; how many there were."""
        if fault_id is None:
            links = self.heal_links() if self._has_links else 0
            return links + self.heal_orders()
        if fault_id.isdecimal():
            return int(self.heal_link(int(fault_id)))
        return self.heal_orders(fault_id)

    @property
    def _has_links(self) -> bool:
        return self.state().member(LINKS) is not None

    def shut_down(self, *, remove: bool, at_once: bool = False) -> None:
        """End it; return when its supervisor is gone. ``remove`` takes its data as well."""
        control = connect(self.layout.control_socket)
        try:
            control.ask("shutdown", timeout_s=COMMAND_TIMEOUT_S, remove=remove, at_once=at_once)
            control.wait_until_closed(timeout_s=COMMAND_TIMEOUT_S)
        finally:
            control.close()

    # Behind it

    def _fault(self, verb: str, target: Target, remedy: str) -> Fault:
        name = self.member_name(target)
        epochs = self.leader_epochs()
        self._do(verb, name)
        heal = partial(self._heal, name, remedy)
        return Fault(name, epochs, heal, partial(heal, wait=False))

    def _start(self, verb: str, name: str, *, wait: bool, timeout: float) -> str:
        deadline = time.monotonic() + timeout
        self._wait_let_go(name, timeout)
        try:
            self.ask(verb, timeout_s=timeout, member=name, wait=wait)
        except TimeoutError:
            raise self._timed_out(f"{name} is not ready", timeout) from None
        if is_zookeeper(name):
            if wait and self.state().has_zookeeper:
                self._wait_for_zookeeper(name, deadline, timeout)
        elif wait and self.state().kafka:
            self._wait_answering(name, deadline, timeout)
        return name

    def _wait_for_zookeeper(self, name: str, deadline: float, timeout: float) -> None:
        from logquake.cluster.zookeeper.probe import PROBE_INTERVAL_S, Patience, serves

        member = self._member(name)
        patience = Patience()
        while not patience.probe(partial(serves, member.host, member.port)):
            if time.monotonic() > deadline:
                raise self._timed_out(f"{name} does not serve", timeout)
            time.sleep(PROBE_INTERVAL_S)

    def _heal(self, name: str, remedy: str, *, wait: bool = True) -> None:
        """Undo a fault, unless somebody has already. Broken links would be waited for in vain."""
        phase = self._member(name).phase
        wait = wait and not self.has_broken_links
        if remedy == "start" and phase is Phase.ENDED:
            self._start(remedy, name, wait=wait, timeout=DEFAULT_TIMEOUT)
        elif remedy == "resume" and phase is Phase.PAUSED:
            self._do(remedy, name)
        if wait:
            self.wait_ready()

    def _member(self, name: str) -> MemberState:
        member = self.state().member(name)
        if member is None:
            raise ClusterError(f"there is no {name}")
        return member

    def _do(self, verb: str, name: str) -> str:
        self.ask(verb, member=name)
        return name
