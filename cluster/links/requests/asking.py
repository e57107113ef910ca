"""The requests of a connection on their way to the broker, in their order.

None overtakes another, except where a rule wants just that: what a rule keeps, keeps all behind it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto

from logquake.cluster.links.requests.answering import Exchange
from logquake.cluster.links.requests.waiting import Wait


class Fate(Enum):
    """What becomes of a request when it is its turn."""

    PASS = auto()
    ANSWERED = auto()  # in the broker's stead
    LOST = auto()  # and all that follow it
    RESET = auto()  # the connection is


@dataclass(slots=True, eq=False)
class Asked:
    """A request; ``exchange`` is None where the client wants no answer."""

    frame: bytes
    api_key: int
    exchange: Exchange | None
    fate: Fate = Fate.PASS
    answer: bytes = b""  # of one that is ANSWERED
    copies: int = 1
    wait: Wait = field(default_factory=Wait)
    wants_overtaker: int | None = None  # the rule's id

    def wants_no_overtaker(self) -> int | None:
        """It need not wait for one any longer; the rule that it waited for."""
        rule_id, self.wants_overtaker = self.wants_overtaker, None
        if rule_id is not None:
            self.wait.drop(rule_id)
        return rule_id


class Asking:
    """``held_bytes`` are those of requests that wait."""

    def __init__(self) -> None:
        self._queue: deque[Asked] = deque()
        self._overtakable: dict[int, Asked] = {}  # by API key, one of each
        self.held_bytes = 0
        self._has_ended = False
        self._is_silent = False

    @property
    def is_silent(self) -> bool:
        """Whether nothing gets through any more."""
        return self._is_silent

    def add(self, asked: Asked) -> int | None:
        """The rule that had another wait for this one to overtake it."""
        self.held_bytes += len(asked.frame)
        waiting = self._overtakable.pop(asked.api_key, None)
        if waiting is None:
            self._queue.append(asked)
            if asked.wants_overtaker is not None:
                self._overtakable[asked.api_key] = asked
            return None
        self._queue.insert(self._queue.index(waiting), asked)
        return waiting.wants_no_overtaker()

    def fall_silent(self) -> None:
        self._is_silent = True
        self.rest()

    def end(self) -> list[int]:
        """No more come: the rules that had requests wait for others to overtake them."""
        self._has_ended = True
        waiting, self._overtakable = self._overtakable, {}
        rules = (asked.wants_no_overtaker() for asked in waiting.values())
        return [rule_id for rule_id in rules if rule_id is not None]

    def take(self, now_ms: float) -> Iterator[Asked]:
        """Those whose turn it is."""
        while self._queue and self._queue[0].wait.is_over(now_ms):
            asked = self._queue.popleft()
            self.held_bytes -= len(asked.frame)
            if self._overtakable.get(asked.api_key) is asked:
                del self._overtakable[asked.api_key]
            yield asked

    def take_end(self) -> bool:
        """Whether the end's turn has come; said once."""
        due = self._has_ended and not self._queue
        if due:
            self._has_ended = False
        return due

    def rest(self) -> Iterable[Asked]:
        """All, whatever they wait for."""
        rest, self._queue, self.held_bytes = self._queue, deque(), 0
        self._overtakable.clear()
        return rest

    @property
    def waits(self) -> Iterator[Wait]:
        """Of those that are held, the first one's first."""
        return (asked.wait for asked in self._queue)
