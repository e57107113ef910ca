"""What is asked of a launched cluster, and the server.properties that follow from it.

A launched cluster starts from Kafka's defaults and changes a few: internal topics and new topics
get min(3, n) replicas and min(2, n) in-sync ones, and a group's first rebalance waits for nobody,
as in Kafka's stock server.properties. So does zookeeper.connection.timeout.ms: left to itself, a
broker on a slow machine would give up at its start after as little as a session's time. A preset
then says how soon a failure is noticed, and how near to Kafka's the behaviour is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from logquake.cluster.errors import ClusterError
from logquake.cluster.processes.ports import LOOPBACK

DEFAULT_PORT = 9092
FAST_FAILOVER = "fast_failover"
KAFKA_DEFAULTS = "kafka_defaults"
# A dead broker is noticed by its refused connections, a frozen one when its ZooKeeper session ends,
# a slow one after the lag: times that also a machine which starves its processes keeps.
PRESETS: Mapping[str, Mapping[str, str]] = {
    FAST_FAILOVER: {
        "logquake.failover.on.refusal": "true",
        "zookeeper.session.timeout.ms": "8000",
        "replica.lag.time.max.ms": "5000",
    },
    KAFKA_DEFAULTS: {
        "logquake.log.deletion.checkpoint.delay.ms": "0",
        "logquake.produce.pipelining": "none",
        "logquake.replica.fetch.new.leader.backoff.ms": "1000",
        "logquake.replica.fetch.new.leader.wait.ms": "500",
    },
}
OWNED_KEYS = frozenset({"broker.id", "listeners", "log.dirs", "log.dir", "zookeeper.connect"})

# With links as well.
LINKED_KEYS = frozenset(
    {
        "advertised.listeners",
        "inter.broker.listener.name",
        "listener.security.protocol.map",
        "logquake.network.routes",
    }
)


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """``port`` is broker 1's, the next ones follow; None takes any free ports.

    ``zookeeper`` is the address of a server that already runs; None starts as many as
    ``zookeepers`` says, of which several are an ensemble. ``temporary`` removes the state directory
    when the cluster ends. ``log_dirs`` is how many directories each broker spreads its partitions
    over. ``secure`` is TLS and SCRAM for all that connect. ``links`` lays a proxy for each
    direction between brokers, clients and ZooKeeper, which can be hurt. With ``faults``, or links,
    what is inside of brokers can be broken too: their disks and clocks. ``control`` opens the
    control port. ``kafka`` is the folder of Apache Kafka's jars: its brokers then take the place
    of ours. Brokers 1 to ``brokers`` were asked for; some were ``added`` since then, some
    ``removed``.
    """

    name: str = "default"
    brokers: int = 3
    port: int | None = None
    preset: str = FAST_FAILOVER
    config: Mapping[str, str] = field(default_factory=dict)
    zookeeper: str | None = None
    temporary: bool = False
    log_dirs: int = 1
    secure: bool = False
    links: bool = False
    faults: bool = False
    control: bool = False
    zookeepers: int = 1
    added: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()
    kafka: str | None = None

    def __post_init__(self) -> None:
        if self.brokers < 1:
            raise ClusterError(f"{self.brokers} brokers: a cluster needs at least one")
        if self.zookeepers < 1:
            raise ClusterError(f"{self.zookeepers} ZooKeeper servers: a cluster needs one")
        if self.zookeeper is not None and self.zookeepers > 1:
            raise ClusterError("a ZooKeeper that runs has as many servers as it has: name them all")
        if self.log_dirs < 1:
            raise ClusterError(f"{self.log_dirs} log directories: a broker needs at least one")
        if self.preset not in PRESETS:
            raise ClusterError(f"no preset {self.preset!r}: choose {' or '.join(PRESETS)}")
        owned = (OWNED_KEYS | LINKED_KEYS if self.links else OWNED_KEYS).intersection(self.config)
        if owned:
            raise ClusterError(f"{min(owned)} is set by the launcher: leave it out of the config")
        if self.kafka is not None and self.faults:
            raise ClusterError("disks and clocks of Apache Kafka can't be broken: no --faults")
        if self.kafka is not None and self.links and self.secure:
            raise ClusterError("links of Apache Kafka's brokers are in the open: no --secure")

    @property
    def has_faults(self) -> bool:
        return self.kafka is None and (self.faults or self.links)

    @property
    def broker_ids(self) -> tuple[int, ...]:
        """In order."""
        ever = {*range(1, self.brokers + 1), *self.added}
        return tuple(sorted(ever.difference(self.removed)))

    @property
    def next_id(self) -> int:
        """One that no broker has had: who removed a broker may have left replicas under its id."""
        return max((self.brokers, *self.added, *self.removed)) + 1

    def port_of(self, broker_id: int) -> int | None:
        """The one that was asked for; None for any."""
        return None if self.port is None else self.port + broker_id - 1

    def with_broker(self, broker_id: int) -> ClusterSpec:
        """Raises ClusterError for an id that a broker has, or none can have."""
        if broker_id in self.broker_ids:
            raise ClusterError(f"there is a broker {broker_id}: choose another id")
        if broker_id < 1:
            raise ClusterError(f"{broker_id} is no broker's id: they begin at 1")
        added = {*self.added, broker_id}.difference(range(1, self.brokers + 1))
        removed = set(self.removed) - {broker_id}
        return replace(self, added=tuple(sorted(added)), removed=tuple(sorted(removed)))

    def without_broker(self, broker_id: int) -> ClusterSpec:
        """Raises ClusterError for the last one."""
        if self.broker_ids == (broker_id,):
            raise ClusterError(f"broker {broker_id} is the only one: a cluster needs at least one")
        added = tuple(one for one in self.added if one != broker_id)
        return replace(self, added=added, removed=tuple(sorted({*self.removed, broker_id})))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> ClusterSpec:
        """Raises ClusterError for a document of another version."""
        ids = {key: tuple(document.get(key, ())) for key in ("added", "removed")}
        try:
            return cls(**{**document, **ids})
        except TypeError as error:
            raise ClusterError(
                f"the kept settings are of another version ({error}): logquake down, then up"
            ) from error


def as_property(value: object) -> str:
    """A value of Python's as Kafka's files and requests have it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def parse_assignments(texts: Iterable[str]) -> dict[str, str]:
    """``key=value`` texts of the command line. Raises ClusterError."""
    config: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ClusterError(f"{text!r} is no setting: write -c key=value")
        config[key.strip()] = value.strip()
    return config


