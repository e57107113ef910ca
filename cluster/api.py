"""``with Cluster(brokers=3) as kafka``: a cluster for the length of a block.

with Cluster(brokers=3, config={"min.insync.replicas": 2}) as kafka:
    producer = confluent_kafka.Producer({"bootstrap.servers": kafka.bootstrap_servers})
    with kafka.kill("leader:orders/0") as fault:
        kafka.wait_leader_change("orders", 0, since=fault)
    kafka.wait_isr("orders", 0, size=3)
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from logquake.cluster.kafka.libraries import find_libraries
from logquake.cluster.launcher import Launched, launch
from logquake.cluster.layout import Layout
from logquake.cluster.running.cluster import RunningCluster
from logquake.cluster.running.waits import DEFAULT_TIMEOUT
from logquake.cluster.spec import FAST_FAILOVER, ClusterSpec, as_property

__all__ = ["Cluster", "RunningCluster"]


class Cluster(RunningCluster):
    """Brokers 1 to ``brokers``, and a ZooKeeper server unless ``zookeeper`` names one; with
    ``zookeepers`` an ensemble of so many.

    Without ``data_dir`` everything lives in a temporary folder that goes with the cluster. With
    ``port`` broker 1 listens there and the others behind it; without, on free ports. ``config``
    is any of Kafka's broker settings, ``log_dirs`` how many directories a broker's data has. With
    ``secure`` all that connect do so by TLS and SCRAM: client_config() says how. With
    ``links`` there is a proxy for each direction between any two, so that links can be cut, delayed
    and the like; with ``faults``, or with links, disks and clocks of brokers can be broken
    (cluster/running/inside_faults.py). With ``control`` programs in any language ask for faults at
    control_port. Brokers have the ``planted_bugs``, by their names in planted/bugs.py. With
    ``kafka`` they are Apache Kafka's: the folder of its jars or of its distribution, or True if
    LOGQUAKE_KAFKA_LIBS names it. The cluster also ends when this process does, however.
    """

    def __init__(
        self,
        brokers: int = 3,
        config: Mapping[str, object] | None = None,
        data_dir: str | Path | None = None,
        *,
        preset: str = FAST_FAILOVER,
        port: int | None = None,
        zookeeper: str | None = None,
        log_dirs: int = 1,
        secure: bool = False,
        links: bool = False,
        faults: bool = False,
        control: bool = False,
        zookeepers: int = 1,
        planted_bugs: Sequence[str] = (),
        kafka: bool | str | Path = False,
        name: str = "default",
        on_progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        root = Path(data_dir) if data_dir else Path(tempfile.gettempdir(), _scratch_name())
        super().__init__(Layout(root.absolute()))
        self.spec = ClusterSpec(
            name=name,
            brokers=brokers,
            port=port,
            preset=preset,
            config={key: as_property(value) for key, value in (config or {}).items()},
            zookeeper=zookeeper,
            temporary=data_dir is None,
            log_dirs=log_dirs,
            secure=secure,
            links=links,
            faults=faults,
            control=control,
            zookeepers=zookeepers,
            kafka=_libraries(kafka),
        )
        self._planted_bugs = planted_bugs
        self._on_progress = on_progress
        self._launched: Launched | None = None

    def open(self, timeout: float = DEFAULT_TIMEOUT) -> Self:
        """Start it and wait until it is ready. Raises ClusterError, and then nothing is left."""
        self._launched = launch(self, self.spec, attached=True, planted_bugs=self._planted_bugs)
        self._launched.wait_until_ready(timeout, self._on_progress)
        return self

    def close(self) -> None:
        """End it: brokers shut down in their own way if their data is kept."""
        super().close()
        launched, self._launched = self._launched, None
        if launched:
            launched.close()

    def leave(self) -> None:
        """Let go of it: it runs on when this process is gone, until ``logquake down``."""
        self.ask("detach")
        super().close()
        launched, self._launched = self._launched, None
        if launched:
            launched.leave()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _libraries(kafka: bool | str | Path) -> str | None:
    if kafka is False:
        return None
    return str(find_libraries(None if kafka is True else kafka))


def _scratch_name() -> str:
    """Not made here: a folder made before the start would be left by a start that fails."""
    return f"logquake-{os.urandom(6).hex()}"
