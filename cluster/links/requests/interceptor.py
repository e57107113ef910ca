"""A conversation on its connection: does what comes out of it, and wakes it up in time."""

from __future__ import annotations

from collections.abc import Iterable

from logquake.cluster.links.interception import Passage, Way
from logquake.cluster.links.requests.conversation import Conversation
from logquake.cluster.links.requests.effects import Effect, End, Forward
from logquake.cluster.links.requests.rules import RuleBook
from logquake.cluster.links.requests.watching import Watches, Witness
from logquake.seams.scheduler import Timer


class RequestInterceptor:
    """Satisfies interception.Interceptor."""

    def __init__(self, passage: Passage, book: RuleBook, watches: Watches) -> None:
        self._passage = passage
        self._scheduler = passage.scheduler
        self._witness = Witness(watches, passage.dialler, passage.dialled)
        self._conversation = Conversation(passage.dialler, passage.dialled, book, self._witness)
        self._timer: Timer | None = None
        self._is_over = False

    def receive(self, way: Way, data: memoryview) -> None:
        self._perform(self._conversation.receive(way, data, self._scheduler.now_ms()))

    def end(self, way: Way) -> None:
        self._perform(self._conversation.end(way, self._scheduler.now_ms()))

    def review(self) -> None:
        """Rules hold no longer."""
        self._perform(self._conversation.review(self._scheduler.now_ms()))

    def over(self) -> None:
        self._is_over = True
        self._witness.over()
        self._cancel_timer()

    def _perform(self, effects: Iterable[Effect]) -> None:
        if self._is_over:
            return
        for effect in effects:
            match effect:
                case Forward(way=way, data=data):
                    self._passage.pass_on(way, data)
                case End(way=way):
                    self._passage.end(way)
                case _:
                    self._passage.reset()
                    return
        for way in Way:
            self._passage.rest(way, resting=not self._conversation.may_read(way))
        self._cancel_timer()
        wake_ms = self._conversation.wake_ms()
        if wake_ms is not None and not self._is_over:
            delay_ms = max(wake_ms - self._scheduler.now_ms(), 1)
            self._timer = self._scheduler.call_later(delay_ms, self._wake)

    def _wake(self) -> None:
        self._timer = None
        self._perform(self._conversation.go_on(self._scheduler.now_ms()))

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
