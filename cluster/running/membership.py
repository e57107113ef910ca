"""Who is in a cluster: brokers added, removed for good, wiped, replaced."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from logquake.cluster.errors import ClusterError
from logquake.cluster.running.deeds import deed
from logquake.cluster.running.fault import Fault
from logquake.cluster.running.linked import LinkedCluster
from logquake.cluster.running.observed import Target
from logquake.cluster.running.waits import DEFAULT_TIMEOUT
from logquake.cluster.state import Phase, broker_id_of, is_broker
from logquake.wire.topic_partition import TopicPartition

SPARE_WITHIN_S = 30.0  # longer than the others take to find a broker dead, by its session at worst
LOOK_AGAIN_S = 0.1


@dataclass(frozen=True, slots=True)
class Removed:
    """``replicas`` are the partitions, ``orders-0``, that had one on the broker.

    They still do by their assignment: nobody moves them, and they lack one replica in sync.
    """

    member: str
    replicas: tuple[str, ...]

    def __str__(self) -> str:
        return self.member


class ChangingCluster(LinkedCluster):
    """A broker that begins without data is told from the one before by its registration.

    The controller takes a registration under the same id for another broker's, and takes the old
    one out of the ISRs first, unless it is the last that is in sync. Then it may lead with nothing
    in its log, and what was acked is gone.
    """

    @deed
    def add_broker(
        self,
        broker_id: int | None = None,
        *,
        wait: bool = True,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> Fault:
        """One more, under an id that no broker has had, or this one; healing removes it again.

        Returns when it is ready, without ``wait`` at once. It gets replicas of topics that are made
        from now on: Kafka moves none by itself.
        """
        deadline = time.monotonic() + timeout
        try:
            name = str(self.ask("add", timeout_s=timeout, id=broker_id, wait=wait))
        except TimeoutError:
            raise self._timed_out("the new broker is not ready", timeout) from None
        if wait and self.state().kafka:
            self._wait_answering(name, deadline, timeout)
        return Fault(name, self.leader_epochs(), partial(self._remove_if_there, name))

    @deed
    def remove_broker(self, target: Target) -> Removed:
        """A controlled shutdown, for good: its data goes too, its id comes back only by name."""
        name = self._broker_name(target)
        removed = Removed(name, self._replicas_on(name))
        self.ask("remove", member=name)
        return removed

    @deed
    def wipe(self, target: Target, *, spare: bool = False) -> Fault:
        """SIGKILL, and it starts with an empty disk; the end of the block waits until it serves.

        With ``spare`` its disk goes once no ISR is with it. Where it is the last in sync that
        never comes: it is started with what it has, and ClusterError raised.
        """
        name, epochs = self._broker_name(target), self.leader_epochs()
        if spare:
            self._kill_until_spare(name)
        self._make_room_for(name)
        self.ask("wipe", member=name, wait=False)
        return self._coming_back(name, epochs)

    @deed
    def replace(self, target: Target, *, new_id: bool = False, spare: bool = False) -> Fault:
        """Another machine in its place: elsewhere, with an empty disk, under its id or a new one.

        Under a new id it has no replicas; those of the old one lack one, as after remove_broker().
        ``spare`` is as of wipe().
        """
        name, epochs = self._broker_name(target), self.leader_epochs()
        if spare:
            self._kill_until_spare(name)
        if new_id:
            self.ask("remove", member=name)
            name = str(self.ask("add", wait=False))
        else:
            self._make_room_for(name)
            self.ask("replace", member=name, wait=False)
        return self._coming_back(name, epochs)

    # Behind it

    def _coming_back(self, name: str, epochs: Mapping[TopicPartition, int]) -> Fault:
        """Of one that was started. With broken links it would be waited for in vain."""

        def heal() -> None:
            if not self.has_broken_links:
                self.wait_ready()

        return Fault(name, epochs, heal, lambda: None)

    def _make_room_for(self, name: str) -> None:
        """The one that is to take its place may begin at once."""
        if self.state().kafka:
            if self._phase_of(name) is not Phase.ENDED:
                self.ask("kill", member=name)
            self._wait_let_go(name, DEFAULT_TIMEOUT)

    def _kill_until_spare(self, name: str) -> None:
        """Raises ClusterError where it is needed; then it is started again."""
        broker_id = broker_id_of(name)
        if self._phase_of(name) is not Phase.ENDED:
            self.ask("kill", member=name)
        deadline = time.monotonic() + SPARE_WITHIN_S
        while isrs := self._isrs_with(broker_id):
            alone = [one for one, isr in isrs.items() if len(isr) == 1]
            if alone or time.monotonic() > deadline:
                self.ask("start", member=name, wait=False)
                in_sync = min(alone or isrs)
                raise ClusterError(f"{name} keeps its disk: {in_sync} has it in sync")
            time.sleep(LOOK_AGAIN_S)

    def _isrs_with(self, broker_id: int) -> dict[TopicPartition, tuple[int, ...]]:
        partitions = self.view.all_partitions()
        return {one: state.isr for one, state in partitions.items() if broker_id in state.isr}

    def _replicas_on(self, name: str) -> tuple[str, ...]:
        broker_id = broker_id_of(name)
        return tuple(
            str(TopicPartition(topic, partition))
            for topic, assignment in sorted(self.view.assignments().items())
            for partition, replicas in sorted(assignment.partitions.items())
            if broker_id in replicas
        )

    def _remove_if_there(self, name: str) -> None:
        if self.state().member(name) is not None:
            self.ask("remove", member=name)

    def _phase_of(self, name: str) -> Phase:
        member = self.state().member(name)
        if member is None:
            raise ClusterError(f"there is no {name}")
        return member.phase

    def _broker_name(self, target: Target) -> str:
        """Raises ClusterError for what is no broker."""
        name = self.member_name(target)
        if not is_broker(name):
            raise ClusterError(f"{name} is no broker")
        return name
