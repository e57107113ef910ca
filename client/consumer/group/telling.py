"""A listener is told, whatever it does about it (ConsumerRebalanceListenerInvoker)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

from logquake.client.driving.steps import Call, Steps
from logquake.client.errors import RebalanceListenerError, WakeupError
from logquake.wire.topic_partition import TopicPartition

Hearing: TypeAlias = Callable[[Sequence[TopicPartition]], object]


class Telling:
    """What it raises is raised once all was told that belongs together; a wakeup at once."""

    def __init__(self) -> None:
        self._failure: Exception | None = None

    def tell(self, hear: Hearing, places: Iterable[TopicPartition]) -> Steps[None]:
        try:
            yield Call(partial(hear, tuple(sorted(places))))
        except WakeupError:
            raise
        except Exception as error:  # noqa: BLE001 - it is the program's, and may be any
            self._failure = self._failure or error

    def check(self) -> None:
        """Raises RebalanceListenerError."""
        if self._failure is not None:
            raise RebalanceListenerError(
                f"the rebalance listener failed: {self._failure!r}"
            ) from self._failure
