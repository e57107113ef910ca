"""The targets of one run: ours first, then Kafka, then whoever was named."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from benchmarks.errors import BenchmarkError
from benchmarks.kafka_peer import NAME as KAFKA
from benchmarks.kafka_peer import kafka_cluster
from benchmarks.own_cluster import NAME as OWN
from benchmarks.own_cluster import own_cluster
from benchmarks.pipelining import clusters_by_mode
from benchmarks.startup import Starter
from benchmarks.target import Target, parse_target

BROKERS = 3
LINKED = f"{OWN}, links"


@contextlib.contextmanager
def running_modes(*, kafka: bool) -> Iterator[list[Target]]:
    """Our own cluster in each mode of pipelining, and Kafka last."""
    with clusters_by_mode(BROKERS) as ours, contextlib.ExitStack() as stack:
        yield [*ours, stack.enter_context(kafka_cluster())] if kafka else ours


@contextlib.contextmanager
def running_linked() -> Iterator[list[Target]]:
    """Our own cluster without links, and with them."""
    with own_cluster(BROKERS) as plain, own_cluster(BROKERS, name=LINKED, links=True) as linked:
        yield [plain, linked]


@contextlib.contextmanager
def running_targets(
    *, own: bool, kafka: bool, peers: Sequence[str] | None
) -> Iterator[list[Target]]:
    """All of them run for the length of the block. Raises BenchmarkError when there is none."""
    named = [parse_target(peer) for peer in peers or ()]
    with contextlib.ExitStack() as stack:
        targets: list[Target] = []
        if own:
            targets.append(stack.enter_context(own_cluster(BROKERS)))
        if kafka:
            targets.append(stack.enter_context(kafka_cluster()))
        targets += named
        if len({target.name for target in targets}) < max(1, len(targets)):
            raise BenchmarkError("name at least one target, and no two alike")
        yield targets


def starters(brokers: int, *, kafka: bool) -> list[Starter]:
    """Those whose start can be measured."""
    found = [Starter(OWN, lambda cold: own_cluster(brokers, cold=cold), has_cold=True)]
    if kafka:
        found.append(Starter(KAFKA, lambda _: kafka_cluster()))
    return found
