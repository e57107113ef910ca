"""One request of an admin client, and which broker it is for (KafkaAdminClient.Call, NodeProvider).

A call of the program is a generator: it yields an `Ask` and is sent the `Reply`; a final error is
raised in it. `Also` starts another generator beside it. Whoever runs it retries what is retriable,
so that a call only says what is asked and what the answers mean.
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
    """Whoever is it now."""


@dataclass(frozen=True, slots=True)
class LeastLoaded:
    """Any broker will do."""


@dataclass(frozen=True, slots=True)
class Broker:
    """That one, and no other knows."""

    broker_id: int


Whom: TypeAlias = Controller | LeastLoaded | Broker
CONTROLLER = Controller()
ANYBODY = LeastLoaded()


class Loss(Enum):
    """What becomes of a request whose connection is lost, or that is not answered in time."""

    IS_MENDED = "it is asked again"
    IS_RAISED = "the call is told, which knows how to find another broker"


class Terms(NamedTuple):
    """On which a request is made: the version that both speak, and how long it may take."""

    version: int
    timeout_ms: int


class Reply(NamedTuple, Generic[A]):
    message: A
    node: Node


def _takes_it(_: Any) -> None:
    """Whatever was answered is final."""


@dataclass(frozen=True, slots=True)
class Ask(Generic[A]):
    """One request to one broker. ``request`` may raise UnsupportedVersionError.

    ``accept`` raises what the answer as a whole is refused with: if that is retriable it is asked
    again after a while, else it is raised in the call.
    """

    whom: Whom
    response: type[A]
    request: Callable[[Terms], Message]
    accept: Callable[[A], None] = _takes_it
    # Before the first attempt, of who has asked for the same already.
    delay_ms: int = 0
    # Attempts of who has asked for the same already: they count against retries.
    tries: int = 0
    on_loss: Loss = Loss.IS_MENDED


def fixed(message: Message) -> Callable[[Terms], Message]:
    """A request that is the same on whatever terms."""
    return lambda _: message


Asks: TypeAlias = Generator["Ask[Any] | Also", Any, None]


@dataclass(frozen=True, slots=True)
class Also:
    """What goes on beside, for the same results until the same deadline."""

    name: str
    asks: Asks
