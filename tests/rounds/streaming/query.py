"""Spark's driver of a stream from topic to topic, which may be killed at any moment.

    python -m tests.rounds.streaming.query PLAN

The plan is a QueryPlan's JSON. A query that Spark gives up is started again, and goes on from its
checkpoint, as one does whose driver is. It ends once it has taken all that ``fed`` says there is.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from logquake.pipeline.session import spark_session

LOOK_EVERY_S = 1
# What a task that was killed left open keeps readers waiting for so long at most.
TRANSACTION_TIMEOUT_MS = 60_000
# As executors on machines of their own: what is silent for so long is lost, and done elsewhere.
LOST_AFTER_S = 15
# Before it stand ids, of this run of this query alone.
_OF_QUERY = "terminated with exception: "
_ERROR = re.compile(r"(Error|Exception|exception): \S")
_CONFIGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.python.daemon.module": "logquake.pipeline.starting.worker_daemon",
    "spark.executor.memory": "500m",
    "spark.executor.heartbeatInterval": "3s",
    "spark.network.timeout": f"{LOST_AFTER_S}s",
    "spark.network.timeoutInterval": "3s",
    # How far it is, told of a query too that has nothing to do.
    "spark.sql.streaming.noDataProgressEventInterval": "1000",
}


@dataclass(frozen=True, slots=True)
class QueryPlan:
    servers: str
    source: str
    target: str
    guarantee: str  # the sink's deliveryGuarantee
    master: str  # of a Spark cluster, or local[CORES,FAILURES]
    folder: str  # of its checkpoint, and of what it tells and is told
    rows_a_batch: int

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @property
    def checkpoint(self) -> Path:
        return Path(self.folder, "checkpoint")

    @property
    def told(self) -> Path:
        """How far it is: see Told. It is there once the query has begun."""
        return Path(self.folder, "told.json")

    @property
    def ends(self) -> Path:
        """Why it ended before it was through, a line each time: by note_end."""
        return Path(self.folder, "ends")

    @property
    def fed(self) -> Path:
        """How many rows the source has, once no more are written to it."""
        return Path(self.folder, "fed")


@dataclass(frozen=True, slots=True)
class Told:
    """Of a query: its last epoch that is through, and how many rows of the source are read."""

    epoch: int = -1
    rows: int = 0


def told(plan: QueryPlan) -> Told:
    try:
        return Told(**json.loads(plan.told.read_text()))
    except FileNotFoundError:
        return Told()


def note_end(plan: QueryPlan, error: str) -> None:
    """The last line of it that names an error: what Spark says of a worker ends with its trace."""
    lines = [line.strip() for line in error.splitlines()]
    last = next((line for line in reversed(lines) if _ERROR.search(line)), "without a word")
    with plan.ends.open("a") as ends:
        ends.write(f"{last.rpartition(_OF_QUERY)[2]}\n")


def main() -> None:
    from pyspark.errors import PySparkException

    plan = QueryPlan(**json.loads(sys.argv[1]))
    spark = spark_session("streamed", master=plan.master, configs=_CONFIGS, short=True)
    while True:
        try:
            _run(spark, plan)
        except PySparkException as error:
            note_end(plan, str(error))
        else:
            return


def _run(spark: Any, plan: QueryPlan) -> None:
    """Until it has taken everything. Raises PySparkException where Spark gives it up."""
    query = _start(spark, plan)
    _tell(plan, told(plan))
    while not query.awaitTermination(LOOK_EVERY_S):
        now = _seen(query.lastProgress)
        if now is None:
            continue
        _tell(plan, now)
        if plan.fed.exists() and now.rows >= int(plan.fed.read_text()):
            break
    query.stop()


def _start(spark: Any, plan: QueryPlan) -> Any:
    rows = (
        spark.readStream.format("logquake")
        .option("kafka.bootstrap.servers", plan.servers)
        .option("subscribe", plan.source)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", str(plan.rows_a_batch))
        .load()
        .select("key", "value")
    )
    return (
        rows.writeStream.format("logquake")
        .option("kafka.bootstrap.servers", plan.servers)
        .option("kafka.transaction.timeout.ms", str(TRANSACTION_TIMEOUT_MS))
        .option("topic", plan.target)
        .option("deliveryGuarantee", plan.guarantee)
        .option("checkpointLocation", str(plan.checkpoint))
        .start()
    )


def _seen(progress: Any) -> Told | None:
    """None of a query that was started just now."""
    if progress is None or not progress["sources"][0]["endOffset"]:
        return None
    offsets = json.loads(progress["sources"][0]["endOffset"])
    rows = sum(offset for partitions in offsets.values() for offset in partitions.values())
    return Told(progress["batchId"], rows)


def _tell(plan: QueryPlan, now: Told) -> None:
    """Whole or not at all: whoever reads it may come at any moment."""
    written = plan.told.with_suffix(".new")
    written.write_text(json.dumps(asdict(now)))
    written.rename(plan.told)


if __name__ == "__main__":
    main()
