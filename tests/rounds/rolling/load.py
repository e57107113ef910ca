"""Groups and transactional producers at work, each member and each producer a process.

Some producers write transactions into one topic. Every group reads its committed records; some
groups move them to topics of their own, in transactions with their offsets. Each tells what it did
in a history of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

from logquake.chaos.history.reader import read_history
from logquake.chaos.history.rows import Row
from logquake.chaos.workloads.plan import Option, Plan
from logquake.chaos.workloads.processes import WorkloadProcess, end_all

SOURCE = "ledger"
REPLICAS = 3
MADE_WITHIN_S = 180.0


@dataclass(frozen=True, slots=True)
class Size:
    groups: int = 10
    movers: int = 2  # of the groups; each of their members is a transactional producer too
    members: int = 5  # a group
    producers: int = 20  # transactional ones, the movers with them
    partitions: int = 6  # a topic
    rate: float = 6.0  # records a second of a producer

    @property
    def plain_producers(self) -> int:
        return self.producers - self.movers * self.members


FULL = Size()


class Load:
    """Histories go into ``folder``. None of its processes outlives the block."""

    def __init__(self, servers: str, size: Size, folder: Path) -> None:
        self.size = size
        self.failures: list[str] = []
        self._servers = servers
        self.folder = folder
        self._producers: list[WorkloadProcess] = []
        self._members: list[WorkloadProcess] = []

    def __enter__(self) -> Load:
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self._producers, *self._members):
            if process.is_running():
                process.kill()

    def group_names(self) -> list[str]:
        return [f"group-{number}" for number in range(self.size.groups)]

    def targets(self) -> list[str]:
        """Where the moving groups move to."""
        return [f"moved-by-{name}" for name in self.group_names()[: self.size.movers]]

    def histories(self) -> list[Path]:
        return sorted(self.folder.glob("*.jsonl"))

    def rows(self) -> Iterator[Row]:
        """What all of them told so far."""
        return read_history(self.histories())

    def create_topics(self) -> None:
        admin = AdminClient({"bootstrap.servers": self._servers})
        topics = [
            NewTopic(name, self.size.partitions, REPLICAS) for name in (SOURCE, *self.targets())
        ]
        for created in admin.create_topics(topics).values():
            created.result(MADE_WITHIN_S)

    def start(self) -> None:
        for number in range(self.size.plain_producers):
            plan = self._plan("transactional", {"ordinal": number, "rate": self.size.rate})
            self._producers.append(WorkloadProcess(plan, f"producer-{number}", self.folder))
        for number, group in enumerate(self.group_names()):
            for member in range(self.size.members):
                name = f"{group}-{member}"
                plan = self._member(number, member, name)
                self._members.append(WorkloadProcess(plan, name, self.folder))

    def _member(self, number: int, member: int, name: str) -> Plan:
        group: dict[str, Option] = {"group": self.group_names()[number]}
        if number < self.size.movers:
            ordinal = self.size.producers + number * self.size.members + member
            target = self.targets()[number]
            return self._plan("mover", {**group, "target": target, "ordinal": ordinal})
        static = name if number % 4 == 3 else ""
        strategy = "cooperative-sticky" if number % 4 == 2 else "range"
        return self._plan("member", {**group, "strategy": strategy, "instance_id": static})

    def _plan(self, kind: str, options: dict[str, Option]) -> Plan:
        return Plan.of(kind, self._servers, {"topic": SOURCE, **options})

    def end_producers(self) -> None:
        self.failures += end_all(self._producers)

    def end_members(self) -> None:
        """They commit no more, and leave their groups."""
        self.failures += end_all(self._members)
