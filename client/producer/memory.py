"""buffer.memory: a limit for all batches' memory, and the callers that wait for it (BufferPool).

It is only counted here, since Python allocates by itself. Waiting callers are served in order: the
first one takes released memory until it has enough.
"""

from __future__ import annotations

from collections import deque

from logquake.client.errors import ProducerClosedError, RecordTooLargeError


class Lease:
    """Memory for one batch, once requested; ``missing_bytes`` of it are not granted yet."""

    __slots__ = ("is_used", "missing_bytes", "size_bytes")

    def __init__(self) -> None:
        self.size_bytes = 0
        self.missing_bytes = 0
        self.is_used = False  # by a batch, which releases it in the end

    @property
    def is_asked_for(self) -> bool:
        return self.size_bytes > 0

    @property
    def is_granted(self) -> bool:
        return self.is_asked_for and self.missing_bytes == 0


class BufferMemory:
    """The caller releases its lease however its call ends: it has the lease before any memory.

    An exception, such as a signal handler's, may come between any two steps. The free memory is
    therefore derived from the leases, and counted anew after one.
    """

    def __init__(self, total_bytes: int) -> None:
        self.total_bytes = total_bytes
        self.available_bytes = total_bytes
        self._leases: dict[Lease, None] = {}  # in the order of the requests
        self._waiting: deque[Lease] = deque()
        self._is_closed = False

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def has_at_once(self, size_bytes: int) -> bool:
        """Whether there is enough without waiting."""
        return not self._waiting and size_bytes <= self.available_bytes

    def reserve(self, lease: Lease, size_bytes: int) -> None:
        """Request memory, which may not be granted yet. Raises RecordTooLargeError for more than
        buffer.memory, and ProducerClosedError.
        """
        if self._is_closed:
            raise ProducerClosedError("closed: no memory for more records")
        if size_bytes > self.total_bytes:
            raise RecordTooLargeError(
                f"a batch of {size_bytes} bytes is more than buffer.memory={self.total_bytes}"
            )
        try:
            lease.missing_bytes = lease.size_bytes = size_bytes
            self._leases[lease] = None
            self._waiting.append(lease)
            self._hand_out()
        except BaseException:
            self._count_anew_without(lease)
            raise

    def release(self, lease: Lease) -> None:
        """Release memory, or stop waiting for it."""
        try:
            self._take_back(lease)
        except BaseException:
            self._count_anew_without(lease)
            raise

    def close(self) -> None:
        """Wake waiting callers, which try again and get the error."""
        self._is_closed = True

    def _take_back(self, lease: Lease) -> None:
        if not lease.is_granted and lease in self._waiting:
            self._waiting.remove(lease)
        if lease in self._leases:
            del self._leases[lease]
            self.available_bytes += lease.size_bytes - lease.missing_bytes
        lease.size_bytes = lease.missing_bytes = 0
        self._hand_out()

    def _count_anew_without(self, lease: Lease) -> None:
        self._leases.pop(lease, None)
        lease.size_bytes = lease.missing_bytes = 0
        held = sum(each.size_bytes - each.missing_bytes for each in self._leases)
        self.available_bytes = self.total_bytes - held
        self._waiting = deque(each for each in self._leases if each.missing_bytes)
        self._hand_out()

    def _hand_out(self) -> None:
        while self._waiting and self.available_bytes:
            first = self._waiting[0]
            granted = min(first.missing_bytes, self.available_bytes)
            self.available_bytes, first.missing_bytes = (  # in one step, without interrupts
                self.available_bytes - granted,
                first.missing_bytes - granted,
            )
            if first.is_granted:
                self._waiting.popleft()