def broker_properties(
    spec: ClusterSpec,
    broker_id: int,
    *,
    port: int,
    zookeeper: str,
    data: Sequence[Path],
    security: Mapping[str, str] = MappingProxyType({}),
    links: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:
    """A broker's server.properties. What the user set wins over preset and defaults.

    ``security`` and ``links`` are what these add, or put in the place of what is there without.
    """
    return {
        "broker.id": str(broker_id),
        "listeners": f"PLAINTEXT://{LOOPBACK}:{port}",
        "log.dirs": ",".join(map(str, data)),
        "zookeeper.connect": zookeeper,
        **security,
        **links,
        **_launched_defaults(spec.brokers),
        **PRESETS[spec.preset],
        **spec.config,
    }


def format_properties(properties: Mapping[str, str]) -> str:
    """The text of a Java properties file."""
    return "".join(f"{key}={_escape(value)}\n" for key, value in properties.items())


def _launched_defaults(brokers: int) -> dict[str, str]:
    replicas, in_sync = str(min(3, brokers)), str(min(2, brokers))
    return {
        "default.replication.factor": replicas,
        "min.insync.replicas": in_sync,
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": in_sync,
        "group.initial.rebalance.delay.ms": "0",
        "zookeeper.connection.timeout.ms": "18000",
    }


def _escape(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n")
    return "\\" + escaped if escaped.startswith(" ") else escaped
