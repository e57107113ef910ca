"""What goes wrong in a run, and when: drawn from the seed before it begins.

Every fault ends by itself after a while; heal() ends all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations
from random import Random

from logquake.zk.model_session import ModelServer, ModelSession
from logquake.zk.operations import Data, Delete, SetData
from logquake.zk.znodes.control import CONTROLLER_PATH
from logquake.zk.znodes.topics import PartitionState
from tests.sim.machine import Machine
from tests.sim.network import Fabric
from tests.sim.trace import Trace
from tests.sim.world import MADE, World

FIRST_US, LAST_US = 1_000_000, 6_000_000
LONGEST_US = 3_000_000
SHORTEST_US = 20_000
DISK_POLL_US = 50_000
DISK_SETTLES_US = (
    300_000  # the dead broker's last fetch, on its way, may still bring it into an ISR
)
GARBAGE = b"garbage"
MENDED_SHARE = 0.5  # of the states of topics that clients make


class Faults:
    def __init__(
        self,
        fabric: Fabric,
        machines: Sequence[Machine],
        zookeeper: ModelServer,
        admin: ModelSession,
        world: World,
        trace: Trace,
        rng: Random,
    ) -> None:
        self._fabric = fabric
        self._machines = list(machines)
        self._zookeeper = zookeeper
        self._admin = admin
        self._world = world
        self._trace = trace
        self._rng = rng
        self._garbled: dict[str, Data] = {}  # what the znodes held before

    def plan(self, count: int) -> None:
        kinds: list[Callable[[], None]] = [
            self._kill,
            self._kill,
            self._kill_all,
            self._lose_disk,
            self._stop,
            self._close_listener,
            self._pause,
            self._expire_session,
            self._cut_zookeeper,
            self._isolate,
            self._reject,
            self._cut_one_way,
            self._remove_controller,
            self._garble_state,
        ]
        for _ in range(count):
            at_us = self._rng.randint(FIRST_US, LAST_US)
            self._fabric.clock.at(at_us, "a fault", self._rng.choice(kinds))

    def heal(self) -> None:
        """End all faults: everything runs and reaches everything."""
        for one, other in permutations(self._machines, 2):
            self._fabric.heal(one.host.name, other.host.name)
            self._fabric.accept(one.host.name, other.host.name)
        for path in list(self._garbled):
            self._mend(path)
        for machine in self._machines:
            machine.heal_zookeeper()
            machine.open_listener()
            self._revive(machine)
            self._resume(machine)

    def _kill(self) -> None:
        self._kill_one(self._some())

    def _kill_all(self) -> None:
        for machine in self._machines:
            self._kill_one(machine)

    def _kill_one(self, machine: Machine) -> None:
        if machine.broker is not None:
            self._note(f"kill -9 of {machine.host.name}")
            machine.kill()
            self._until(lambda: self._revive(machine))

    def _lose_disk(self) -> None:
        """No replica is promised to anybody but by the ISR: the disk goes once that is without
        this broker. A broker that is the last member stays down, and keeps its disk.
        """
        machine = self._some()
        if machine.broker is not None:
            self._note(f"the disk of {machine.host.name} fails")
            machine.kill()
            self._look_at_disk_later(machine, DISK_SETTLES_US)

    def _replace_disk(self, machine: Machine) -> None:
        if machine.broker is not None:
            return
        if self._world.is_needed(machine.broker_id):
            self._look_at_disk_later(machine, DISK_POLL_US)
            return
        self._trace.counts["disk lost"] += 1
        self._trace.add(f"{machine.host.name} gets an empty disk")
        machine.lose_disk()
        self._world.lose_disk(machine.broker_id)
        self._until(lambda: self._revive(machine))

    def _look_at_disk_later(self, machine: Machine, delay_us: int) -> None:
        again = partial(self._replace_disk, machine)
        self._fabric.clock.after(delay_us, "a look at a failed disk", again)

    def _stop(self) -> None:
        machine = self._some()
        if machine.broker is not None:
            self._note(f"SIGTERM of {machine.host.name}")
            machine.stop(lambda: self._until(lambda: self._revive(machine)))

    def _revive(self, machine: Machine) -> None:
        if machine.broker is None:
            self._trace.add(f"start of {machine.host.name}")
            machine.start()

    def _close_listener(self) -> None:
        """Connections are refused while the broker lives: a listener that restarts."""
        machine = self._some()
        if machine.listening:
            self._note(f"{machine.host.name} closes its listener")
            machine.close_listener()
            self._until(machine.open_listener)

    def _pause(self) -> None:
        machine = self._some()
        if machine.broker is not None and not machine.host.paused:
            self._note(f"SIGSTOP of {machine.host.name}")
            machine.pause()
            self._until(lambda: self._resume(machine))

    def _resume(self, machine: Machine) -> None:
        if machine.host.paused:
            self._trace.add(f"SIGCONT of {machine.host.name}")
            machine.resume()

    def _expire_session(self) -> None:
        machine = self._some()
        if machine.session_id is not None:
            self._note(f"session of {machine.host.name} expires")
            self._zookeeper.expire(machine.session_id)

    def _cut_zookeeper(self) -> None:
        machine = self._some()
        self._note(f"{machine.host.name} is cut from ZooKeeper")
        machine.cut_zookeeper()
        self._until(machine.heal_zookeeper)

    def _isolate(self) -> None:
        machine = self._some()
        for other in self._machines:
            if other is not machine:
                self._cut(machine, other)
                self._cut(other, machine)

    def _cut_one_way(self) -> None:
        one, other = self._rng.sample(self._machines, 2)
        self._cut(one, other)

    def _reject(self) -> None:
        """A firewall refuses in the name of a broker that lives."""
        one, other = (machine.host.name for machine in self._rng.sample(self._machines, 2))
        self._note(f"connections from {one} to {other} are rejected")
        self._fabric.reject(one, other)
        self._until(lambda: self._fabric.accept(one, other))

    def _cut(self, one: Machine, other: Machine) -> None:
        source, target = one.host.name, other.host.name
        self._note(f"the way from {source} to {target} is cut")
        self._fabric.cut(source, target)
        self._until(lambda: self._fabric.heal(source, target))

    def _remove_controller(self) -> None:
        self._note("somebody deletes /controller")
        self._admin.submit(Delete(CONTROLLER_PATH), lambda _outcome: None)

    def _garble_state(self) -> None:
        """Somebody writes into a partition's state what makes no sense, and later what it held,
        under the next leader epoch. Of topics that clients make, some are never mended: the rest of
        the cluster must do without them.

        Under the same leader epoch a leader whose proposal met the garbage would wait for news
        until the next election, if the controller changes before it is mended (in Kafka too): the
        next controller reads no change, and brokers take nothing new under an epoch that they know.
        """
        partition = self._rng.choice(sorted(self._world.decisions.partitions))
        path = PartitionState.path(*partition)
        held = self._zookeeper.model.data(path)
        if held is None or held.data == GARBAGE:
            return
        self._note(f"the state of {partition} makes no sense")
        self._admin.submit(SetData(path, GARBAGE, held.stat.version), lambda _outcome: None)
        if not partition[0].startswith(MADE) or self._rng.random() < MENDED_SHARE:
            self._garbled[path] = held
            self._until(lambda: self._mend(path))

    def _mend(self, path: str) -> None:
        held = self._garbled.pop(path, None)
        if held is not None:
            self._trace.add(f"{path} is mended")
            state = PartitionState.decode(held.data)
            mended = replace(state, leader_epoch=state.leader_epoch + 1)
            mending = SetData(path, mended.encode(), held.stat.version + 1)
            self._admin.submit(mending, lambda _outcome: None)

    def _some(self) -> Machine:
        return self._rng.choice(self._machines)

    def _until(self, heal: Callable[[], None]) -> None:
        self._fabric.clock.after(self._rng.randint(SHORTEST_US, LONGEST_US), "a fault ends", heal)

    def _note(self, what: str) -> None:
        self._trace.counts["fault"] += 1
        self._trace.add(f"FAULT: {what}")
