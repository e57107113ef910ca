"""What one event changed in the cluster, and what clients learned in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields

from logquake.chaos.evidence.decisions import Decision
from logquake.wire.topic_partition import TopicPartition
from tests.sim.history import Acked, Deleted, Looked, Polled, Refused, TopicAnswer
from tests.sim.machine import Machine
from tests.sim.programs.records import Left, Told
from tests.sim.replicas import Batch, Replica

Outcome = Acked | Polled | Refused | Deleted | TopicAnswer | Looked | Left | Told


@dataclass(frozen=True, slots=True)
class Cut:
    """A replica's log was truncated from ``before`` to ``after``."""

    replica: Replica
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A replica's high watermark moved, within one role and leader epoch if ``before`` is set."""

    replica: Replica
    role: str
    epoch: int
    before: int | None
    after: int


@dataclass(frozen=True, slots=True)
class Start:
    """A replica's log starts elsewhere, within one role and epoch if ``before`` is set."""

    replica: Replica
    role: str
    before: int | None
    after: int
    high_watermark: int


@dataclass(slots=True)
class Step:
    """What one event changed; ``acted`` are the machines that did anything."""

    acted: list[Machine] = field(default_factory=list)
    appended: list[tuple[Replica, Batch]] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)
    decisions: Sequence[Decision] = field(default_factory=list)
    committed: list[tuple[TopicPartition, Batch]] = field(default_factory=list)
    acked: list[Acked] = field(default_factory=list)
    polled: list[Polled] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    deleted: list[Deleted] = field(default_factory=list)
    topic_answers: list[TopicAnswer] = field(default_factory=list)
    looked: list[Looked] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)

    def take_in(self, outcomes: Iterable[Outcome]) -> None:
        """What clients learned."""
        for outcome in outcomes:
            match outcome:
                case Acked():
                    self.acked.append(outcome)
                case Polled():
                    self.polled.append(outcome)
                case Refused():
                    self.refused.append(outcome)
                case Deleted():
                    self.deleted.append(outcome)
                case TopicAnswer():
                    self.topic_answers.append(outcome)
                case Looked():
                    self.looked.append(outcome)
                case Left():
                    self.left.append(outcome)
                case Told():
                    self.told.append(outcome)

    @property
    def is_empty(self) -> bool:
        """Whoever acted, nothing of it is seen."""
        return not (
            self.appended
            or self.cuts
            or self.marks
            or self.starts
            or self.decisions
            or self.acked
            or self.polled
            or self.refused
            or self.deleted
            or self.topic_answers
            or self.looked
            or self.left
            or self.told
        )

    @property
    def changed(self) -> tuple[str, ...]:
        """The names of the fields that have anything."""
        return tuple(name for name in FIELDS if getattr(self, name))


FIELDS = tuple(each.name for each in fields(Step))
