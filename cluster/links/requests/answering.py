"""The answers that a connection's client waits for, in the order of its requests.

Kafka's clients take answers in that order alone. So an answer that is made here waits for those of
the requests before, and where one is lost nothing may follow it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from logquake.cluster.links.requests.rules import Rule
from logquake.cluster.links.requests.waiting import Wait
from logquake.cluster.links.requests.watching import Sighting
from logquake.wire.header import RequestHeader


@dataclass(slots=True, eq=False)
class Exchange:
    """A request and what it was answered; ``rules`` wait for the answer, and who saw it."""

    header: RequestHeader
    sighting: Sighting | None = None
    rules: list[Rule] = field(default_factory=list)
    answer: bytes | None = None
    is_lost: bool = False
    resets: bool = False  # the connection, when it is its turn
    wait: Wait = field(default_factory=Wait)


class Answering:
    def __init__(self) -> None:
        self._expected: deque[Exchange] = deque()  # by the client
        # By us, from the broker, as it got the requests; None for an answer that is a copy.
        self._coming: deque[tuple[int, Exchange | None]] = deque()
        self._has_ended = False
        self._is_silent = False

    def __len__(self) -> int:
        return len(self._expected)

    def expect(self, exchange: Exchange) -> None:
        """The client has asked."""
        if not self._is_silent:
            self._expected.append(exchange)

    def asked(self, exchange: Exchange, copies: int) -> None:
        """The broker has been asked, so many times."""
        correlation_id = exchange.header.correlation_id
        self._coming.append((correlation_id, exchange))
        self._coming.extend([(correlation_id, None)] * (copies - 1))

    def match(self, correlation_id: int) -> Exchange | None:
        """Whose answer has come; None for a copy. KeyError for one that was not asked for here.

        What was asked before it is never answered: a broker keeps the order.
        """
        place = next((n for n, each in enumerate(self._coming) if each[0] == correlation_id), None)
        if place is None:
            raise KeyError(correlation_id)
        for _ in range(place):
            _, passed_over = self._coming.popleft()
            if passed_over is not None and passed_over in self._expected:
                self._expected.remove(passed_over)
        return self._coming.popleft()[1]

    def end(self) -> None:
        """The broker says no more."""
        self._has_ended = True

    def take(self, now_ms: float) -> Iterator[Exchange]:
        """Those whose answers may go on to the client now."""
        while self._expected and not self._is_silent:
            first = self._expected[0]
            if first.is_lost:
                self._fall_silent()
            elif first.answer is None or not first.wait.is_over(now_ms):
                return
            else:
                yield self._expected.popleft()

    def take_end(self) -> bool:
        """Whether the end's turn has come; said once."""
        due = self._has_ended and not (self._expected and self._expected[0].answer is not None)
        if due:
            self._has_ended = False
        return due

    @property
    def kept_bytes(self) -> int:
        """Of answers that wait, though it is their turn."""
        if not self._expected or self._expected[0].answer is None:
            return 0
        return sum(len(each.answer) for each in self._expected if each.answer is not None)

    def rest(self) -> Iterator[bytes]:
        """All answers that are there, whatever they wait for."""
        for exchange in self._expected:
            if exchange.answer is not None:
                yield exchange.answer
        self._expected.clear()

    @property
    def waits(self) -> Iterator[Wait]:
        """Of those that are expected, the first one's first."""
        return (exchange.wait for exchange in self._expected)

    def _fall_silent(self) -> None:
        self._is_silent = True
        self._expected.clear()
