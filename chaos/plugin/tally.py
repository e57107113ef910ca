"""What a session did with its clusters, told at its end; a worker of xdist hands its own on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True)
class Tally:
    started: int = 0
    resets_s: list[float] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)  # why each was

    def add(self, worker: Mapping[str, Any]) -> None:
        """What a worker's to_json() says."""
        self.started += worker["started"]
        self.resets_s += worker["resets_s"]
        self.given_up += worker["given_up"]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """Nothing of a session that started no cluster."""
        if not self.started:
            return
        resets = sorted(self.resets_s)
        median = f", the median {resets[len(resets) // 2]:.2f} s" if resets else ""
        longest = f", the longest {resets[-1]:.2f} s" if resets else ""
        yield f"{self.started} clusters started, {len(resets)} resets{median}{longest}"
        for why in self.given_up:
            yield f"given up: {why}"
