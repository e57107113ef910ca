"""The members of one cluster: their ports, their server.properties, the order of their start."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from logquake.cluster.control_port.process import run_control_port
from logquake.cluster.errors import ClusterError
from logquake.cluster.layout import Layout, last_line, write_json
from logquake.cluster.processes import broker_program
from logquake.cluster.processes.control_port import ControlPort
from logquake.cluster.processes.ports import LOOPBACK, hold_port, port_of
from logquake.cluster.security.cluster_security import ClusterSecurity, settle_security
from logquake.cluster.spec import ClusterSpec
from logquake.cluster.state import (
    CONTROL_PORT,
    LINKS,
    NO_PORT,
    ClusterState,
    broker_name,
    is_broker,
    zookeeper_names,
)
from logquake.cluster.supervisor import zygote
from logquake.cluster.supervisor.broker_making import BrokerMaking
from logquake.cluster.supervisor.laid_links import LaidLinks
from logquake.cluster.supervisor.local_zookeeper import LocalZooKeeper
from logquake.cluster.supervisor.member import Child, Member
from logquake.cluster.zookeeper.probe import require_serving


class Fleet:
    """``progress`` is told what is being waited for. Raises ClusterError: a port is taken."""

    def __init__(
        self,
        layout: Layout,
        spec: ClusterSpec,
        progress: Callable[[str], None],
    ) -> None:
        self.members: dict[str, Member] = {}
        self._layout = layout
        self._spec = spec
        self._progress = progress
        self.making = BrokerMaking(layout, spec)
        self.making.hold_ports(spec.broker_ids, map(spec.port_of, spec.broker_ids))
        self._control_port = hold_port(None) if spec.control else None
        self._local_zookeeper: LocalZooKeeper | None = None
        self._security = settle_security(layout, secure=spec.secure)
        bugs = broker_program.bugs_to_plant(os.environ)
        self._planted_bugs = tuple(bug.name for bug in bugs)
        self.on_state_lost: Callable[[], None] = lambda: None
        """Called when the state directory turns out to be gone."""

    @property
    def brokers(self) -> list[Member]:
        return [member for name, member in self.members.items() if is_broker(name)]

    def start(self) -> None:
        """ZooKeeper first: while its JVM comes up the brokers' modules are loaded.

        Raises ClusterError: no Java, no ZooKeeper, a setting that a broker would refuse.
        """
        if self._spec.zookeeper is None:
            self._local_zookeeper = self._start_zookeeper()
        else:
            require_serving(self._spec.zookeeper)
        self.making.load()
        self.making.connect_to(self._zookeeper_connect())
        for broker_id in self._spec.broker_ids:
            self._make_broker(broker_id)
        if self.making.links is not None:
            self._start_links(self.making.links)
        if self._local_zookeeper:
            self._local_zookeeper.wait_until_serving()
        if self._security is not None:
            self._write_users(self._security)
        self._progress(f"starting {len(self.brokers)} brokers")
        for broker in self.brokers:
            broker.start()
        self._layout.control_port.unlink(missing_ok=True)  # of a run before this
        if self._control_port is not None:
            self._start_control_port(port_of(self._control_port))

    def add_broker(self, broker_id: int | None) -> Member:
        """One more, not started yet, under the next id if none is told. Raises ClusterError.

        Its port is the one that it would have had from the start, unless that is taken.
        """
        broker_id = self._spec.next_id if broker_id is None else broker_id
        spec = self._spec.with_broker(broker_id)
        self._layout.prepare((broker_id,), spec.log_dirs)
        try:
            self.making.hold_ports([broker_id], [spec.port_of(broker_id)])
        except ClusterError:
            self.making.hold_ports([broker_id], [None])
        member = self._furnish(broker_id)
        self._follow(spec)
        return member

    def require_another(self, broker_id: int) -> None:
        """Raises ClusterError where none would be left without this one."""
        self._spec.without_broker(broker_id)

    def remove_broker(self, broker_id: int) -> None:
        """One that has ended, with its data."""
        spec = self._spec.without_broker(broker_id)
        self._clear_out(broker_id)
        self._follow(spec)

    def replace_broker(self, broker_id: int) -> Member:
        """One that has ended, by another elsewhere, under its id. Raises ClusterError."""
        self._clear_out(broker_id)
        self._layout.prepare((broker_id,), self._spec.log_dirs)
        self.making.hold_ports([broker_id], [None])
        return self._furnish(broker_id)

    def empty_broker(self, broker_id: int) -> None:
        """One that has ended. Raises ClusterError."""
        try:
            self._layout.empty_broker(broker_id, self._spec.log_dirs)
        except OSError as error:
            raise ClusterError(f"broker {broker_id} could not be emptied: {error}") from error

    def prepare_next_start(self) -> None:
        """Make what lets later starts be quicker, in the background."""
        if self._local_zookeeper:
            self._local_zookeeper.archive_making.begin()

    def stop_brokers(self, then: Callable[[], None]) -> None:
        """Let every broker end in its own way; call ``then`` once none is left.

        With a ZooKeeper of our own nobody is left to lead anything: a broker that tried to move
        its leaderships would only wait, for seconds.
        """

        def when_none_is_left() -> None:
            if not any(broker.alive for broker in self.brokers):
                then()

        for broker in [broker for broker in self.brokers if broker.alive]:
            broker.when_ended(when_none_is_left)
            broker.stop_without_moving() if self._local_zookeeper else broker.stop()
        when_none_is_left()

    def kill_all(self) -> None:
        """Brokers first, so that none sees ZooKeeper go.

        ZooKeeper is never asked to end: what it answered is in its log, and a JVM takes 0.3 s.
        """
        for member in [*self.brokers, *self.members.values()]:
            member.kill_and_wait()
        if self._local_zookeeper:
            self._local_zookeeper.archive_making.end()

    def reap(self) -> None:
        for member in list(self.members.values()):
            member.reap()
        if self._local_zookeeper:
            self._local_zookeeper.archive_making.reap()

    def last_words(self, member: Member) -> str:
        """The last line that it printed."""
        return last_line(self._layout.log_of(member.name))

    def state(self) -> ClusterState:
        return ClusterState(
            name=self._spec.name,
            supervisor_pid=os.getpid(),
            preset=self._spec.preset,
            zookeeper=self._zookeeper_connect(),
            members=tuple(member.state() for member in sorted(self.members.values(), key=_place)),
            planted_bugs=self._planted_bugs,
            kafka=self._spec.kafka is not None,
        )

    def write_state(self) -> None:
        self._write(self._layout.state, self.state().to_json())

    def _follow(self, spec: ClusterSpec) -> None:
        """Who is in it has changed; a later ``up`` goes on from there."""
        self._spec = spec
        self._write(self._layout.spec, spec.to_json())
        self.write_state()

    def _write(self, path: Path, document: dict[str, Any]) -> None:
        try:
            write_json(path, document)
        except (FileNotFoundError, NotADirectoryError):
            self.on_state_lost()

    def _start_zookeeper(self) -> LocalZooKeeper:
        names = zookeeper_names(self._spec.zookeepers)
        directories = {name: self._layout.zookeeper_of(name) for name in names}
        zookeeper = LocalZooKeeper(directories, links=self._spec.links)
        self._progress("starting ZooKeeper")
        for name, server in zookeeper.servers.items():
            self._add(name, server.port, server.spawn).start()
        return zookeeper

    def _start_links(self, links: LaidLinks) -> None:
        """Before an ensemble is waited for, whose servers find each other by them.

        Raises ClusterError if they end instead.
        """
        self._progress("laying links")
        if self._local_zookeeper is not None:
            links.lay_between_zookeepers(self._local_zookeeper.links)
        log = self._layout.log_of(LINKS)
        launch = partial(links.start, self._layout.links_socket, log)
        self._start_helper(LINKS, NO_PORT, launch)

    def _start_control_port(self, port: int) -> None:
        """Its address is kept when it is started again."""
        told, log = ControlPort.new(port), self._layout.log_of(CONTROL_PORT)
        told.write(self._layout)
        run = partial(run_control_port, self._layout, port, told.token)
        self._start_helper(CONTROL_PORT, port, partial(zygote.fork, run, log))

    def _start_helper(self, name: str, port: int, launch: Callable[[], Child]) -> None:
        """Return when it is ready. Raises ClusterError if it ends instead."""
        member = self._add(name, port, launch)
        member.start()
        if member.says_ready is not None and not member.says_ready.said_ready():
            raise ClusterError(f"{name} ended before it was ready: {self.last_words(member)}")

    def _make_broker(self, broker_id: int) -> Member:
        launch = self.making.make(broker_id, self._security)
        return self._add(broker_name(broker_id), self.making.told_port(broker_id), launch)

    def _furnish(self, broker_id: int) -> Member:
        """With what else it needs, beside folders and ports."""
        self.making.lay_links(broker_id)
        return self._make_broker(broker_id)

    def _clear_out(self, broker_id: int) -> None:
        del self.members[broker_name(broker_id)]
        self.making.forget(broker_id)
        self._layout.remove_broker(broker_id)

    def _write_users(self, security: ClusterSecurity) -> None:
        """Without them no broker could enter another."""
        self._progress("setting users")
        connect, configs = self._zookeeper_connect(), security.user_configs()

        def write_users(_ready: zygote.SayReady) -> int:
            from logquake.cluster.supervisor import scram_program

            return scram_program.write_users(connect, configs)

        child = zygote.fork(write_users, self._layout.supervisor_log)
        child.let_go()
        if child.wait() != 0:
            raise ClusterError(last_line(self._layout.supervisor_log))

    def _add(self, name: str, port: int, launch: Callable[[], Child]) -> Member:
        member = Member(name, host=LOOPBACK, port=port, launch=launch, changed=self.write_state)
        self.members[name] = member
        return member

    def _zookeeper_connect(self) -> str:
        return self._spec.zookeeper or (
            self._local_zookeeper.connect if self._local_zookeeper else ""
        )


def _place(member: Member) -> tuple[bool, int]:
    """Brokers by their ids, behind what they need; the control port needs them."""
    return member.name == CONTROL_PORT, member.state().broker_id or 0
