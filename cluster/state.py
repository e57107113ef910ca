"""What a cluster's members do now: the document of state.json, and of ``logquake status``."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

ZOOKEEPER = "zookeeper"
LINKS = "links"
CONTROL_PORT = "control-port"
NO_PORT = 0  # of a member that has many
_BROKER = "broker-"


def broker_name(broker_id: int) -> str:
    return f"{_BROKER}{broker_id}"


def broker_id_of(name: str) -> int:
    """Of a broker's name."""
    return int(name.removeprefix(_BROKER))


def is_broker(name: str) -> bool:
    return name.startswith(_BROKER)


def zookeeper_names(count: int) -> tuple[str, ...]:
    """One server is ``zookeeper``; of several each has its number."""
    if count == 1:
        return (ZOOKEEPER,)
    return tuple(f"{ZOOKEEPER}-{number}" for number in range(1, count + 1))


def is_zookeeper(name: str) -> bool:
    return name == ZOOKEEPER or name.startswith(f"{ZOOKEEPER}-")


class Phase(StrEnum):
    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "stopping"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a process ended. ``asked`` says whether the supervisor was told to end it."""

    at_ms: int  # wall clock
    signal: str | None  # "SIGKILL"
    status: int | None  # exit status when no signal ended it
    asked: bool

    @classmethod
    def of(cls, return_code: int, *, at_ms: int, asked: bool) -> Ending:
        """From a return code as subprocess and multiprocess give it: negative for a signal."""
        if return_code < 0:
            return cls(at_ms, signal.Signals(-return_code).name, None, asked)
        return cls(at_ms, None, return_code, asked)

    def __str__(self) -> str:
        how = f"killed by {self.signal}" if self.signal else f"exited with status {self.status}"
        return how if self.asked else f"{how}, unasked"


@dataclass(frozen=True, slots=True)
class MemberState:
    """One process of the cluster. ``ended`` is how its last run ended, kept after a restart."""

    name: str
    host: str
    port: int
    phase: Phase
    pid: int | None
    since_ms: int  # wall clock, when the phase began
    ended: Ending | None

    @property
    def address(self) -> str:
        """Of the links "-": each has its own."""
        return f"{self.host}:{self.port}" if self.port != NO_PORT else "-"

    @property
    def broker_id(self) -> int | None:
        return int(self.name.removeprefix(_BROKER)) if is_broker(self.name) else None

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> MemberState:
        ended = document["ended"]
        return cls(
            **{
                **document,
                "phase": Phase(document["phase"]),
                "ended": None if ended is None else Ending(**ended),
            }
        )


@dataclass(frozen=True, slots=True)
class ClusterState:
    """A cluster as its supervisor sees it; members in the order of their ids."""

    name: str
    supervisor_pid: int
    preset: str
    zookeeper: str  # zookeeper.connect
    members: tuple[MemberState, ...]
    planted_bugs: tuple[str, ...] = ()  # with which its brokers start, by name
    kafka: bool = False  # brokers are Apache Kafka's

    @property
    def brokers(self) -> tuple[MemberState, ...]:
        return tuple(member for member in self.members if is_broker(member.name))

    @property
    def zookeepers(self) -> tuple[MemberState, ...]:
        """Of a ZooKeeper that is the cluster's own."""
        return tuple(member for member in self.members if is_zookeeper(member.name))

    @property
    def has_zookeeper(self) -> bool:
        """Whether more than half of its servers run, or it is somebody else's."""
        running = sum(member.phase is Phase.RUNNING for member in self.zookeepers)
        return not self.zookeepers or 2 * running > len(self.zookeepers)

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(broker.address for broker in self.brokers)

    def member(self, name: str) -> MemberState | None:
        return next((member for member in self.members if member.name == name), None)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> ClusterState:
        members = tuple(MemberState.from_json(one) for one in document["members"])
        bugs = tuple(document["planted_bugs"])
        return cls(**{**document, "members": members, "planted_bugs": bugs})
