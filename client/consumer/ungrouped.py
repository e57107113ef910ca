"""Stands in for the group without a group.id: nothing is committed, the program assigns."""

from __future__ import annotations

from collections.abc import Collection
from typing import NoReturn

from logquake.client.consumer.group.listener import (
    CommitCallback,
    Offsets,
    RebalanceListener,
    unheard,
)
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.driving.steps import Steps
from logquake.client.errors import NoGroupError
from logquake.wire.topic_partition import TopicPartition

_FOR_EVER_MS = 2**63 - 1


class Ungrouped:
    """Replaces a `Coordination`, whose docstrings apply. Calls that need a group raise
    NoGroupError.
    """

    awaits_program = False
    lacks_positions = False

    def __init__(self, subscriptions: Subscriptions) -> None:
        self._subscriptions = subscriptions

    def poll(self, _now_ms: int) -> None:
        """Nothing to do without a coordinator."""

    def next_due_ms(self, _now_ms: int) -> None: ...

    def attend(self, _listener: RebalanceListener) -> Steps[None]:
        self._subscriptions.reset_initializing()
        yield from ()

    def polled(self, _now_ms: int) -> None:
        """Nothing to do without a group."""

    def want_position(self, _place: TopicPartition) -> None:
        """Nothing to do: `check_positions` resets the position."""

    def check_positions(self) -> None:
        self._subscriptions.reset_initializing()

    def attend_again_ms(self, _now_ms: int) -> int:
        return _FOR_EVER_MS

    def commit(self, _offsets: Offsets | None, _deadline_ms: int) -> Steps[None]:
        _refuse()

    def commit_async(
        self, _offsets: Offsets | None, _callback: CommitCallback = unheard
    ) -> Steps[None]:
        _refuse()

    def committed(self, _places: Collection[TopicPartition], _deadline_ms: int) -> Steps[NoReturn]:
        _refuse()

    def reassigning(self) -> None:
        """Nothing to do: nothing is committed."""

    def group_metadata(self) -> NoReturn:
        _refuse()

    def enforce_rebalance(self, _reason: str) -> None:
        _refuse()

    def leave(self, _listener: RebalanceListener, _reason: str) -> Steps[None]:
        yield from ()

    def close(self, _listener: RebalanceListener, _deadline_ms: int) -> Steps[None]:
        yield from ()

    def metrics(self) -> dict[str, float]:
        return {}


def _refuse() -> NoReturn:
    raise NoGroupError("the consumer has no group.id: nothing is assigned or committed without one")
