"""A program with its calls, as scripts make them: told of its group, waiting for what it asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from logquake.client.consumer.group.listener import CommitCallback, Offsets
from logquake.client.driving.steps import Steps, Wait
from logquake.client.errors import ClientError, WakeupError
from logquake.wire.topic_partition import TopicPartition
from tests.golden.player import Chronicle


class _Waiting(NamedTuple):
    name: str
    steps: Steps[Any]
    wait: Wait


class Program:
    """Its listener fails where `failing` names the method, or a callback that is named so; it is
    woken where `woken` does.
    """

    def __init__(self, chronicle: Chronicle) -> None:
        self._chronicle = chronicle
        self._waiting: list[_Waiting] = []
        self.failing = self.woken = ""

    # As a listener

    def on_assigned(self, places: Sequence[TopicPartition], /) -> None:
        self._hear("on_assigned", places)

    def on_revoked(self, places: Sequence[TopicPartition], /) -> None:
        self._hear("on_revoked", places)

    def on_lost(self, places: Sequence[TopicPartition], /) -> None:
        self._hear("on_lost", places)

    def _hear(self, method: str, places: Sequence[TopicPartition]) -> None:
        self._chronicle.log(f"{method}: {' '.join(map(str, places)) or 'none'}")
        if method == self.failing:
            raise OSError("the program's own")
        if method == self.woken:
            raise WakeupError("wakeup() was called")

    def callback(self, name: str) -> CommitCallback:
        def hear(_: Offsets, error: ClientError | None) -> None:
            self._chronicle.log(f"{name} hears: {error or 'committed'}")
            if name == self.failing:
                raise OSError("the program's own")

        return hear

    def intercept(self, offsets: Offsets) -> None:
        self._chronicle.log(f"interceptors hear of {shown(offsets)}")

    # Its calls

    def call(self, name: str, steps: Steps[Any]) -> None:
        self._go_on(name, steps, None)

    def go_on(self, now_ms: int) -> bool:
        """Whether one of the calls that wait does."""
        for each in self._waiting:
            is_done = each.wait.is_done()
            if is_done or each.wait.deadline_ms <= now_ms:
                self._waiting.remove(each)
                self._go_on(each.name, each.steps, is_done)
                return True
        return False

    def next_due_ms(self) -> int | None:
        return min((each.wait.deadline_ms for each in self._waiting), default=None)

    def _go_on(self, name: str, steps: Steps[Any], sent: Any) -> None:
        take = steps.send
        while True:
            try:
                step = take(sent)
            except StopIteration as end:
                self._returned(name, end.value)
                return
            except (ClientError, ValueError, OSError) as error:
                self._chronicle.log(f"{name} raises {type(error).__name__}: {error}")
                return
            if isinstance(step, Wait):
                self._waiting.append(_Waiting(name, steps, step))
                return
            take, sent = steps.send, None
            try:
                step.function()
            except (OSError, WakeupError) as error:
                take, sent = steps.throw, error

    def _returned(self, name: str, value: object) -> None:
        if isinstance(value, dict):
            self._chronicle.log(f"{name} returns {shown(value)}")
        elif name != "poll":
            self._chronicle.log(f"{name} returns")


def shown(offsets: Any) -> str:
    said = [
        f"{place}={told.offset if told else 'nothing'}" for place, told in sorted(offsets.items())
    ]
    return " ".join(said) or "nothing"
