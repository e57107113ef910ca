"""The demo's steps: a cluster, a million lines, a killed leader, and three independent judges."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from logquake.chaos.checkers.sharing import judge_file
from logquake.chaos.checkers.verdicts import Judgement, Verdict
from logquake.chaos.demo.corpus import Corpus
from logquake.chaos.demo.counted_by_spark import SparkCount
from logquake.chaos.demo.reading import ReadBack, read_back
from logquake.chaos.demo.screen import Line, Screen
from logquake.chaos.demo.sending import LineProducer
from logquake.chaos.history.rows import Kind
from logquake.chaos.history.writer import HistoryWriter
from logquake.chaos.observer import observing
from logquake.chaos.runs.run import HARNESS, end_at_once
from logquake.cluster.api import Cluster
from logquake.cluster.errors import ClusterError
from logquake.cluster.running.fault import Fault

TOPIC = "lines"
BROKERS = 3
PARTITIONS = 6
REPLICAS = 3
MIN_ISR = 2
_STEP_TIMEOUT_S = 60.0


@dataclass(slots=True)
class Opinions:
    """What each judge found. ``history`` and ``cluster`` are what the invariants were judged by."""

    sent: int
    acked: int
    unfinished: int
    failover_s: float
    read: ReadBack
    judgement: Judgement
    spark_differences: list[str]
    history: Path
    cluster: Path

    def lines(self) -> list[Line]:
        read, spark = self.read, self.spark_differences
        broken = self._named(Verdict.BROKEN)
        held = self._named(Verdict.HOLDS)
        return [
            Line("sent", f"{self.sent:,}"),
            Line("acked", f"{self.acked:,}", self.acked == self.sent),
            Line("never answered", f"{self.unfinished:,}", self.unfinished == 0),
            Line("failover, kill -9 to the next ack", f"{self.failover_s:.2f} s"),
            Line("read back", f"{read.count:,}", read.count >= self.acked),
            Line("twice", f"{read.again:,}", read.again == 0),
            Line("other than it was sent", f"{read.changed:,}", read.changed == 0),
            Line(
                "invariants",
                f"{len(held)} hold" + (f", broken: {', '.join(broken)}" if broken else ""),
                self.judgement.verdict is Verdict.HOLDS,
            ),
            Line(
                "Spark's lines per file",
                "agree" if not spark else f"{len(spark)} files differ",
                not spark,
            ),
        ]

    def remarks(self) -> Iterator[str]:
        """Which invariants hold, which there was nothing to judge by, and what broke, and how."""
        yield f"These hold: {', '.join(self._named(Verdict.HOLDS))}."
        for ruling in self.judgement.rulings:
            if ruling.verdict is Verdict.INCONCLUSIVE:
                yield f"Not judged: {ruling.invariant} ({ruling.why})."
        yield from map(str, self.judgement.violations)

    @property
    def hold(self) -> bool:
        return all(line.holds is not False for line in self.lines())

    def _named(self, verdict: Verdict) -> list[str]:
        return [one.invariant for one in self.judgement.rulings if one.verdict is verdict]


def run_tour(corpus: Corpus, screen: Screen) -> Opinions:
    """Run every step against a cluster of its own, which is gone at the end; what it leaves behind
    is kept if not all of it holds.

    Raises ClusterError where the surroundings don't allow it, or a wait takes too long.
    """
    folder = Path(tempfile.mkdtemp(prefix="logquake-demo-"))
    try:
        opinions = _Tour(corpus, screen, folder).run()
    except BaseException:
        shutil.rmtree(folder)
        raise
    if opinions.hold:
        shutil.rmtree(folder)
    return opinions


class _Tour:
    """Histories are written into the folder, beside the cluster's own."""

    def __init__(self, corpus: Corpus, screen: Screen, folder: Path) -> None:
        self._corpus = corpus
        self._screen = screen
        self._folder = folder
        self._kafka = Cluster(brokers=BROKERS, data_dir=folder / "cluster")

    def run(self) -> Opinions:
        try:
            with self._screen.step("Starting ZooKeeper and three brokers"):
                self._kafka.open()
            return self._on_cluster()
        finally:
            self._kafka.close()

    def _on_cluster(self) -> Opinions:
        config = {"min.insync.replicas": MIN_ISR}
        self._kafka.create_topic(
            TOPIC, partitions=PARTITIONS, replication_factor=REPLICAS, config=config
        )
        producer = LineProducer(self._kafka.bootstrap_servers, TOPIC, PARTITIONS)
        harness, reader = self._folder / f"{HARNESS}.jsonl", self._folder / "reader.jsonl"
        with (
            HistoryWriter(harness, HARNESS) as history,
            observing(self._kafka, history, topics=[TOPIC]),
        ):
            failover = _Failover(self._kafka, self._screen, history)
            unfinished = self._produce(producer, failover)
            with self._screen.step("Waiting for the full ISR of every partition"):
                failover.finish()
                for partition in range(PARTITIONS):
                    self._kafka.wait_isr(TOPIC, partition, size=REPLICAS, timeout=_STEP_TIMEOUT_S)
            with SparkCount(self._kafka.bootstrap_servers, TOPIC, self._folder) as count:
                read = self._read_back(reader)
                with self._screen.step("Waiting for Spark, which counts the lines of every file"):
                    spark = count.differences(self._corpus)
        path = self._folder / "run.parquet"
        with self._screen.step("Judging what clients, files, ZooKeeper and journals say"):
            end_at_once(self._kafka)
            producer.write_history([harness, reader], path)
            judgement = judge_file(path, self._kafka.layout.root)
        log = producer.log
        return Opinions(
            sent=len(log),
            acked=log.acked_count,
            unfinished=unfinished,
            failover_s=log.longest_silence_us(failover.partition) / 1_000_000,
            read=read,
            judgement=judgement,
            spark_differences=spark,
            history=path,
            cluster=self._kafka.layout.root,
        )

    def _produce(self, producer: LineProducer, failover: _Failover) -> int:
        """Send everything, killing a leader half-way; how many sends never had an outcome."""
        with self._screen.counting("Producing, acks=all", len(self._corpus)) as show:
            producer.send_all(
                self._corpus, lambda: failover.strike(producer.log.busiest_partition()), show
            )
            return producer.finish(_STEP_TIMEOUT_S, show)

    def _read_back(self, history: Path) -> ReadBack:
        what = "Reading back as a consumer group, and comparing"
        with self._screen.counting(what, len(self._corpus)) as show:
            return read_back(self._kafka, TOPIC, self._corpus, history, show, _STEP_TIMEOUT_S)


