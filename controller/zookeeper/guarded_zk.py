"""Reads and writes of partition states by a controller in office.

Every write is a multi that begins with a check of /controller_epoch (KAFKA-6082): a controller
that was replaced without noticing is stopped by ZooKeeper itself, and learns it by
ControllerMoved. Writes of many partitions go side by side, in multis of bounded size (Kafka sends
one for each): what a multi holds is written bit by bit if a part of it is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice

from logquake.controller.rules.partitions import LeaderAndIsr, LeaderRecovery, Leadership
from logquake.controller.zookeeper.set_aside import SetAside
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.multi_groups import multi_groups
from logquake.zk.operations import (
    Create,
    Data,
    Delete,
    Failed,
    GetData,
    SetData,
    Stat,
    Write,
    ZkError,
)
from logquake.zk.procedure import ZkFailure, attempt_all, in_slices
from logquake.zk.znodes.control import CONTROLLER_EPOCH_PATH, guarded
from logquake.zk.znodes.json_text import MalformedZnode
from logquake.zk.znodes.topics import PartitionState, partition_path, partitions_path

Answer = str | Stat | None
Outcome = Answer | Failed
UnitOutcome = tuple[Answer, ...] | Failed

_Found = Leadership | MalformedZnode | None
"""What was read of a partition's state; None where there is no znode."""

_ANSWERS = {ZkError.NO_NODE, ZkError.NODE_EXISTS, ZkError.BAD_VERSION, ZkError.NOT_EMPTY}
"""Refusals that say something about the node; any other failure ends the procedure."""


class ControllerMoved(Exception):  # noqa: N818 - it happened to us, it is no bug
    """Another controller has been elected: what this one meant to write was refused."""


