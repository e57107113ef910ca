"""Appending, and waiting for buffer.memory if it is used up (BufferPool.allocate)."""

from __future__ import annotations

from collections.abc import Callable

from logquake.client.driving.steps import Steps, Wait
from logquake.client.errors import TimedOutError
from logquake.client.producer.accumulator import Accumulator
from logquake.client.producer.appended import Appended, D
from logquake.client.producer.memory import Lease


class MemoryWaits:
    def __init__(
        self,
        accumulator: Accumulator,
        buffer_bytes: int,
        max_block_ms: int,
        trouble: Callable[[], str],
    ) -> None:
        """``trouble`` is that of `NetworkClient`."""
        self._accumulator = accumulator
        self._buffer_bytes = buffer_bytes
        self._max_block_ms = max_block_ms
        self._trouble = trouble

    def appended(
        self, append: Callable[[Lease], Appended[D] | None], deadline_ms: int
    ) -> Steps[Appended[D]]:
        """Call ``append`` until there is memory for it. Raises TimedOutError, and what ``append``
        raises.
        """
        lease = Lease()
        try:
            try:
                while (appended := append(lease)) is None:
                    yield from self._wait(lease, deadline_ms)
            finally:
                self._release_unless_used(lease)
        except BaseException:  # while releasing it, too
            self._release_unless_used(lease)
            raise
        return appended

    def _release_unless_used(self, lease: Lease) -> None:
        if not lease.is_used:
            self._accumulator.memory.release(lease)

    def _wait(self, lease: Lease, deadline_ms: int) -> Steps[None]:
        is_worth_a_try = yield Wait(
            lambda: lease.is_granted or self._accumulator.is_closed, deadline_ms
        )
        if not is_worth_a_try:
            why = self._trouble() or ": records come faster than they are sent"
            raise TimedOutError(
                f"buffer.memory={self._buffer_bytes} was used up for "
                f"max.block.ms={self._max_block_ms}{why}"
            )
