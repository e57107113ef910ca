"""What is known of a cluster that runs: its processes, its leaders, its controller.

Whoever launched it is no matter: everything comes from its control socket or from ZooKeeper.
"""

from __future__ import annotations

import random
from functools import cached_property
from typing import TYPE_CHECKING, Any

from logquake.cluster.control.client import SupervisorGoneError, connect
from logquake.cluster.errors import ClusterError
from logquake.cluster.layout import Layout
from logquake.cluster.observing.onlookers import ONLOOKER
from logquake.cluster.observing.tables import (
    MEMBER_COLUMNS,
    PARTITION_COLUMNS,
    as_text,
    leader_counts,
    member_rows,
    partition_rows,
)
from logquake.cluster.observing.targets import resolve
from logquake.cluster.state import ClusterState, MemberState, Phase
from logquake.wire.sentinels import NO_LEADER
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.znodes.topics import PartitionState

if TYPE_CHECKING:
    from logquake.client import Admin
    from logquake.client.driving.way_in import WayIn
    from logquake.cluster.observing.view import ClusterView
    from logquake.cluster.processes.control_port import ControlPort
    from logquake.cluster.security.cluster_security import ClusterSecurity

COMMAND_TIMEOUT_S = 90.0  # longer than a broker's controlled shutdown with all its retries
ANSWER_TIMEOUT_S = 5.0
# What brokers make or delete they answer once it is so; who asked again meanwhile would be told
# that it is done.
CHANGE_TIMEOUT_S = 30.0

Target = int | str


class ObservedCluster:
    """Every method raises ClusterError. A target is a broker id or one of targets.FORMS."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.random = random.Random()  # draws random targets: seed it to have them again

    def state(self) -> ClusterState:
        """Its processes, as the supervisor sees them."""
        return ClusterState.from_json(self.ask("status"))

    @property
    def bootstrap_servers(self) -> str:
        return self.state().bootstrap_servers

    @property
    def zookeeper_connect(self) -> str:
        return self.state().zookeeper

    @property
    def security(self) -> ClusterSecurity | None:
        """None where everybody may come in."""
        from logquake.cluster.security.cluster_security import read_security

        return read_security(self.layout)

    @property
    def way_in(self) -> WayIn:
        """How our own client gets in at a broker."""
        from logquake.client.driving.way_in import PLAIN

        if self.security is None:
            return PLAIN
        from logquake.client.settings.admin import AdminConfig
        from logquake.client.settings.reading import read
        from logquake.client.tls_and_sasl import way_in_of

        return way_in_of(read(AdminConfig, self.kafka_config()))

    @property
    def control_port(self) -> ControlPort | None:
        """Where programs in other languages ask for faults; None of a cluster without one."""
        from logquake.cluster.processes.control_port import ControlPort

        return ControlPort.read(self.layout)

    def client_config(self) -> dict[str, str]:
        """What confluent-kafka, or another client that is librdkafka within, has to be told."""
        security = self.security
        return {
            "bootstrap.servers": self.bootstrap_servers,
            **(security.for_librdkafka() if security else {}),
        }

    def kafka_config(self) -> dict[str, str]:
        """The same under Kafka's own keys, as Java's clients and ours have them."""
        security = self.security
        return {
            "bootstrap.servers": self.bootstrap_servers,
            **(security.for_java() if security else {}),
        }

    def admin(
        self, timeout: float = ANSWER_TIMEOUT_S, *, answer: float = ANSWER_TIMEOUT_S
    ) -> Admin:
        """An admin client of our own, to be closed. It begins with brokers that run, and an answer
        is waited for no longer than ``answer``: then another one is asked, should the one that was
        asked be frozen.
        """
        from logquake.client import Admin

        running = [one.address for one in self.state().brokers if one.phase is Phase.RUNNING]
        asked = {"bootstrap.servers": ",".join(running)} if running else {}
        config = {**self.kafka_config(), **asked}
        return Admin(config, client_id=ONLOOKER, **patience(timeout, answer))

    @cached_property
    def view(self) -> ClusterView:
        """What ZooKeeper knows of it, read over one session that lasts until close()."""
        from logquake.cluster.observing.view import ClusterView

        return ClusterView(self.zookeeper_connect)

    def leader(self, topic: str, partition: int) -> int:
        state = self.partition_state(topic, partition)
        if state.leader == NO_LEADER:
            raise ClusterError(f"{topic}-{partition} has no leader at the moment")
        return state.leader

    def isr(self, topic: str, partition: int) -> tuple[int, ...]:
        return self.partition_state(topic, partition).isr

    def controller(self) -> int:
        controller = self.view.controller()
        if controller is None:
            raise ClusterError("there is no controller at the moment")
        return controller

    def leader_epochs(self) -> dict[TopicPartition, int]:
        """None are known while ZooKeeper itself is at fault; brokers can be hurt all the same."""
        if not self.state().has_zookeeper:
            return {}
        try:
            return {one: state.leader_epoch for one, state in self.view.all_partitions().items()}
        except ClusterError:
            return {}

    def zookeepers_serving(self) -> int:
        """How many of its own servers serve clients: those of a majority that found together."""
        servers = [each for each in self.state().zookeepers if each.phase is Phase.RUNNING]
        return sum(_zookeeper_mode(server) != "" for server in servers)

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

    def member_name(self, target: Target) -> str:
        """The member that a target means at this moment."""
        return resolve(
            str(target), self.state(), lambda: self.view, _zookeeper_mode, self.random.choice
        )

    def close(self) -> None:
        """Let go of it; the cluster runs on."""
        view = self.__dict__.pop("view", None)
        if view is not None:
            view.close()

    def partition_state(self, topic: str, partition: int) -> PartitionState:
        state = self.view.partition(topic, partition)
        if state is None:
            raise ClusterError(f"no partition {topic}-{partition}, or it has never had a leader")
        return state

    def ask(self, verb: str, *, timeout_s: float = COMMAND_TIMEOUT_S, **arguments: Any) -> Any:
        """One request to the supervisor; see supervisor/commands.py. Raises TimeoutError too."""
        try:
            control = connect(self.layout.control_socket)
        except SupervisorGoneError as error:
            raise SupervisorGoneError(
                f"no cluster runs in {self.layout.root}: start one with logquake up"
            ) from error
        try:
            return control.ask(verb, timeout_s=timeout_s, **arguments)
        finally:
            control.close()


def patience(timeout_s: float, answer_s: float) -> dict[str, int]:
    """The keys of an admin client whose calls take no longer."""
    timeout_ms = int(timeout_s * 1000)
    setup_ms = min(int(ANSWER_TIMEOUT_S * 1000), timeout_ms)
    return {
        "default_api_timeout_ms": timeout_ms,
        "request_timeout_ms": min(int(answer_s * 1000), timeout_ms),
        "socket_connection_setup_timeout_ms": setup_ms,
        "socket_connection_setup_timeout_max_ms": setup_ms,
    }


def _zookeeper_mode(server: MemberState) -> str:
    from logquake.cluster.zookeeper.probe import FOREIGN_TIMEOUT_S, mode_of

    return mode_of(server.host, server.port, FOREIGN_TIMEOUT_S)
