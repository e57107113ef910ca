"""Rows stream from topic to topic through Spark, and brokers and Spark are killed at random.

Brokers that lead, coordinate or control are killed, paused and cut off; so are Spark's driver, its
executors and Python workers. Then whoever reads committed records counts what came out: exactly
once, each row is there once, in its key's order; at least once, none is missing, and how many are
doubled is told.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from logquake.cluster.api import Cluster
from logquake.cluster.running.cluster import RunningCluster
from tests.rounds.evidence import save
from tests.rounds.streaming import spark_strikes
from tests.rounds.streaming.broker_strikes import DEEDS, Deed, Offices
from tests.rounds.streaming.driver import Driver
from tests.rounds.streaming.judgement import (
    Counts,
    count,
    count_by_spark,
    read_by_librdkafka,
    wait_until_decided,
)
from tests.rounds.streaming.load import Load, Size
from tests.rounds.streaming.query import QueryPlan
from tests.rounds.streaming.spark_strikes import SparkStrike
from tests.rounds.streaming.storm import Storm, Weather
from tests.waiting import wait_for

EXACTLY_ONCE = "exactly-once"
GUARANTEES = (EXACTLY_ONCE, "at-least-once")
REPLICAS = 3
PARTITIONS = 4
COORDINATORS = 6
CONFIG = {
    "min.insync.replicas": 2,
    "offsets.topic.num.partitions": COORDINATORS,
    "transaction.state.log.num.partitions": COORDINATORS,
}
LOCAL = "local[2,4]"
_TELL_EVERY_S = 5.0
_LOOK_EVERY_S = 0.5
_BEGUN_WITHIN_S = 600.0
_DRAINED_WITHIN_S = 1_800.0


@dataclass(frozen=True, slots=True)
class Plan:
    seed: int
    size: Size
    seconds: float  # in which the rows are written, as evenly as it goes
    rows_a_batch: int = 50_000
    deeds: tuple[Deed, ...] = DEEDS
    spark: tuple[SparkStrike, ...] = spark_strikes.LOCAL
    calm_s: float = 8.0
    strikes: int | None = None  # of brokers and of Spark each; None: as long as rows are written


@dataclass(slots=True)
class Outcome:
    guarantee: str
    took_s: float = 0.0
    epochs: int = 0
    strikes: dict[str, int] = field(default_factory=dict)
    driver_starts: int = 0
    query_ends: dict[str, int] = field(default_factory=dict)  # and why
    source: Counts | None = None
    target: Counts | None = None
    by_spark: Counts | None = None
    failure: str = ""

    @property
    def is_sound(self) -> bool:
        return not any(self.faults())

    def faults(self) -> list[str]:
        """What does not hold that has to."""
        if self.failure or self.source is None or self.target is None:
            return [self.failure or "it did not come to an end"]
        found = []
        if _is_broken(self.source) or self.source.doubled:
            found.append(f"what was written: {self.source}")
        if _is_broken(self.target) or (self.guarantee == EXACTLY_ONCE and self.target.doubled):
            found.append(f"what came out: {self.target}")
        if self.by_spark != self.target:
            found.append(f"Spark counts otherwise: {self.by_spark}")
        return found

    def __str__(self) -> str:
        strikes = ", ".join(f"{n} x {what}" for what, n in sorted(self.strikes.items()))
        lines = [
            f"{self.guarantee}: {self.took_s:.0f} s, {self.epochs} epochs, "
            f"{self.driver_starts} starts of the driver",
            f"  struck: {strikes or 'nobody'}",
            *(f"  the query ended {n} times: {why}" for why, n in self.query_ends.items()),
            f"  in:  {self.source}",
            f"  out: {self.target}",
            *(f"  BROKEN: {fault}" for fault in self.faults()),
        ]
        return "\n".join(lines)


def _is_broken(counts: Counts) -> bool:
    return bool(counts.missing or counts.disordered or counts.scattered)


@dataclass
class Streamed:
    """One stream on a cluster and a Spark that run: streaming, and then judging it."""

    kafka: RunningCluster
    plan: Plan
    guarantee: str
    folder: Path
    master: str = LOCAL
    coordinators: int = COORDINATORS
    tell: Callable[[str], None] = print

    def __post_init__(self) -> None:
        self.outcome = Outcome(self.guarantee)
        self._topics = (f"in-{self.guarantee}", f"out-{self.guarantee}")
        self._servers = self.kafka.bootstrap_servers

    def stream(self) -> None:
        """Until everything that is written has gone through."""
        plan, (source, target) = self.plan, self._topics
        for topic in self._topics:
            self.kafka.create_topic(topic, partitions=PARTITIONS, replication_factor=REPLICAS)
        query = QueryPlan(
            *(self._servers, source, target, self.guarantee, self.master),
            folder=str(self.folder),
            rows_a_batch=plan.rows_a_batch,
        )
        offices = Offices(self._topics, PARTITIONS, self.coordinators)
        weather = Weather(plan.seed, plan.deeds, plan.spark, REPLICAS, plan.calm_s, plan.strikes)
        load = Load(self._servers, source, plan.size, plan.size.rows / plan.seconds)
        with Driver(query) as driver:
            storm = Storm(self.kafka, offices, driver, weather, self.tell)
            try:
                self._wait_for_beginning(query, driver)
                self._follow(load, storm)
                self._drain(query, driver)
            except AssertionError as error:
                self.outcome.failure = str(error)
            self._note(driver, storm)

    def judge(self, spark: Any) -> Outcome:
        """What went in and what came out, by librdkafka's reader; what came out by Spark too."""
        size, (source, target) = self.plan.size, self._topics
        if self.outcome.failure:
            return self.outcome
        wait_until_decided(self._servers, target, PARTITIONS)
        self.outcome.source, self.outcome.target = (
            count(read_by_librdkafka(self._servers, each, PARTITIONS), size)
            for each in (source, target)
        )
        self.tell(f"librdkafka reads {self.outcome.target}")
        self.outcome.by_spark = count_by_spark(spark, self._servers, target, size)
        self.tell(f"Spark reads {self.outcome.by_spark}")
        return self.outcome

    def _wait_for_beginning(self, query: QueryPlan, driver: Driver) -> None:
        """What Spark takes to start is no part of the time in which rows are written."""

        def has_begun() -> bool:
            driver.watch()
            return query.told.exists()

        wait_for("query that begins", has_begun, timeout_s=_BEGUN_WITHIN_S)

    def _follow(self, load: Load, storm: Storm) -> None:
        """Strikes as long as rows are written, or as many as are wanted."""
        told_s = time.monotonic()
        with load, storm:
            while not load.is_over() or (storm.weather.at_most and not storm.is_over()):
                storm.driver.watch()
                time.sleep(_LOOK_EVERY_S)
                if time.monotonic() > told_s + _TELL_EVERY_S:
                    told_s = time.monotonic()
                    self._progress(load.sent, storm)
                trouble = storm.error or load.error
                assert trouble is None, trouble
        assert load.error is None, load.error

    def _drain(self, query: QueryPlan, driver: Driver) -> None:
        query.fed.write_text(str(self.plan.size.rows))
        self.tell(f"all {self.plan.size.rows:,} rows are written")
        wait_for("end of the query", driver.watch, timeout_s=_DRAINED_WITHIN_S)

    def _progress(self, sent: int, storm: Storm) -> None:
        now = storm.driver.told()
        self.tell(
            f"{sent:,} rows in, {now.rows:,} through in {now.epoch + 1} epochs; "
            f"{storm.strikes.total()} strikes, {storm.driver.starts} starts of the driver, "
            f"{storm.driver.ends().total()} ends of the query"
        )

    def _note(self, driver: Driver, storm: Storm) -> None:
        self.outcome.epochs = driver.told().epoch + 1
        self.outcome.strikes = dict(storm.strikes)
        self.outcome.driver_starts = driver.starts
        self.outcome.query_ends = dict(driver.ends())


