"""Starts of a whole cluster in a row: each is of use at once."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass, field

from logquake.client import Producer
from logquake.client.admin import NewTopic
from logquake.client.errors import ClientError
from logquake.cluster.api import Cluster
from logquake.cluster.errors import ClusterError
from tests.starving.plan import Starvation
from tests.starving.starver import starving

BROKERS = 3
USED_WITHIN_S = 60.0


@dataclass(slots=True)
class Outcome:
    took_s: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        ordered = sorted(self.took_s) or [0.0]
        return (
            f"{len(self.took_s)} starts, {len(self.failures)} failed; median "
            f"{ordered[len(ordered) // 2]:.2f} s, slowest {ordered[-1]:.2f} s"
        )


def run(count: int, starvation: Starvation | None) -> Outcome:
    """``starvation`` is of this process's children: every cluster that it starts."""
    outcome = Outcome()
    with ExitStack() as stack:
        if starvation is not None:
            stack.enter_context(starving(os.getpid(), starvation))
        for number in range(count):
            began = time.monotonic()
            try:
                _start_and_use()
            except (ClusterError, ClientError) as error:
                outcome.failures.append(f"start {number}: {error!r}")
                print(outcome.failures[-1], flush=True)
            outcome.took_s.append(time.monotonic() - began)
            print(f"{number}: {outcome.took_s[-1]:.2f} s", flush=True)
    return outcome


def _start_and_use() -> None:
    """A topic on every broker, and a record in each of its partitions, acked by all replicas."""
    with Cluster(brokers=BROKERS) as kafka:
        with kafka.admin(USED_WITHIN_S) as admin:
            admin.create_topics([NewTopic("orders", BROKERS, BROKERS)])["orders"].result()
        with Producer(kafka.kafka_config()) as producer:
            sent = [producer.send("orders", b"1", partition=each) for each in range(BROKERS)]
            producer.flush()
            for each in sent:
                each.result(USED_WITHIN_S)
