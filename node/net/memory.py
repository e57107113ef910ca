"""The bound on memory for requests that are being received or handled, over all connections.

Kafka's MemoryPool (queued.max.request.bytes, KIP-72), with two differences. A connection's first
256 KiB are its own and count nowhere, so that small requests pass whatever large ones hold. And a
larger request's memory is claimed when those are full, not when it is announced: a length that is
only announced claims nothing. All of it is claimed at once, so that no two wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable


class MemoryPool:
    """Claims that do not fit wait for others to give back, in order, large or small.

    ``reclaim`` is called before the first of them waits: let go of what lies idle.
    """

    def __init__(self, limit_bytes: int, reclaim: Callable[[], None]) -> None:
        """limit_bytes is at least the largest single claim."""
        self._free_bytes = limit_bytes
        self._reclaim = reclaim
        self._waiting: dict[MemoryClaim, int] = {}

    @property
    def free_bytes(self) -> int:
        return self._free_bytes

    @property
    def is_short(self) -> bool:
        """Somebody waits."""
        return bool(self._waiting)

    def take(self, claim: MemoryClaim, size: int) -> bool:
        if size > self._free_bytes and not self._waiting:
            self._reclaim()
        if size > self._free_bytes or self._waiting:
            self._waiting[claim] = size
            return False
        self._free_bytes -= size
        return True

    def withdraw(self, claim: MemoryClaim) -> None:
        del self._waiting[claim]
        self._grant()

    def give_back(self, size: int) -> None:
        self._free_bytes += size
        self._grant()

    def _grant(self) -> None:
        while self._waiting:
            claim, size = next(iter(self._waiting.items()))
            if size > self._free_bytes:
                return
            del self._waiting[claim]
            self._free_bytes -= size
            claim.on_granted(size)


class MemoryClaim:
    """One connection's part of the pool: nothing, or all that its largest request needs.

    ``resume`` is called when a claim that had to wait is granted.
    """

    __slots__ = ("_pool", "_resume", "_size", "is_waiting")

    def __init__(self, pool: MemoryPool, resume: Callable[[], None]) -> None:
        self._pool = pool
        self._resume = resume
        self._size = 0
        self.is_waiting = False

    @property
    def is_held(self) -> bool:
        return self._size > 0

    @property
    def pool_is_short(self) -> bool:
        return self._pool.is_short

    def take(self, size: int) -> bool:
        """Whether the memory is there, or was before; if not, wait for it.

        What is held and too little is given back first: nobody waits who holds anything.
        """
        if self._size < size:
            self.release()
            self.is_waiting = not self._pool.take(self, size)
            self._size = 0 if self.is_waiting else size
        return not self.is_waiting

    def release(self) -> None:
        """Give back what is held, or wait no longer."""
        size, self._size = self._size, 0
        if self.is_waiting:
            self.is_waiting = False
            self._pool.withdraw(self)
        elif size:
            self._pool.give_back(size)

    def end(self) -> None:
        """Release it for good, and let go of whom to resume."""
        self.release()
        self._resume = _nobody

    def on_granted(self, size: int) -> None:
        self.is_waiting = False
        self._size = size
        self._resume()


def _nobody() -> None:
    """Nothing waits for the claim any more."""
