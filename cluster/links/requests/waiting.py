"""Why a request, or an answer, may not go on yet: the rules that keep it, and until when."""

from __future__ import annotations

import math

UNTIL_HEALED = math.inf


class Wait:
    """Over when each of its rules lets go. Times are monotonic milliseconds."""

    __slots__ = ("_until_ms",)

    def __init__(self) -> None:
        self._until_ms: dict[int, float] = {}

    def add(self, rule_id: int, until_ms: float) -> None:
        self._until_ms[rule_id] = until_ms

    def drop(self, rule_id: int) -> None:
        """The rule holds no longer, or has found what it waited for."""
        self._until_ms.pop(rule_id, None)

    @property
    def rules(self) -> list[int]:
        return list(self._until_ms)

    @property
    def until_ms(self) -> float:
        return max(self._until_ms.values(), default=-math.inf)

    def is_over(self, now_ms: float) -> bool:
        return self.until_ms <= now_ms
