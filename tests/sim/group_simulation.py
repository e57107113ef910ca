"""A run of programs, whose group is judged by what its coordinator tells its members, too.

It is killed, cut off and succeeded like any leader; members die, sleep and are cut off. At the end
the group has read and committed everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from tests.sim.group_history import GroupHistory
from tests.sim.group_members import GroupMember
from tests.sim.programs.member import Member
from tests.sim.programs.simulation import GROUP, ProgramsSimulation
from tests.sim.simulation import PARTITIONS, TOPIC


class GroupSimulation(ProgramsSimulation):
    def __init__(self, seed: int, *, keep_all: bool = False) -> None:
        self.history = GroupHistory()
        self._problems: list[str] = []
        super().__init__(seed, keep_all=keep_all)

    def _new_member(self, name: str, strategy: str, rng: Random) -> Member:
        return GroupMember(
            name,
            GROUP,
            TOPIC,
            strategy,
            self.fabric,
            self.world,
            rng,
            self.reading,
            self.history,
            self._note,
        )

    def _mishaps(self, member: Member) -> list[Callable[[], None]]:
        cuts = [member.be_cut_off] if isinstance(member, GroupMember) else []
        return [*super()._mishaps(member), *cuts]

    def _note(self, problems: Iterator[str]) -> None:
        self._problems += problems

    def _step(self) -> None:
        super()._step()
        self._require("groups", GroupHistory.__doc__, iter(self._problems))

    def _is_quiet(self) -> bool:
        return super()._is_quiet() and all(
            self.history.last_acked(place)[1] == self.world.end(place) for place in PARTITIONS
        )

    def _condition(self) -> str:
        acked = [f"{each}: {self.history.last_acked(each)} is acked" for each in PARTITIONS]
        return "\n".join([super()._condition(), *acked])
