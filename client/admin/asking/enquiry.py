"""One request of a call: its progress, and the failures so far (KafkaAdminClient.Call)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from logquake.client.admin.asking.asks import Ask, Asks
from logquake.client.admin.asking.results import Results
from logquake.client.errors import ClientError, TimedOutError
from logquake.client.network.effects import Node


@dataclass(slots=True, eq=False)
class Call:
    """A call of the program; ``running`` are its generators."""

    name: str
    results: Results[Any, Any]
    deadline_ms: int
    running: int = 0


@dataclass(frozen=True, slots=True)
class Waiting:
    """Waiting for a broker to ask, not before ``not_before_ms``."""

    not_before_ms: int


@dataclass(frozen=True, slots=True)
class InFlight:
    node: Node
    sent_ms: int


@dataclass(slots=True, eq=False)
class Enquiry:
    name: str
    call: Call
    asks: Asks
    ask: Ask[Any]
    stage: Waiting | InFlight
    tries: int
    last_error: ClientError | None = None

    def lateness(self, trouble: str) -> TimedOutError:
        """Kafka's TimeoutException, with the error of the last attempt as its cause; ``trouble``
        says why no broker could be asked, like that of `NetworkClient`.
        """
        met = self.last_error
        if self.tries:
            told = f" after {self.tries} attempts" + (f": {met}" if met else trouble)
        else:
            told = f": nobody could be asked{trouble}"
        error = TimedOutError(f"{self.name} is given up{told}")
        error.__cause__ = met
        return error
