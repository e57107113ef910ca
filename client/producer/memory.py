"""buffer.memory: what all batches may weigh together, and who waits for it (BufferPool).

It is a number here, since Python allocates by itself. Whoever waited first is served first, and
takes what is returned until it has enough.
"""

from __future__ import annotations

from collections import deque

from logquake.client.errors import ProducerClosedError, RecordTooLargeError


class Lease:
    """Memory for one batch; ``missing_bytes`` of it are waited for."""

    __slots__ = ("missing_bytes", "size_bytes")

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.missing_bytes = size_bytes

    @property
    def is_granted(self) -> bool:
        return self.missing_bytes == 0


class BufferMemory:
    def __init__(self, total_bytes: int) -> None:
        self.total_bytes = total_bytes
        self.available_bytes = total_bytes
        self._waiting: deque[Lease] = deque()
        self._is_closed = False

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def reserve(self, lease: Lease) -> bool:
        """Whether it is granted; else it waits until it is, or is released. Raises
        RecordTooLargeError for more than there is in all, and ProducerClosedError.
        """
        if self._is_closed:
            raise ProducerClosedError("closed: no memory for more records")
        if lease.size_bytes > self.total_bytes:
            raise RecordTooLargeError(
                f"a batch of {lease.size_bytes} bytes is more than buffer.memory={self.total_bytes}"
            )
        if lease not in self._waiting:  # it may come again too early
            self._waiting.append(lease)
        self._hand_out()
        return lease.is_granted

    def release(self, lease: Lease) -> None:
        """It is not needed any more, or not waited for any more, or was never reserved."""
        if lease in self._waiting:
            self._waiting.remove(lease)
        self.available_bytes += lease.size_bytes - lease.missing_bytes
        lease.missing_bytes = lease.size_bytes
        self._hand_out()

    def close(self) -> None:
        """Who waits shall ask again, and be told."""
        self._is_closed = True

    def _hand_out(self) -> None:
        while self._waiting and self.available_bytes:
            first = self._waiting[0]
            granted = min(first.missing_bytes, self.available_bytes)
            self.available_bytes, first.missing_bytes = (  # at once, whoever interrupts it
                self.available_bytes - granted,
                first.missing_bytes - granted,
            )
            if first.is_granted:
                self._waiting.popleft()
