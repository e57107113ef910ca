"""The evidence, with what follows from it: who led when, which log counts."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TypeVar, cast

import numpy as np

from logquake.chaos.checkers.chains import Story
from logquake.chaos.checkers.deleted import begins_of, since_deletions
from logquake.chaos.checkers.demands import Demands
from logquake.chaos.checkers.verdicts import Violation
from logquake.chaos.evidence.clients import Clients, Column, Records, pick
from logquake.chaos.evidence.decisions import Decision, Decisions, Registration, StateWrite
from logquake.chaos.evidence.evidence import Evidence
from logquake.chaos.evidence.gathering import gather, gather_columns
from logquake.chaos.evidence.stored import Mask, StoredLog
from logquake.chaos.history.outcomes import Outcome
from logquake.chaos.history.rows import Row
from logquake.wire.sentinels import NO_LEADER
from logquake.zk.znodes.topics import PartitionState

T = TypeVar("T")

# Journals and ZooKeeper date by whole milliseconds: it happened within this time from then on.
DATED_WITHIN_US = 1_000
END_US = 1 << 62  # later than all


@dataclass(frozen=True, eq=False)
class Case:
    evidence: Evidence
    demands: Demands = field(default_factory=Demands)
    _kept: dict[Callable[[Case], object], object] = field(default_factory=dict, init=False)

    @cached_property
    def clients(self) -> Clients:
        columns = self.evidence.columns
        told = gather(self.evidence.rows) if columns is None else gather_columns(columns)
        begins = self._begins(told)
        return since_deletions(told, begins, self._is_held) if begins.any() else told

    def _begins(self, told: Clients) -> Column:
        """Of each partition; END_US where the topic is gone for good."""
        decisions = self._decided[0]
        ends_us = {
            topic: at_ms * 1000 + DATED_WITHIN_US if topic in decisions.topics else END_US
            for topic, at_ms in decisions.deleted_ms.items()
        }
        return begins_of(told, ends_us)

    def _is_held(self, partition: str, offsets: Column, values: Column) -> Mask:
        held = np.zeros(len(offsets), np.bool_)
        for log in self.replicas(partition).values():
            held |= log.values_at(offsets) == values
        return held

    @cached_property
    def is_of_deleted(self) -> Mask:
        """Of each send: whether its topic was deleted after it was asked for."""
        sends = self.clients.sends
        begins = self._begins(self.clients)
        is_of_deleted: Mask = (
            sends.asked_us < begins[sends.partition] if begins.any() else sends.partition < 0
        )
        return is_of_deleted

    @cached_property
    def journals(self) -> list[Row]:
        return list(self.evidence.journals)

    @cached_property
    def _decided(self) -> tuple[Decisions, list[Decision]]:
        decisions = Decisions(self.evidence.applied)
        return decisions, decisions.catch_up()

    @property
    def decisions(self) -> list[Decision]:
        return self._decided[1]

    def is_mine(self, partition: str) -> bool:
        """Whether it belongs to the share of the partitions that is judged here."""
        return self.evidence.share is None or partition in self.evidence.share

    @cached_property
    def states(self) -> Mapping[str, list[StateWrite]]:
        """Every write of a state of these partitions, in order."""
        return {each: writes for each, writes in self.all_states.items() if self.is_mine(each)}

    @cached_property
    def all_states(self) -> Mapping[str, list[StateWrite]]:
        """Of those of other shares too."""
        found: dict[str, list[StateWrite]] = defaultdict(list)
        for decision in self.decisions:
            if isinstance(decision, StateWrite):
                found[str(decision.partition)].append(decision)
        return found

    @cached_property
    def _events(self) -> Mapping[str, list[Row]]:
        found: dict[str, list[Row]] = defaultdict(list)
        for row in self.journals:
            found[row.subject].append(row)
        return found

    def events_of(self, partition: str) -> list[Row]:
        """Of all brokers' journals, by time."""
        return self._events.get(partition, [])

    @cached_property
    def final(self) -> Mapping[str, tuple[tuple[int, ...], PartitionState]]:
        """Replicas and the last state of every partition that was not deleted."""
        return {
            str(partition): (history.replicas, history.state)
            for partition, history in self._decided[0].partitions.items()
            if history.state is not None and self.is_mine(str(partition))
        }

    @cached_property
    def registered(self) -> frozenset[int]:
        """The brokers that are registered at the end."""
        last = {d.broker: d.is_there for d in self.decisions if isinstance(d, Registration)}
        return frozenset(broker for broker, is_there in last.items() if is_there)

    def state_at(self, partition: str, at_us: int) -> PartitionState | None:
        """What ZooKeeper held at that moment."""
        writes = self.states.get(partition, [])
        at = bisect_right(writes, at_us, key=lambda write: write.at_ms * 1000)
        return writes[at - 1].after if at else None

    def setting(self, partition: str, name: str, default: str) -> str:
        """Of the partition's topic, as it is at the end."""
        topic = partition.rpartition("-")[0]
        defaults = self.evidence.defaults.get(name, default)
        return self._decided[0].configured.get(topic, {}).get(name, defaults)

    def is_compacted(self, partition: str) -> bool:
        return "compact" in self.setting(partition, "cleanup.policy", "delete")

    def replicas(self, partition: str) -> Mapping[int, StoredLog]:
        return self.evidence.logs.get(partition, {})

    def reference(self, partition: str) -> StoredLog | None:
        """The log that counts: the leader's, else the ISR's longest, else the longest of all."""
        replicas = self.replicas(partition)
        _, state = self.final.get(partition, ((), None))
        if state is not None and state.leader in replicas:
            return replicas[state.leader]
        members = [log for broker, log in replicas.items() if state and broker in state.isr]
        return max(members or replicas.values(), key=lambda log: log.end, default=None)

    def references(self) -> Iterator[tuple[str, StoredLog]]:
        for partition in sorted(self.evidence.logs):
            log = self.reference(partition)
            if log is not None:
                yield partition, log

    def members(self, partition: str) -> Iterator[tuple[int, StoredLog | None]]:
        """The ISR at the end, each with its log; None where there is none."""
        _, state = self.final.get(partition, ((), None))
        for broker in state.isr if state else self.replicas(partition):
            yield broker, self.replicas(partition).get(broker)

    @cached_property
    def high_watermarks(self) -> Mapping[str, int]:
        """Of every partition at the end: the smallest end of the ISR's logs, or what was seen."""
        seen: dict[str, int] = {}
        for look in self.clients.looks:
            if look.offset is not None:
                seen[look.subject] = look.offset
        ends = {
            partition: min((log.end for _, log in self.members(partition) if log), default=0)
            for partition in self.evidence.logs
        }
        return {**ends, **seen} if not self.evidence.is_quiet else {**seen, **ends}

    def producers(self, name: str, *values: object) -> Mask:
        """Of each process by its number: whether it was told one of these."""
        told = (self.clients.told.get(each, {}) for each in self.clients.processes.all)
        return np.array([each.get(name) in values for each in told], np.bool_)

    @cached_property
    def is_acked(self) -> Mask:
        """Of each send: whether it was acked at an offset of a log that there is."""
        sends = self.clients.sends
        acked: Mask = (sends.outcome == int(Outcome.ACKED)) & (sends.offset >= 0)
        return acked & ~self.is_of_deleted

    @cached_property
    def is_promised(self) -> Mask:
        """Of each send: whether it was acked with acks that promise that it stays."""
        promising = self.producers("acks", *self.demands.acks_that_promise)
        if not len(promising):
            return np.zeros(len(self.clients.sends), np.bool_)
        promised: Mask = self.is_acked & promising[self.clients.sends.process]
        return promised

    def by_partition(self, chosen: Mask) -> Iterator[tuple[str, Column]]:
        """The places of the chosen sends, partition by partition."""
        for partition in range(len(self.clients.partitions)):
            mine = self.clients.sends.within(partition)
            at = np.flatnonzero(chosen[mine])
            if len(at):
                yield self.clients.partitions[partition], at + mine.start

    @cached_property
    def runs(self) -> Mapping[str, Column]:
        """The places of the runs of records that were read, by partition, by time."""
        polls, names = self.clients.polls, self.clients.partitions
        partition = polls.partition
        order = np.lexsort((polls.at_us, partition))
        numbers, begins = np.unique(partition[order], return_index=True)
        bounds = pairwise([*begins.tolist(), len(order)])
        return {
            names[number]: order[begin:end]
            for number, (begin, end) in zip(numbers.tolist(), bounds, strict=True)
        }

    def reads(self) -> Iterator[tuple[str, Records]]:
        """Every record of a workload's that was read, partition by partition."""
        for partition, runs in self.runs.items():
            read = self.clients.polls.spread(runs)
            yield partition, read if (read.value >= 0).all() else read.where(read.value >= 0)

    def is_kept(self, partition: str, log: StoredLog, numbers: Column, offsets: Column) -> Mask:
        """Of each record: whether the log holds it there, or need not any longer.

        What lies before the log's start was deleted; of a compacted topic a record may go once
        a later one of its key is there, and a tombstone at any time.
        """
        kept: Mask = (log.values_at(offsets) == numbers) | (offsets < log.start)
        if not kept.all() and self.is_compacted(partition):
            kept |= self._may_be_compacted(partition, log, numbers, offsets)
        return kept

    def _may_be_compacted(
        self, partition: str, log: StoredLog, numbers: Column, offsets: Column
    ) -> Mask:
        """A later record of its key is there, or a tombstone of its key was, and went itself."""
        sends, index = self.clients.sends, self.clients.partitions.known(partition)
        mine, there = sends.within(index), sends.find(index, log.values)
        # By key; the last element is of what has none. Offsets rise: a key's last one is kept.
        last = np.full(len(self.clients.keys) + 1, -1, np.int64)
        last[sends.key[there[there >= 0]]] = log.offsets[there >= 0]
        is_dead = np.zeros(len(last), np.bool_)
        is_dead[sends.key[mine][sends.is_tombstone[mine]]] = True
        at = sends.find(index, numbers)
        keys = pick(sends.key, at)
        replaced = (last[keys] > offsets) | (is_dead[keys] & (at >= 0))
        missing: Mask = log.values_at(offsets) < 0
        return missing & replaced

    def once(self, of_case: Callable[[Case], T]) -> T:
        """What follows from the case, worked out when it is first asked for and kept."""
        if of_case not in self._kept:
            self._kept[of_case] = of_case(self)
        return cast("T", self._kept[of_case])

    @cached_property
    def story(self) -> Story:
        return Story(self.all_states, self.journals, self.clients.faults)

    def violation(
        self, invariant: str, text: str, partition: str | None = None, since_us: int = 0
    ) -> Violation:
        """With what happened to the partition since then."""
        chain = self.story.of(partition, since_us) if partition is not None else ()
        return Violation(invariant, text, chain, partition, int(since_us))


def has_leader(state: PartitionState) -> bool:
    return state.leader != NO_LEADER