class _Failover:
    """Kill the leader of the busiest partition, and start it again once another leads."""

    def __init__(self, kafka: Cluster, screen: Screen, history: HistoryWriter) -> None:
        self._kafka = kafka
        self._screen = screen
        self._history = history
        self._thread: Thread | None = None
        self._failure: ClusterError | None = None
        self.partition = -1

    def strike(self, partition: int) -> None:
        self.partition = partition
        victim = self._kafka.leader(TOPIC, partition)
        self._screen.say(f"[red]kill -9[/] broker {victim}, leader of {TOPIC}-{partition}")
        told = {"kind": "kill", "target": str(victim)}
        begun = self._history.record(Kind.FAULT_BEGUN, f"broker-{victim}", after=told)
        fault = self._kafka.kill(victim)
        recovery = (victim, fault, begun)
        # A daemon: who is ended meanwhile does not wait for another leader.
        self._thread = Thread(target=self._recover, args=recovery, name="failover", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Wait for the restart. Raises ClusterError if it went wrong."""
        if self._thread is not None:
            self._thread.join(_STEP_TIMEOUT_S)
        if self._failure is not None:
            raise self._failure

    def _recover(self, victim: int, fault: Fault, begun: int) -> None:
        try:
            leader = self._kafka.wait_leader_change(
                TOPIC, self.partition, since=fault, timeout=_STEP_TIMEOUT_S
            )
            self._screen.say(f"broker {leader} leads now; starting broker {victim} again")
            self._kafka.start(victim)
            self._history.record(Kind.FAULT_ENDED, f"broker-{victim}", caused_by=begun)
        except ClusterError as failure:
            self._failure = failure
