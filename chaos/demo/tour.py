"""The demo's steps: a cluster, a million lines, a killed leader, and four independent opinions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from threading import Thread

from logquake.chaos.demo.checks import Verdict, check_readback
from logquake.chaos.demo.corpus import Corpus
from logquake.chaos.demo.replicas import ReplicaComparison, compare_replicas
from logquake.chaos.demo.screen import Line, Screen
from logquake.chaos.workloads.pairs import PairProducer
from logquake.chaos.workloads.readback import high_watermarks, read_all
from logquake.client.admin import Admin
from logquake.client.routing import Router
from logquake.client.settings import ClientSettings
from logquake.cluster.api import Cluster
from logquake.cluster.errors import ClusterError
from logquake.cluster.running.fault import Fault

TOPIC = "lines"
BROKERS = 3
PARTITIONS = 6
REPLICAS = 3
MIN_ISR = 2
_PROGRESS_EVERY = 5_000
_STEP_TIMEOUT_S = 60.0
_SPARK_TIMEOUT_S = 300.0


@dataclass(slots=True)
class Opinions:
    """What each judge found."""

    verdict: Verdict
    unfinished: int
    failover_s: float
    replicas: ReplicaComparison
    spark_differences: list[str] = field(default_factory=list)

    def lines(self) -> list[Line]:
        verdict, replicas = self.verdict, self.replicas
        differences = len(replicas.differences)
        spark = self.spark_differences
        return [
            Line("sent", f"{verdict.sent:,}"),
            Line("acked", f"{verdict.acked:,}", verdict.acked == verdict.sent),
            Line("never answered", f"{self.unfinished:,}", self.unfinished == 0),
            Line("read back", f"{verdict.read:,}", verdict.read >= verdict.acked),
            Line("lost", f"{verdict.lost:,}", verdict.lost == 0),
            Line("duplicated", f"{verdict.duplicated:,}", verdict.duplicated == 0),
            Line("changed or phantom", f"{verdict.changed + verdict.phantom:,}", verdict.holds),
            Line("out of order", f"{verdict.out_of_order:,}", verdict.out_of_order == 0),
            Line("failover, kill -9 to the next ack", f"{self.failover_s:.2f} s"),
            Line(
                "replicas compared, byte by byte",
                f"{replicas.bytes_compared / 1e6:,.0f} MB, {differences} differences",
                differences == 0,
            ),
            Line(
                "Spark's lines per file",
                "agree" if not spark else f"{len(spark)} files differ",
                not spark,
            ),
        ]

    @property
    def hold(self) -> bool:
        return all(line.holds is not False for line in self.lines())


def run_tour(corpus: Corpus, screen: Screen) -> Opinions:
    """Run every step against a cluster of its own, which is gone at the end.

    Raises ClusterError where the surroundings don't allow it, or a wait takes too long.
    """
    kafka = Cluster(brokers=BROKERS)
    with screen.step("Starting ZooKeeper and three brokers"):
        kafka.open()
    try:
        return _on_cluster(kafka, corpus, screen)
    finally:
        kafka.close()


def _on_cluster(kafka: Cluster, corpus: Corpus, screen: Screen) -> Opinions:
    bootstrap_servers = kafka.bootstrap_servers
    _create_topic(bootstrap_servers)
    producer, failover = PairProducer(bootstrap_servers, TOPIC), _Failover(kafka, screen)
    unfinished = _produce(producer, corpus, failover, screen)
    with screen.step("Waiting for the full ISR of every partition"):
        failover.finish()
        for partition in range(PARTITIONS):
            kafka.wait_isr(TOPIC, partition, size=REPLICAS, timeout=_STEP_TIMEOUT_S)
    verdict = _read_back(bootstrap_servers, producer, corpus, screen)
    with screen.step("Comparing the replicas' files, byte by byte"):
        ends = high_watermarks(bootstrap_servers, TOPIC, timeout_s=_STEP_TIMEOUT_S)
        data = {broker: kafka.layout.data_of(broker) for broker in range(1, BROKERS + 1)}
        replicas = compare_replicas(data, TOPIC, ends)
    with screen.step("Asking Spark to count the lines of every file"):
        spark = _ask_spark(bootstrap_servers, corpus)
    failover_s = producer.acks.gaps.get(failover.partition, 0.0)
    return Opinions(verdict, unfinished, failover_s, replicas, spark)


def _create_topic(bootstrap_servers: str) -> None:
    with Router(ClientSettings(bootstrap_servers)) as router:
        Admin(router).create_topic(
            TOPIC,
            partitions=PARTITIONS,
            replication_factor=REPLICAS,
            configs={"min.insync.replicas": str(MIN_ISR)},
        )


class _Failover:
    """Kill the leader of the busiest partition, and start it again once another leads."""

    def __init__(self, kafka: Cluster, screen: Screen) -> None:
        self._kafka = kafka
        self._screen = screen
        self._thread: Thread | None = None
        self._failure: ClusterError | None = None
        self.partition = -1

    def strike(self, partition: int) -> None:
        self.partition = partition
        victim = self._kafka.leader(TOPIC, partition)
        self._screen.say(f"[red]kill -9[/] broker {victim}, leader of {TOPIC}-{partition}")
        fault = self._kafka.kill(victim)
        self._thread = Thread(target=self._recover, args=(victim, fault), name="failover")
        self._thread.start()

    def finish(self) -> None:
        """Wait for the restart. Raises ClusterError if it went wrong."""
        if self._thread is not None:
            self._thread.join(_STEP_TIMEOUT_S)
        if self._failure is not None:
            raise self._failure

    def _recover(self, victim: int, fault: Fault) -> None:
        try:
            leader = self._kafka.wait_leader_change(
                TOPIC, self.partition, since=fault, timeout=_STEP_TIMEOUT_S
            )
            self._screen.say(f"broker {leader} leads now; starting broker {victim} again")
            self._kafka.start(victim)
        except ClusterError as failure:
            self._failure = failure


def _produce(producer: PairProducer, corpus: Corpus, failover: _Failover, screen: Screen) -> int:
    """Send everything, killing a leader half-way; how many sends never had an outcome."""
    half = len(corpus) // 2
    with screen.counting("Producing, acks=all", len(corpus)) as show:

        def each(number: int) -> None:
            if number == half:
                failover.strike(producer.acks.busiest_partition())
            if number % _PROGRESS_EVERY == 0:
                show(producer.outcomes.acked)

        producer.run(corpus.pairs(), each=each)
        left = producer.finish(_STEP_TIMEOUT_S, show)
        show(producer.outcomes.acked)
    return left


def _read_back(
    bootstrap_servers: str, producer: PairProducer, corpus: Corpus, screen: Screen
) -> Verdict:
    with screen.counting("Reading back as a consumer group, and comparing", len(corpus)) as show:
        records = read_all(bootstrap_servers, TOPIC, timeout_s=_STEP_TIMEOUT_S, progress=show)
        return check_readback(producer.outcomes, corpus.pair, records)


def _ask_spark(bootstrap_servers: str, corpus: Corpus) -> list[str]:
    """The files whose count differs. Spark runs in a process of its own, JVM and all."""
    command = [sys.executable, "-m", "logquake.pipeline", "count", bootstrap_servers, TOPIC]
    # A session of its own: Spark's JVM is a grandchild and must not outlive a time-out.
    spark = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        counts, complaint = spark.communicate(timeout=_SPARK_TIMEOUT_S)
    except BaseException as error:
        os.killpg(spark.pid, signal.SIGKILL)
        spark.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            return [f"Spark has not answered in {_SPARK_TIMEOUT_S:.0f} s"]
        raise
    if spark.returncode != 0:
        return [f"Spark failed: {complaint.strip()[-500:]}"]
    counted: dict[str, int] = json.loads(counts)
    expected = corpus.lines_per_file()
    names = sorted(expected.keys() | counted.keys())
    return [name for name in names if expected.get(name) != counted.get(name)]
