"""What came out of a load: the invariants' verdicts, and that every group took all there was."""

from __future__ import annotations

from collections.abc import Iterator

from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka.admin import AdminClient

from logquake.chaos.checkers import judge
from logquake.chaos.evidence.evidence import gather_evidence
from logquake.chaos.history.rows import Kind
from logquake.chaos.runs.reading_back import read_back
from logquake.chaos.workloads.readback import read_committed
from logquake.cluster.running.cluster import RunningCluster
from tests.rounds.rolling.load import SOURCE, Load

READ_S = 120.0

Place = tuple[int, int]  # a partition of the source, an offset


class Judgement:
    """Of a load whose producers have ended, on a cluster that is whole."""

    def __init__(self, kafka: RunningCluster, load: Load) -> None:
        self._kafka = kafka
        self._load = load
        read = read_committed(kafka.bootstrap_servers, SOURCE, timeout_s=READ_S)
        self._source: set[Place] = {(record.partition, record.offset) for record in read}

    def missing(self) -> int:
        """How many partitions of the source some group has not committed to their ends."""
        ends: dict[int, int] = {}
        for partition, offset in self._source:
            ends[partition] = max(ends.get(partition, 0), offset + 1)
        return sum(
            committed.get(partition, 0) < end
            for committed in self._committed()
            for partition, end in ends.items()
        )

    def faults(self) -> Iterator[str]:
        """Once the members have ended too. None if everything is as it has to be."""
        yield from self._load.failures
        for topic in (SOURCE, *self._load.targets()):
            complaint = read_back(self._kafka, topic, self._load.folder)
            if complaint is not None:
                yield complaint
        for row in self._load.rows():
            if row.what == Kind.ENDED and row.why:
                print(f"{row.process} ended early: {row.why}", flush=True)
        judgement = judge(gather_evidence(self._load.histories(), self._kafka.layout.root))
        print(judgement, flush=True)
        yield from map(str, judgement.violations)
        yield from self._not_taken()

    def _not_taken(self) -> Iterator[str]:
        """Each group took each committed record of the source, and nothing else."""
        for group in self._load.group_names():
            taken = set(self._taken(group))
            if taken != self._source:
                yield (
                    f"{group} never took {sorted(self._source - taken)[:5]}, "
                    f"and took {sorted(taken - self._source)[:5]}"
                )

    def _taken(self, group: str) -> Iterator[Place]:
        for row in self._load.rows():
            if row.what == Kind.POLLED and row.group == group:
                partition, first = int(row.subject.rpartition("-")[2]), row.offset or 0
                for offset in range(first, first + len(row.values or ())):
                    yield partition, offset

    def _committed(self) -> Iterator[dict[int, int]]:
        """Of each group: the offset of each partition."""
        admin = AdminClient({"bootstrap.servers": self._kafka.bootstrap_servers})
        for group in self._load.group_names():
            asked = [ConsumerGroupTopicPartitions(group)]
            answer = admin.list_consumer_group_offsets(asked, require_stable=True)[group]
            found = answer.result(READ_S).topic_partitions
            yield {each.partition: each.offset for each in found}