def run(plan: Plan, guarantee: str, evidence: Path) -> Outcome:
    """A cluster and a Spark of its own. Raises ClusterError where they do not even start."""
    from logquake.pipeline.session import spark_session
    from tests.compat.standalone_spark import standalone_spark

    began = time.monotonic()

    def tell(what: str) -> None:
        print(f"{time.monotonic() - began:6.1f} s  {what}", flush=True)

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="logquake-stream-")))
        kafka = stack.enter_context(Cluster(brokers=REPLICAS, config=CONFIG, links=True))
        streamed = Streamed(kafka, plan, guarantee, folder, tell=tell)
        with standalone_spark(folder, workers=2) as spark_cluster:
            streamed.master = spark_cluster.master
            streamed.stream()
        spark = spark_session("judge", cores=2)
        stack.callback(spark.stop)
        outcome = streamed.judge(spark)
        outcome.took_s = time.monotonic() - began
        _keep(outcome, kafka, folder, evidence)
    return outcome


def _keep(outcome: Outcome, kafka: RunningCluster, folder: Path, evidence: Path) -> None:
    evidence.mkdir(parents=True, exist_ok=True)
    told = json.dumps(asdict(outcome), indent=1)
    Path(evidence, f"stream-{outcome.guarantee}.json").write_text(f"{told}\n")
    if not outcome.is_sound:
        save(kafka, evidence / f"stream-{outcome.guarantee}", str(outcome))
        shutil.copytree(folder, evidence / f"stream-{outcome.guarantee}" / "spark")
