"""A producer that writes for as long as a test likes, and the proof that nothing acked is lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from logquake.chaos.checkers import Judgement, judge
from logquake.chaos.evidence.evidence import Evidence, gather_evidence
from logquake.chaos.history.reader import read_history
from logquake.chaos.history.rows import Kind
from logquake.chaos.runs.reading_back import read_back
from logquake.chaos.runs.tally import Tally
from logquake.chaos.scenarios.measures import measured
from logquake.chaos.workloads.plan import Option, Plan, WorkloadKind
from logquake.chaos.workloads.processes import WorkloadProcess
from logquake.cluster.running.cluster import RunningCluster
from tests.waiting import PATIENCE_S, wait_for

VALUE_BYTES = 400
PER_SECOND = 500
FIRST_ACKS = 100
READER = "reader"
MICROSECONDS = 1_000_000


@contextmanager
def steady_load(
    kafka: RunningCluster, topic: str, *, value_bytes: int = VALUE_BYTES, rate: int = PER_SECOND
) -> Iterator[SteadyLoad]:
    """Within the block a process sends; after it, its sends can be judged, more than once."""
    folder = kafka.layout.root / f"load-of-{topic}"
    folder.mkdir()
    options: dict[str, Option] = {"topic": topic, "size": value_bytes, "rate": rate}
    plan = Plan.of(WorkloadKind.IDEMPOTENT, kafka.bootstrap_servers, options)
    with WorkloadProcess(plan, "producer", folder) as producer:
        load = SteadyLoad(kafka, topic, folder)
        load.wait_for_acks(FIRST_ACKS)
        yield load
        producer.end(PATIENCE_S)


class SteadyLoad:
    def __init__(self, kafka: RunningCluster, topic: str, folder: Path) -> None:
        self._kafka = kafka
        self._topic = topic
        self._folder = folder
        self._tally = Tally(self.histories)

    def histories(self) -> list[Path]:
        return sorted(self._folder.glob("*.jsonl"))

    def acked(self) -> int:
        self._tally.poll()
        return self._tally.counts[Kind.ACKED]

    def wait_for_acks(self, more: int) -> None:
        """Until so many more sends were acked."""
        goal = self.acked() + more
        wait_for(f"{goal} sends acked", self.acked, lambda acked: acked >= goal)

    def check(self) -> None:
        """Read all of it back; judged by what clients saw, since files may be lost or elsewhere."""
        self._read_back()
        self._assert_holds(judge(Evidence(rows=read_history(self.histories()))))

    def check_everything(self) -> None:
        """Files and ZooKeeper's writes as well, of a cluster that is whole."""
        self._read_back()
        self._assert_holds(judge(gather_evidence(self.histories(), self._kafka.layout.root)))

    def doubled(self) -> int:
        """Sends that were read back more than once: librdkafka sends what it has no ack for under a
        new epoch, as soon as one partition had a gap, and no broker can know (KIP-98).
        """
        return measured(read_history(self.histories()), READER).doubled

    def longest_silence_s(self) -> float:
        """Between two acks of one partition."""
        last_us: dict[str, int] = {}
        longest_us = 0
        for row in read_history(self.histories()):
            if row.what == Kind.ACKED:
                before_us = last_us.get(row.subject, row.at_us)
                longest_us = max(longest_us, row.at_us - before_us)
                last_us[row.subject] = row.at_us
        return longest_us / MICROSECONDS

    def _read_back(self) -> None:
        reader = f"{READER}-{len(self.histories())}"
        assert read_back(self._kafka, self._topic, self._folder, reader) is None

    def _assert_holds(self, judgement: Judgement) -> None:
        rulings = {ruling.invariant: ruling for ruling in judgement.rulings}
        assert not judgement.violations, judgement
        assert not rulings["readable"].why, judgement  # it was judged
