"""From nothing to the first acks=all ack on a new topic with three replicas.

The client's imports are done before the clock starts; what is measured is the cluster.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures
from benchmarks.rounds import Case
from benchmarks.target import Target
from benchmarks.topics import create

_ACK_TIMEOUT_S = 30.0

Launch = Callable[[bool], AbstractContextManager[Target]]


@dataclass(frozen=True, slots=True)
class Starter:
    """``launch(cold)`` starts a cluster for the length of a block, in fresh processes.

    Cold is without anything that an earlier start left behind to be faster; ``has_cold`` says
    whether there is such a thing.
    """

    name: str
    launch: Launch
    has_cold: bool = False


def startup_cases() -> list[Case[Starter]]:
    return [
        Case("start", lambda starter: run(starter, cold=False)),
        Case(
            "start, nothing cached",
            lambda starter: run(starter, cold=True) if starter.has_cold else None,
        ),
    ]


def run(starter: Starter, *, cold: bool) -> Figures:
    started = time.perf_counter()
    with starter.launch(cold) as target:
        ready = time.perf_counter()
        _first_ack(target)
        acked = time.perf_counter()
        cpu_s = target.brokers_cpu_s()
    figures = {"ready, wall s": ready - started, "first ack, wall s": acked - started}
    if cpu_s is not None:
        figures["brokers CPU s"] = cpu_s
    return figures


def _first_ack(target: Target) -> None:
    """Raises BenchmarkError when it does not come."""
    topic = f"first-{os.urandom(4).hex()}"
    # No log: the cluster may end before the client is collected.
    client: dict[str, str | int | float | bool] = {
        "bootstrap.servers": target.bootstrap,
        "log_level": 0,
    }
    create(AdminClient(client), NewTopic(topic, 1, 3))
    producer = Producer({**client, "acks": "all", "linger.ms": 0})
    errors: list[object] = []
    producer.produce(
        topic, b"first", partition=0, on_delivery=lambda error, _: errors.append(error)
    )
    producer.flush(_ACK_TIMEOUT_S)
    if errors != [None]:
        raise BenchmarkError(f"{target.name}: no first ack: {errors}")
