"""One workload from its first row to its last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event
from typing import Protocol

from logquake.chaos.history.rows import Kind
from logquake.chaos.history.writer import HistoryWriter
from logquake.chaos.workloads.impatient import ImpatientProducer
from logquake.chaos.workloads.life import Life
from logquake.chaos.workloads.members import CommittingMember, Mover
from logquake.chaos.workloads.own.members import own_member
from logquake.chaos.workloads.own.moving import OwnMover
from logquake.chaos.workloads.own.producers import own_steady_producer
from logquake.chaos.workloads.own.reading import OwnReader
from logquake.chaos.workloads.own.transactions import own_transactor
from logquake.chaos.workloads.plan import ClientLibrary, Plan, WorkloadKind
from logquake.chaos.workloads.producers import SteadyProducer
from logquake.chaos.workloads.reading import WholeTopicReader
from logquake.chaos.workloads.standing import Stuck, run_watched
from logquake.chaos.workloads.transactions import ProducerOver, Transactor


class Workload(Protocol):
    def run(self, stopping: Event) -> None:
        """Until it is stopped or has done what it was to; then every outcome is written."""


WORKLOADS: Mapping[WorkloadKind, Callable[[Life], Workload]] = {
    WorkloadKind.PLAIN: SteadyProducer,
    WorkloadKind.IDEMPOTENT: SteadyProducer,
    WorkloadKind.COMPACTED: SteadyProducer,
    WorkloadKind.TRANSACTIONAL: Transactor,
    WorkloadKind.MOVER: Mover,
    WorkloadKind.MEMBER: CommittingMember,
    WorkloadKind.READER: WholeTopicReader,
    WorkloadKind.IMPATIENT: ImpatientProducer,
}


OVER_OURS: Mapping[WorkloadKind, Callable[[Life], Workload]] = {
    **WORKLOADS,
    WorkloadKind.PLAIN: own_steady_producer,
    WorkloadKind.IDEMPOTENT: own_steady_producer,
    WorkloadKind.COMPACTED: own_steady_producer,
    WorkloadKind.TRANSACTIONAL: own_transactor,
    WorkloadKind.MOVER: OwnMover,
    WorkloadKind.MEMBER: own_member,
    WorkloadKind.READER: OwnReader,
}


def run_workload(plan: Plan, process: str, history: Path, stopping: Event) -> None:
    """Raises FileExistsError for a history that is another's, and whatever ends the workload."""
    with HistoryWriter(history, process) as writer:
        life = Life(plan, process, writer)
        writer.record(Kind.BEGAN, process, after=plan.told(process))
        made = OVER_OURS if plan.client is ClientLibrary.OWN else WORKLOADS
        why = None
        try:
            run_watched(lambda: made[plan.kind](life).run(stopping))
        except (ProducerOver, Stuck) as over:
            why = str(over)
        writer.record(Kind.ENDED, process, why=why)
