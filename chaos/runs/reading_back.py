"""Each topic read from its beginning to its end, once all is whole (invariant 2, readable)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from logquake.chaos.history.rows import Kind
from logquake.chaos.history.writer import HistoryWriter
from logquake.chaos.workloads.clients import READER, partitions_of
from logquake.chaos.workloads.life import Life
from logquake.chaos.workloads.plan import Plan, WorkloadKind
from logquake.chaos.workloads.reading import Taker
from logquake.client import Admin
from logquake.client.errors import ClientError
from logquake.client.isolation import Isolation
from logquake.cluster.observing.log_offsets import latest_offsets
from logquake.cluster.running.cluster import RunningCluster

FINAL_READER = "final-reader"
# A transaction that nobody ended is aborted after its time-out, by a coordinator that looks every
# ten seconds.
TRANSACTIONS_END_WITHIN_S = 90.0
SILENT_S = 60.0
LOOK_EVERY_S = 0.2
_MOST_AT_ONCE = 10_000


def read_back(
    kafka: RunningCluster, topic: str, folder: Path, process: str | None = None
) -> str | None:
    """Write what is read into a history of its own; what is wrong, if the end was not reached.

    Whoever reads a topic more than once gives each reader's ``process`` another name.
    """
    process = process or f"{FINAL_READER}-{topic}"
    try:
        with kafka.admin(SILENT_S) as admin:
            ends = _stable_ends(admin, topic)
    except ClientError as error:
        return f"where {topic} ends nobody could say: {error}"
    plan = Plan.of(WorkloadKind.READER, kafka.bootstrap_servers, {"topic": topic})
    with HistoryWriter(folder / f"{process}.jsonl", process) as history:
        life = Life(plan, process, history)
        history.record(Kind.BEGAN, process, after=plan.told(process))
        complaint = _read(life, topic, ends)
        history.record(Kind.ENDED, process)
    return complaint


def _stable_ends(admin: Admin, topic: str) -> Mapping[int, int]:
    """Where each partition ends once its transactions have ended. One that hangs (invariant 23)
    hides what is behind it.
    """
    deadline = time.monotonic() + TRANSACTIONS_END_WITHIN_S
    while True:
        stable = latest_offsets(admin, topic, Isolation.READ_COMMITTED)
        ends = latest_offsets(admin, topic)
        if stable == ends or time.monotonic() > deadline:
            return stable
        time.sleep(LOOK_EVERY_S)


def _read(life: Life, topic: str, ends: Mapping[int, int]) -> str | None:
    reading = {
        "isolation.level": "read_committed",
        "group.id": life.process,
        # What is last may be a transaction's marker, which nobody is handed. The end is told once a
        # Fetch from there is answered, which would wait for records.
        "enable.partition.eof": True,
        "fetch.wait.max.ms": 10,
    }
    consumer = Consumer(life.settings(READER) | reading)
    taker = Taker(life, consumer, None, _MOST_AT_ONCE)
    with closing(consumer):
        places = [
            TopicPartition(topic, each, OFFSET_BEGINNING) for each in partitions_of(consumer, topic)
        ]
        taker.begin(places)
        consumer.assign(places)
        heard = time.monotonic()
        while short := {one: end for one, end in ends.items() if taker.ends.get(one, -1) < end}:
            if taker.take():
                heard = time.monotonic()
            elif time.monotonic() - heard > SILENT_S:
                return f"nothing more of {topic} came for {SILENT_S:g} s, short of {short}"
    return None
