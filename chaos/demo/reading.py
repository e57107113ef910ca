"""Everything read back by a consumer group's member, told as rows and held against the input."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import monotonic

from confluent_kafka import Message

from logquake.chaos.demo.corpus import Corpus
from logquake.chaos.history.rows import NOT_SENT, Kind
from logquake.chaos.history.writer import HistoryWriter
from logquake.chaos.workloads.life import Life
from logquake.chaos.workloads.members import Membership, after
from logquake.chaos.workloads.plan import Plan, WorkloadKind
from logquake.chaos.workloads.reading import number_in_headers
from logquake.cluster.errors import WaitTimeoutError
from logquake.cluster.observing.log_offsets import latest_offsets
from logquake.cluster.running.cluster import RunningCluster

READER = "reader"
_AT_ONCE = 10_000


class ReadBack:
    """What was read: how many records, how many of them once more, how many not as they were sent.

    The invariants know a record by its number; that its key and line are right is seen here.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._seen = bytearray(len(corpus))
        self.count = 0
        self.again = 0
        self.changed = 0

    def number(self, message: Message) -> int:
        """Of its send; it is counted."""
        number = number_in_headers(message)
        self.count += 1
        if not 0 <= number < len(self._corpus):
            self.changed += 1
            return NOT_SENT
        self.again += self._seen[number]
        self._seen[number] = 1
        self.changed += (message.key(), message.value()) != self._corpus.pair(number)
        return number


def read_back(
    kafka: RunningCluster,
    topic: str,
    corpus: Corpus,
    history: Path,
    progress: Callable[[int], None],
    silent_s: float,
) -> ReadBack:
    """To the ends of the moment at which it begins. Raises WaitTimeoutError."""
    with kafka.admin(silent_s) as admin:
        ends = latest_offsets(admin, topic)
    plan = Plan.of(
        WorkloadKind.READER,
        kafka.bootstrap_servers,
        {"topic": topic, "group": "demo", "enable.partition.eof": True},
    )
    found = ReadBack(corpus)
    with HistoryWriter(history, READER) as writer:
        life = Life(plan, READER, writer)
        writer.record(Kind.BEGAN, READER, after=plan.told(READER))
        membership = Membership(life, _AT_ONCE, found.number)
        with closing(membership.consumer):
            heard_s = monotonic()
            while any(membership.taker.ends.get(one, -1) < end for one, end in ends.items()):
                if messages := membership.taker.take():
                    membership.commit(after(messages))
                    progress(found.count)
                    heard_s = monotonic()
                elif monotonic() - heard_s > silent_s:
                    raise WaitTimeoutError(f"{found.count} records read, and no more came")
        writer.record(Kind.ENDED, READER)
    return found
