"""Groups and transactional producers at work, each member and each producer on its thread.

Some producers write transactions into one topic. Every group reads its committed records; some
groups move them to topics of their own, in transactions with their offsets. Each tells what it did
in a history of its own.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

from logquake.chaos.history.reader import read_history
from logquake.chaos.history.rows import Row
from logquake.chaos.workloads.plan import Option, Plan
from logquake.chaos.workloads.running import run_workload

SOURCE = "ledger"
REPLICAS = 3
END_S = 180.0


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
    """Histories go into ``folder``."""

    def __init__(self, servers: str, size: Size, folder: Path) -> None:
        self.size = size
        self.failures: list[str] = []
        self._servers = servers
        self.folder = folder
        self._producers_stop, self._members_stop = threading.Event(), threading.Event()
        self._producers: list[threading.Thread] = []
        self._members: list[threading.Thread] = []

    def group_names(self) -> list[str]:
        return [f"group-{number}" for number in range(self.size.groups)]

    def targets(self) -> list[str]:
        """Where the moving groups move to."""
        return [f"moved-by-{name}" for name in self.group_names()[: self.size.movers]]

    def histories(self) -> list[Path]:
        return sorted(self.folder.iterdir())

    def rows(self) -> Iterator[Row]:
        """What all of them told so far."""
        return read_history(self.histories())

    def create_topics(self) -> None:
        admin = AdminClient({"bootstrap.servers": self._servers})
        topics = [
            NewTopic(name, self.size.partitions, REPLICAS) for name in (SOURCE, *self.targets())
        ]
        for created in admin.create_topics(topics).values():
            created.result(END_S)

    def start(self) -> None:
        for number in range(self.size.plain_producers):
            plan = self._plan("transactional", {"ordinal": number, "rate": self.size.rate})
            thread = self._spawn(f"producer-{number}", plan, self._producers_stop)
            self._producers.append(thread)
        for number, group in enumerate(self.group_names()):
            for member in range(self.size.members):
                name = f"{group}-{member}"
                plan = self._member(number, member, name)
                self._members.append(self._spawn(name, plan, self._members_stop))

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
        self._producers_stop.set()
        self._join(self._producers)

    def end_members(self) -> None:
        """They commit no more, and leave their groups."""
        self._members_stop.set()
        self._join(self._members)

    def _join(self, threads: list[threading.Thread]) -> None:
        for thread in threads:
            thread.join(END_S)
            if thread.is_alive():
                self.failures.append(f"{thread.name} does not end")

    def _spawn(self, name: str, plan: Plan, stopping: threading.Event) -> threading.Thread:
        def live() -> None:
            try:
                run_workload(plan, name, self.folder / f"{name}.jsonl", stopping)
            except BaseException:  # noqa: BLE001 (told with all that went wrong)
                self.failures.append(traceback.format_exc())

        thread = threading.Thread(target=live, name=name, daemon=True)
        thread.start()
        return thread
