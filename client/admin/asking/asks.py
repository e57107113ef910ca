"""One request of an admin client, and which broker it is for (KafkaAdminClient.Call, NodeProvider).

A call of the program is a generator: it yields an `Ask` and is sent the `Reply`; a final error is
raised in it. `Also` starts another generator beside it. The runner retries retriable errors, so a
call only defines requests and what responses mean.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from logquake.client.network.effects import Node
from logquake.wire.schema import Message

A = TypeVar("A", bound=Message)


@dataclass(frozen=True, slots=True)
class Controller:
    """The current controller."""


@dataclass(frozen=True, slots=True)
class LeastLoaded:
    """Any broker will do."""


@dataclass(frozen=True, slots=True)
class Broker:
    """Only that broker can answer."""

    broker_id: int


Whom: TypeAlias = Controller | LeastLoaded | Broker
CONTROLLER = Controller()
ANYBODY = LeastLoaded()


class Loss(Enum):
    """How to handle a request whose connection is lost, or that times out."""

    IS_MENDED = "it is asked again"
    IS_RAISED = "the call is told, which knows how to find another broker"


class Terms(NamedTuple):
    """The terms of a request: the common version, and how long it may take."""

    version: int
    timeout_ms: int


class Reply(NamedTuple, Generic[A]):
    message: A
    node: Node


def _takes_it(_: Any) -> None:
    """Accept any response as final."""


@dataclass(frozen=True, slots=True)
class Ask(Generic[A]):
    """One request to one broker. ``request`` may raise UnsupportedVersionError.

    ``accept`` raises the error of the response as a whole: if that is retriable, the request is
    repeated after a back-off; otherwise it is raised in the call.
    """

    whom: Whom
    response: type[A]
    request: Callable[[Terms], Message]
    accept: Callable[[A], None] = _takes_it
    # The back-off before the first attempt, if it repeats an earlier request.
    delay_ms: int = 0
    # Attempts of earlier requests for the same, which count against retries.
    tries: int = 0
    on_loss: Loss = Loss.IS_MENDED


def fixed(message: Message) -> Callable[[Terms], Message]:
    """A request that is the same on any terms."""
    return lambda _: message


Asks: TypeAlias = Generator["Ask[Any] | Also", Any, None]


@dataclass(frozen=True, slots=True)
class Also:
    """Another generator, run in parallel for the same results and deadline."""

    name: str
    asks: Asks
