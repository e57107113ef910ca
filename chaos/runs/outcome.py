"""What went other than planned in a run, in words; invariants are judged apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

GIVEN_UP = "the run was ended before its time"


@dataclass(slots=True)
class Outcome:
    """The fields' names are those of outcome.json."""

    not_played: str | None = None  # a step that was not done, or whose effect did not come
    not_healed: list[str] = field(default_factory=list)
    not_whole: list[str] = field(default_factory=list)
    # Programs that died or hung, readings that came to no end: the replicas are whole all the same.
    not_ended: list[str] = field(default_factory=list)
    given_up: bool = False

    @property
    def is_healed(self) -> bool:
        return not self.not_healed

    @property
    def is_quiet(self) -> bool:
        """Whether all replicas had caught up when the run ended."""
        return not (self.not_healed or self.not_whole)

    def troubles(self) -> list[str]:
        return [
            *([self.not_played] if self.not_played else []),
            *self.not_healed,
            *self.not_whole,
            *self.not_ended,
            *([GIVEN_UP] if self.given_up else []),
        ]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Outcome:
        return cls(**document)
