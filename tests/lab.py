"""A cluster, its workloads and what they told, to be judged."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from logquake.chaos.checkers import Demands, Judgement, judge
from logquake.chaos.evidence.evidence import gather_evidence
from logquake.chaos.evidence.gathering import gather
from logquake.chaos.history.reader import read_history
from logquake.chaos.history.rows import Kind
from logquake.chaos.history.writer import HistoryWriter
from logquake.chaos.workloads.plan import Plan
from logquake.chaos.workloads.processes import WorkloadProcess
from logquake.cluster.api import Cluster
from tests.waiting import PATIENCE_S, wait_for

FEW = Demands(acked_under_fault=10)
# Followers that are paused stay in the ISR, and in ZooKeeper.
PATIENT = {"replica.lag.time.max.ms": 60_000, "zookeeper.session.timeout.ms": 30_000}


class Lab:
    """Its workloads live no longer than ``stack``."""

    def __init__(self, kafka: Cluster, folder: Path, stack: ExitStack) -> None:
        self.kafka = kafka
        self._folder = folder
        self._stack = stack
        self._ordinal = 0
        folder.mkdir()
        self.harness = stack.enter_context(HistoryWriter(folder / "harness.jsonl", "harness"))

    def start(self, kind: str, **options: Any) -> WorkloadProcess:
        self._ordinal += 1
        plan = Plan.of(
            kind, self.kafka.bootstrap_servers, {"ordinal": self._ordinal, "rate": 100, **options}
        )
        process = WorkloadProcess(plan, f"{kind}-{self._ordinal}", self._folder)
        return self._stack.enter_context(process)

    def read_all(self, topic: str, isolation: str = "read_committed") -> None:
        """From the beginning to the last record that is visible, once all others have ended."""
        clients = gather(read_history(self._folder.glob("*.jsonl")))
        sends = clients.sends
        fates = [each.outcome == "committed" for each in clients.transactions]
        is_visible = np.array([*fates, True])[sends.transaction]  # -1, the last: in none
        ends: dict[str, int] = {}
        for partition, offset in zip(
            sends.partition[is_visible].tolist(), sends.offset[is_visible].tolist(), strict=True
        ):
            name = clients.partitions[partition]
            if name.startswith(f"{topic}-"):
                ends[name] = max(ends.get(name, 0), offset + 1)
        reader = self.start("reader", topic=topic, isolation=isolation)

        def missing() -> list[str]:
            read: dict[str, int] = {}
            for row in reader.rows():
                if row.what == Kind.POLLED:
                    read[row.subject] = (row.offset or 0) + len(row.values or ())
            return [name for name, end in ends.items() if read.get(name, 0) < end]

        wait_for("the reader's end", missing, lambda left: not left, timeout_s=PATIENCE_S)
        reader.end()

    def judge(self, demands: Demands = FEW) -> Judgement:
        histories = sorted(self._folder.glob("*.jsonl"))
        return judge(gather_evidence(histories, self.kafka.layout.root), demands)


def acked(process: WorkloadProcess) -> int:
    return sum(row.what == Kind.ACKED for row in process.rows())


def wait_for_acks(process: WorkloadProcess, more: int) -> None:
    wanted = acked(process) + more
    wait_for(
        f"acks of {process.name}",
        lambda: acked(process),
        lambda count: count >= wanted,
        timeout_s=PATIENCE_S,
    )
