"""No more than so many bytes a second, for all who share it (Kafka's Throttler)."""

from __future__ import annotations


class Throttle:
    """Times are monotonic, in ms. bytes_per_second may be math.inf."""

    def __init__(self, bytes_per_second: float) -> None:
        self.set_rate(bytes_per_second)
        self._free_at_ms = 0.0

    def set_rate(self, bytes_per_second: float) -> None:
        """From the next pause on."""
        self._bytes_per_ms = bytes_per_second / 1000

    def pause_ms(self, size: int, now_ms: float) -> float:
        """So many bytes were read or written; how long to wait before the next."""
        self._free_at_ms = max(self._free_at_ms, now_ms) + size / self._bytes_per_ms
        return max(0.0, self._free_at_ms - now_ms)
