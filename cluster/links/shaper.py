"""One direction of a connection as a pure core: bytes that arrive, what may leave, and when.

Bytes leave in the order in which they arrived, and the connection's end behind them. What may not
leave yet is held, up to a bound: then no more is taken in, and the sender's own buffers fill, as
before a network with a window of that size.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum, auto
from random import Random

from logquake.cluster.links.effects import CLEAR, Conditions

# With a delay this bounds the throughput: 1 MiB and 100 ms are 10 MiB/s.
MAX_HELD_BYTES = 1024 * 1024
# A rate is kept over such a time: what was not used of it earlier is not made up for.
RATE_WINDOW_MS = 50


class Ending(Enum):
    """How one end ended its connection."""

    CLOSED = auto()  # nothing more comes from there (FIN)
    RESET = auto()  # nor goes there (RST)


@dataclass(slots=True)
class _Piece:
    due_ms: float
    content: memoryview | Ending


class Shaper:
    """Times are milliseconds of whatever clock the owner uses; they never go back."""

    def __init__(self, random: Random, max_held_bytes: int = MAX_HELD_BYTES) -> None:
        self._random = random
        self._max_held_bytes = max_held_bytes
        self._conditions = CLEAR
        self._pieces: deque[_Piece] = deque()
        self._held_bytes = 0
        self._last_due_ms = 0.0
        self._allowance = 0.0  # bytes that the rate allows now
        self._allowance_ms = 0.0
        self._until_drop: dict[int, int] = {}

    @property
    def passes_all(self) -> bool:
        """Whether bytes may go straight through."""
        return self._conditions is CLEAR and not self._pieces

    @property
    def room_bytes(self) -> int:
        """How much may be taken in; none while the direction is cut."""
        return 0 if self._conditions.is_cut else max(self._max_held_bytes - self._held_bytes, 0)

    def change(self, conditions: Conditions, now_ms: float) -> None:
        """Other conditions hold: also for what is held, whose delay may be over."""
        self._refill(now_ms)
        if conditions.bytes_per_s is not None and self._conditions.bytes_per_s is None:
            self._allowance = _most(conditions.bytes_per_s)
            self._allowance_ms = now_ms
        self._conditions = CLEAR if conditions == CLEAR else conditions
        self._until_drop = {
            fault_id: self._until_drop.get(fault_id, size_bytes)
            for fault_id, size_bytes in conditions.drop_after
        }
        if not conditions.delay_ms and not conditions.jitter_ms:
            self._last_due_ms = now_ms
            for piece in self._pieces:
                piece.due_ms = min(piece.due_ms, now_ms)

    def arrive(self, data: bytes | Ending, now_ms: float) -> None:
        """Bytes, or the end of them; a RESET may follow a CLOSED."""
        conditions = self._conditions
        delay_ms = conditions.delay_ms
        if conditions.jitter_ms:
            delay_ms += conditions.jitter_ms * self._random.uniform(-1, 1)
        due_ms = now_ms + max(delay_ms, 0)
        self._last_due_ms = max(self._last_due_ms, due_ms)  # nothing overtakes what came before
        content = data if isinstance(data, Ending) else memoryview(data)
        self._pieces.append(_Piece(self._last_due_ms, content))
        if isinstance(content, memoryview):
            self._held_bytes += len(content)

    def head(self, now_ms: float) -> memoryview | Ending | None:
        """What may leave now, of the first that arrived; None if nothing may."""
        conditions = self._conditions
        if 0 in self._until_drop.values() and not conditions.is_cut:
            return Ending.RESET
        if conditions.is_cut or not self._pieces or self._pieces[0].due_ms > now_ms:
            return None
        content = self._pieces[0].content
        if isinstance(content, Ending):
            return None if conditions.keeps_ends else content
        self._refill(now_ms)
        if conditions.bytes_per_s is not None:
            if self._allowance < self._quantum(content, conditions.bytes_per_s):
                return None
            content = content[: int(self._allowance)]
        return content[: min(self._until_drop.values(), default=len(content))]

    def leave(self, size_bytes: int) -> None:
        """So much of what head() gave has left; of an ending 0."""
        piece = self._pieces[0]
        if isinstance(piece.content, Ending):
            self._pieces.popleft()
            return
        piece.content = piece.content[size_bytes:]
        if not piece.content:
            self._pieces.popleft()
        self._held_bytes -= size_bytes
        self._allowance -= size_bytes
        for fault_id in self._until_drop:
            self._until_drop[fault_id] -= size_bytes

    def wait_ms(self, now_ms: float) -> float | None:
        """How long until head() gives something; None: not until something changes or arrives."""
        conditions = self._conditions
        if conditions.is_cut or not self._pieces:
            return None
        piece = self._pieces[0]
        if isinstance(piece.content, Ending):
            return None if conditions.keeps_ends else max(piece.due_ms - now_ms, 0)
        wait_ms = piece.due_ms - now_ms
        if conditions.bytes_per_s is not None:
            self._refill(now_ms)
            missing = self._quantum(piece.content, conditions.bytes_per_s) - self._allowance
            wait_ms = max(wait_ms, missing * 1_000 / conditions.bytes_per_s)
        return max(wait_ms, 0)

    def discard(self) -> None:
        """Nobody is left to take what is held."""
        self._pieces.clear()
        self._held_bytes = 0

    def _refill(self, now_ms: float) -> None:
        rate = self._conditions.bytes_per_s
        if rate is not None:
            earned = rate * (now_ms - self._allowance_ms) / 1_000
            self._allowance = min(self._allowance + earned, _most(rate))
            self._allowance_ms = now_ms

    def _quantum(self, content: memoryview, bytes_per_s: float) -> float:
        """What a rate lets go at once: a byte at a time would cost more than it is worth."""
        return min(len(content), _most(bytes_per_s))


def _most(bytes_per_s: float) -> float:
    return max(float(int(bytes_per_s * RATE_WINDOW_MS / 1_000)), 1.0)
