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
from logquake.chaos.workloads.running import told
from logquake.client.offsets import Isolation, latest_offsets
from logquake.cluster.running.cluster import RunningCluster

FINAL_READER = "final-reader"
WITHIN_S = 120.0
# Behind the last record there may be markers of transactions, which nobody is handed: then the end
# is known by nothing coming any more.
NOTHING_MORE_S = 5.0
_MOST_AT_ONCE = 10_000


def read_back(kafka: RunningCluster, topic: str, folder: Path) -> str | None:
    """Write what is read into a history of its own; what is wrong, if the end was not reached."""
    process = f"{FINAL_READER}-{topic}"
    with kafka.router() as router:
        ends = latest_offsets(router, topic, isolation=Isolation.READ_COMMITTED)
    plan = Plan.of(WorkloadKind.READER, kafka.bootstrap_servers, {"topic": topic})
    with HistoryWriter(folder / f"{process}.jsonl", process) as history:
        life = Life(plan, process, history)
        history.record(Kind.BEGAN, process, after=told(life))
        complaint = _read(life, topic, ends)
        history.record(Kind.ENDED, process)
    return complaint


def _read(life: Life, topic: str, ends: Mapping[int, int]) -> str | None:
    isolation = {"isolation.level": "read_committed", "group.id": life.process}
    consumer = Consumer(life.settings(READER) | isolation)
    taker = Taker(life, consumer, None, _MOST_AT_ONCE)
    with closing(consumer):
        places = [
            TopicPartition(topic, each, OFFSET_BEGINNING) for each in partitions_of(consumer, topic)
        ]
        taker.begin(places)
        consumer.assign(places)
        began = heard = time.monotonic()
        while not _at_ends(consumer, places, ends):
            now = time.monotonic()
            if taker.take():
                heard = now
            elif now - heard > NOTHING_MORE_S and heard > began:
                return None
            if now - began > WITHIN_S:
                return f"{topic} could not be read to its end within {WITHIN_S:g} s"
    return None


def _at_ends(consumer: Consumer, places: list[TopicPartition], ends: Mapping[int, int]) -> bool:
    return all(
        place.offset >= ends[place.partition] or ends[place.partition] == 0
        for place in consumer.position(places)
    )
