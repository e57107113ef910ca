"""What can be asked of ZooKeeper, as plain values, and what it answers.

An operation names its answer's type, so that both the kazoo session and the pure model of
ZooKeeper are interpreters of one small language, and the code above them never sees either.
Versions follow ZooKeeper: ``-1`` matches any version; a created node has version 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, Protocol, TypeVar

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

ANY_VERSION = -1


class ZkError(Enum):
    """Why an operation failed. The names are ZooKeeper's own (KeeperException.Code)."""

    NO_NODE = "NoNode"
    NODE_EXISTS = "NodeExists"
    BAD_VERSION = "BadVersion"
    NOT_EMPTY = "NotEmpty"
    NO_CHILDREN_FOR_EPHEMERALS = "NoChildrenForEphemerals"
    CONNECTION_LOSS = "ConnectionLoss"  # the outcome is unknown: it may have been applied
    SESSION_EXPIRED = "SessionExpired"
    OTHER = "Other"


@dataclass(frozen=True, slots=True)
class Stat:
    """The parts of a znode's stat that Kafka uses."""

    czxid: int
    mzxid: int
    version: int
    ephemeral_owner: int  # session id, 0 for a persistent node
    num_children: int


@dataclass(frozen=True, slots=True)
class Failed:
    """An operation that ZooKeeper refused, or whose answer never came."""

    error: ZkError
    path: str
    detail: str = ""


class Operation(Generic[R_co]):
    """Base of every operation; the parameter is the answer's type."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Data:
    data: bytes
    stat: Stat


@dataclass(frozen=True, slots=True)
class Children:
    names: tuple[str, ...]  # sorted
    stat: Stat


@dataclass(frozen=True, slots=True)
class Create(Operation[str]):
    """Answers the path made (with its number, if sequential). The parent must exist."""

    path: str
    data: bytes | None = None
    ephemeral: bool = False
    sequential: bool = False


@dataclass(frozen=True, slots=True)
class Delete(Operation[None]):
    path: str
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class SetData(Operation[Stat]):
    path: str
    data: bytes | None
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Check(Operation[None]):
    """Holds if the node exists at that version. Only inside a Multi."""

    path: str
    version: int


@dataclass(frozen=True, slots=True)
class GetData(Operation[Data]):
    path: str
    watch: bool = False


@dataclass(frozen=True, slots=True)
class Exists(Operation["Stat | None"]):
    """Answers None where there is no node; with watch, its creation is then reported."""

    path: str
    watch: bool = False


@dataclass(frozen=True, slots=True)
class GetChildren(Operation[Children]):
    path: str
    watch: bool = False


Write = Create | Delete | SetData | Check


@dataclass(frozen=True, slots=True)
class Multi(Operation["tuple[str | Stat | None, ...]"]):
    """All of the writes or none. Answers each write's own answer, in order.

    When one is refused, the answer is a Failed with that write's error and path.
    """

    operations: tuple[Write, ...]


class EventType(Enum):
    CREATED = "created"
    DELETED = "deleted"
    CHANGED = "changed"  # data
    CHILD = "child"  # the set of children


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """A watch that fired. It is gone now: read again with watch=True to keep watching."""

    type: EventType
    path: str


class SessionListener(Protocol):
    """Who is told about a session. Every call arrives on the owner's loop."""

    def on_connected(self, session_id: int) -> None:
        """A session serves: the first one, the same one after a gap, or a new one.

        A new session_id means that ephemeral nodes and watches of the old one are gone.
        """

    def on_disconnected(self) -> None:
        """No server answers; the session may still live. Operations in flight have failed."""

    def on_expired(self) -> None:
        """The session is over; a new one is being made and on_connected will follow."""

    def on_watch(self, event: WatchEvent) -> None: ...


class Session(Protocol):
    """A connection to ZooKeeper, or to the model of it."""

    def submit(self, operation: Operation[R], done: Callable[[R | Failed], None]) -> None:
        """Perform the operation; call done once, later, on the owner's loop, in order.

        Operations are performed in the order of submission. A lost connection fails those in
        flight with CONNECTION_LOSS; operations submitted while there is none fail the same way.
        """

    def close(self) -> None:
        """End the session: its ephemeral nodes go at once."""
