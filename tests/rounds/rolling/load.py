"""Groups and transactional producers at work, each member and each producer on its thread.

Some producers write transactions into one topic. Every group reads its committed records; some
groups move them to topics of their own, in transactions with their offsets.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from confluent_kafka.admin import AdminClient, NewTopic

from logquake.chaos.group_commits import Diary
from logquake.chaos.transactions import Ledger
from tests.rounds.rolling.members import Membership, Mover, PlainMember
from tests.rounds.rolling.transactors import Transactor

SOURCE = "ledger"
REPLICAS = 3
END_S = 180.0
Life = Callable[[threading.Event], None]


@dataclass(frozen=True, slots=True)
class Size:
    groups: int = 10
    movers: int = 2  # of the groups; each of their members is a transactional producer too
    members: int = 5  # a group
    producers: int = 20  # transactional ones, the movers with them
    partitions: int = 6  # a topic
    pause_s: float = 0.5  # between two transactions of a producer

    @property
    def plain_producers(self) -> int:
        return self.producers - self.movers * self.members


FULL = Size()


class Load:
    def __init__(self, servers: str, size: Size) -> None:
        self.size = size
        self.ledger = Ledger()
        self.diaries: list[Diary] = []
        self.failures: list[str] = []
        self._servers = servers
        self._producers_stop, self._members_stop = threading.Event(), threading.Event()
        self._producers: list[threading.Thread] = []
        self._members: list[threading.Thread] = []

    def group_names(self) -> list[str]:
        return [f"group-{number}" for number in range(self.size.groups)]

    def targets(self) -> list[str]:
        """Where the moving groups move to."""
        return [f"moved-by-{name}" for name in self.group_names()[: self.size.movers]]

    def create_topics(self) -> None:
        admin = AdminClient({"bootstrap.servers": self._servers})
        topics = [
            NewTopic(name, self.size.partitions, REPLICAS) for name in (SOURCE, *self.targets())
        ]
        for created in admin.create_topics(topics).values():
            created.result(END_S)

    def start(self) -> None:
        for number in range(self.size.plain_producers):
            transactor = Transactor(
                self._servers,
                f"producer-{number}",
                self.ledger,
                SOURCE,
                self.size.partitions,
                self.size.pause_s,
            )
            self._producers.append(self._spawn(transactor.run, self._producers_stop))
        for number, group in enumerate(self.group_names()):
            for member in range(self.size.members):
                life = self._member(number, group, member)
                self._members.append(self._spawn(life, self._members_stop))

    def _member(self, number: int, group: str, member: int) -> Life:
        diary = Diary(f"{group}-{member}")
        self.diaries.append(diary)
        if number < self.size.movers:
            moving = Membership(group, SOURCE)
            return Mover(self._servers, moving, diary, self.targets()[number]).run
        static = diary.member if number % 4 == 3 else None
        strategy = "cooperative-sticky" if number % 4 == 2 else "range"
        membership = Membership(group, SOURCE, strategy, static)
        return PlainMember(self._servers, membership, diary).run

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

    def _spawn(self, life: Life, stopping: threading.Event) -> threading.Thread:
        def live() -> None:
            try:
                life(stopping)
            except BaseException:  # noqa: BLE001 (told with all that went wrong)
                self.failures.append(traceback.format_exc())

        thread = threading.Thread(target=live, daemon=True)
        thread.start()
        return thread