@dataclass(slots=True)
class Written:
    """What became of writes of states. ``conflicts`` were changed by another meanwhile."""

    done: dict[TopicPartition, LeaderAndIsr] = field(default_factory=dict)
    conflicts: list[TopicPartition] = field(default_factory=list)
    missing: list[TopicPartition] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class GuardedZk:
    """ZooKeeper for the controller of ``epoch``; ``epoch_version`` is /controller_epoch's."""

    epoch: int
    epoch_version: int
    set_aside: SetAside

    async def write_each(self, writes: Sequence[Write]) -> list[Outcome]:
        """Each write by itself under the guard, as write_units; its answer, or its Failed."""
        outcomes = await self.write_units([(write,) for write in writes])
        return [each if isinstance(each, Failed) else each[0] for each in outcomes]

    async def write_units(self, units: Sequence[Sequence[Write]]) -> list[UnitOutcome]:
        """All writes of a unit under the guard or none: their answers, or what was refused.

        They are done in order, save that a unit which is refused, and its neighbours, may be done
        after those that follow. Raises ControllerMoved, and ZkFailure if ZooKeeper cannot be asked.
        """
        groups = list(multi_groups(units))
        outcomes: list[UnitOutcome] = []
        undone: list[int] = []
        for group, outcome in zip(groups, await self._write_groups(groups), strict=True):
            if not isinstance(outcome, Failed):
                outcomes += _by_unit(group, outcome)
                continue
            if len(group) > 1:
                undone += range(len(outcomes), len(outcomes) + len(group))
            outcomes += [outcome] * len(group)
        alone = await self._write_groups([[units[index]] for index in undone])
        for index, outcome in zip(undone, alone, strict=True):
            outcomes[index] = outcome
        return outcomes

    async def _write_groups(self, groups: Sequence[Sequence[Sequence[Write]]]) -> list[UnitOutcome]:
        """Each group of units in a multi: its answers, or the refusal that made it fail."""
        multis = [guarded(self.epoch_version, *chain.from_iterable(group)) for group in groups]
        return [
            _refusal(outcome) if isinstance(outcome, Failed) else outcome[1:]
            for outcome in await attempt_all(multis)  # the first answer of a multi is the check's
        ]

    async def delete_each(self, paths: Iterable[str]) -> None:
        """Nodes that are gone already are no failure."""
        await self.write_each([Delete(path) for path in paths])

    async def read_states(
        self, partitions: Sequence[TopicPartition], *, watch: bool = False
    ) -> dict[TopicPartition, Leadership]:
        """Without those that have no state yet, and those whose state is set aside.

        The next change of one that is set aside is reported; with ``watch``, of all.
        Raises ControllerMoved, and ZkFailure if ZooKeeper cannot be asked.
        """
        reads = [GetData(PartitionState.path(*partition), watch) for partition in partitions]
        outcomes = list(zip(partitions, await attempt_all(reads), strict=True))
        found: dict[TopicPartition, _Found] = {}
        async for some in in_slices(outcomes):
            found.update((partition, self._found(outcome)) for partition, outcome in some)
        malformed = [p for p, one in found.items() if isinstance(one, MalformedZnode)]
        if malformed:
            await self._require_office()  # else it may be a later controller that wrote it
        if malformed or not self.set_aside.is_empty:
            self._sort_out(found)
        states = {p: one for p, one in found.items() if isinstance(one, Leadership)}
        if malformed and not watch:
            states.update(await self.read_states(malformed, watch=True))
        return states

    def _found(self, outcome: Data | Failed) -> _Found:
        """Raises ZkFailure."""
        if isinstance(outcome, Failed):
            _refusal(outcome)
            return None
        try:
            return self._leadership(outcome)
        except MalformedZnode as malformed:
            return malformed

    def _sort_out(self, found: Mapping[TopicPartition, _Found]) -> None:
        for partition, one in found.items():
            path = PartitionState.path(*partition)
            if isinstance(one, Leadership):
                self.set_aside.take_up(path, str(partition))
            elif one is None:
                self.set_aside.forget(path)
            else:
                self.set_aside.put(path, str(partition), one)

    async def _require_office(self) -> None:
        """Raises ControllerMoved, ZkFailure."""
        await self._write_groups([()])

    def _leadership(self, read: Data) -> Leadership:
        """Raises MalformedZnode."""
        state = PartitionState.decode(read.data)
        if state.controller_epoch > self.epoch:
            raise MalformedZnode(
                f"it names controller epoch {state.controller_epoch}, which is yet to come"
            )
        return Leadership(
            LeaderAndIsr(
                state.leader,
                state.leader_epoch,
                state.isr,
                read.stat.version,
                LeaderRecovery(bool(state.leader_recovery_state)),
            ),
            state.controller_epoch,
        )

    async def write_states(self, states: Mapping[TopicPartition, LeaderAndIsr]) -> Written:
        """Each state over the version that it names; done ones have the new version."""
        partitions = sorted(states)
        outcomes = await self.write_each(
            [
                SetData(
                    PartitionState.path(*each),
                    self._encode(states[each]),
                    states[each].partition_epoch,
                )
                for each in partitions
            ]
        )
        written = Written()
        for partition, outcome in zip(partitions, outcomes, strict=True):
            if isinstance(outcome, Stat):
                written.done[partition] = replace(
                    states[partition], partition_epoch=outcome.version
                )
            elif isinstance(outcome, Failed) and outcome.error is ZkError.NO_NODE:
                written.missing.append(partition)
            else:
                written.conflicts.append(partition)
        return await self._claim_own(written, states)

    async def create_states(self, states: Mapping[TopicPartition, LeaderAndIsr]) -> Written:
        """First states of new partitions, with the znodes above them."""
        partitions = sorted(states)
        topics = dict.fromkeys(partition.topic for partition in partitions)
        await self.write_each([Create(partitions_path(topic)) for topic in topics])
        parents = [Create(partition_path(*each)) for each in partitions]
        first = [
            Create(PartitionState.path(*each), self._encode(states[each])) for each in partitions
        ]
        outcomes = (await self.write_each([*parents, *first]))[len(parents) :]
        written = Written()
        for partition, outcome in zip(partitions, outcomes, strict=True):
            if not isinstance(outcome, Failed):
                written.done[partition] = states[partition]
            elif outcome.error is ZkError.NO_NODE:
                written.missing.append(partition)
            else:
                written.conflicts.append(partition)
        return await self._claim_own(written, states)

    async def _claim_own(
        self, written: Written, wanted: Mapping[TopicPartition, LeaderAndIsr]
    ) -> Written:
        """A write whose answer was lost is sent again and then refused: it is done all the same."""
        found = await self.read_states(written.conflicts) if written.conflicts else {}
        for partition, leadership in found.items():
            state = leadership.state
            same = replace(wanted[partition], partition_epoch=state.partition_epoch) == state
            if same and leadership.controller_epoch == self.epoch:
                written.done[partition] = state
                written.conflicts.remove(partition)
        return written

    def _encode(self, state: LeaderAndIsr) -> bytes:
        return PartitionState(
            state.leader, state.leader_epoch, state.isr, self.epoch, state.recovery
        ).encode()


def _by_unit(
    units: Iterable[Sequence[Write]], answers: Iterable[Answer]
) -> Iterator[tuple[Answer, ...]]:
    remaining = iter(answers)
    for unit in units:
        yield tuple(islice(remaining, len(unit)))


def _refusal(failed: Failed) -> Failed:
    """The failure, if it is about the node. Raises ControllerMoved or ZkFailure otherwise."""
    if failed.error not in _ANSWERS:
        raise ZkFailure(failed)
    if failed.path == CONTROLLER_EPOCH_PATH:
        raise ControllerMoved("/controller_epoch was written by another controller")
    return failed
