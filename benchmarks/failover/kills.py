"""Kill after kill: the time until a message that was sent after it is acked.

Before each kill all replicas are in sync, every broker leads what it prefers to, and the client has
written to each of them, as one does that writes to a topic. (Of a client that rests for a while
nothing is left but its connection to the victim. When that breaks librdkafka takes all brokers for
lost and bootstraps anew, and to those that were killed before it waits out its reconnect back-off:
1 to 2 s, whatever the brokers do.) Clients take turns, and so do the two kinds of victim: a broker
that leads the partition written to, and one that is the controller besides. A message that was
sent before the kill does not count: its ack may have been on its way.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import quantiles

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from benchmarks.errors import BenchmarkError
from benchmarks.failover.clients import Client, Kind, running_client
from benchmarks.figures import Result
from benchmarks.killing import kill_broker
from logquake.cluster.api import Cluster

TOPIC = "failover"
BROKERS = PARTITIONS = 3
VICTIMS = ("leader", "leader and controller")

_CONFIG = {  # leaderships go back to where they were soon after a return
    "leader.imbalance.check.interval.seconds": "1",
    "leader.imbalance.per.broker.percentage": "0",
}
_ACKS_BEFORE = 50  # from each broker
_SETTLED_TIMEOUT_S = 60.0
_ACK_TIMEOUT_S = 60.0
_LOOK_S = 0.01


def measure_failover(kinds: Sequence[Kind], kills: int, load: int) -> list[Result]:
    """A result a client and kind of victim, over ``kills`` of each, beside ``load`` busy loops."""
    found: dict[tuple[str, str], list[float]] = {}
    with contextlib.ExitStack() as stack:
        kafka = stack.enter_context(Cluster(brokers=BROKERS, config=_CONFIG))
        _create_topic(kafka)
        clients = {
            kind.name: stack.enter_context(running_client(kind, kafka.bootstrap_servers, TOPIC))
            for kind in kinds
        }
        stack.enter_context(_busy(load))
        for number in range(kills):
            for victim in VICTIMS:
                for name, client in clients.items():
                    took_ms = _kill_one(kafka, client, victim)
                    found.setdefault((victim, name), []).append(took_ms)
                    print(f"{number + 1}: {victim}, {name}: {took_ms:.0f} ms", file=sys.stderr)
    return [_result(victim, name, times_ms) for (victim, name), times_ms in found.items()]


def _kill_one(kafka: Cluster, client: Client, victim: str) -> float:
    """Milliseconds from the kill to the ack."""
    _settle(kafka)
    leaders = {kafka.leader(TOPIC, each): each for each in range(PARTITIONS)}
    controller = kafka.controller()
    others = [broker for broker in leaders if broker != controller]
    broker_id = controller if victim == VICTIMS[1] else min(others)
    for each in (*(other for other in leaders if other != broker_id), broker_id):
        _write_to(client, leaders[each])
    killed_ns = kill_broker(kafka, broker_id)
    try:
        return (_next_ack_ns(client, killed_ns) - killed_ns) / 1_000_000
    finally:
        client.send_to(None)
        kafka.start(broker_id)


def _write_to(client: Client, partition: int) -> None:
    """From now on; return when some of it is acked."""
    before = len(client.acks())
    client.send_to(partition)
    _await(lambda: len(client.acks()) >= before + _ACKS_BEFORE, "acks before the kill")


def _next_ack_ns(client: Client, killed_ns: int) -> int:
    found: list[int] = []

    def has_come() -> bool:
        found[:] = [ack.acked_ns for ack in client.acks() if ack.sent_ns > killed_ns]
        return bool(found)

    _await(has_come, "an ack after the kill", _ACK_TIMEOUT_S)
    return min(found)


def _settle(kafka: Cluster) -> None:
    """All replicas are in sync, and each broker leads one partition."""
    for partition in range(PARTITIONS):
        kafka.wait_isr(TOPIC, partition, size=BROKERS, timeout=_SETTLED_TIMEOUT_S)
    _await(
        lambda: len({kafka.leader(TOPIC, each) for each in range(PARTITIONS)}) == BROKERS,
        "a leadership for each broker",
    )


def _await(holds: Callable[[], bool], what: str, timeout_s: float = _SETTLED_TIMEOUT_S) -> None:
    deadline = time.monotonic() + timeout_s
    while not holds():
        if time.monotonic() > deadline:
            raise BenchmarkError(f"waited {timeout_s:.0f} s for {what}")
        time.sleep(_LOOK_S)


def _create_topic(kafka: Cluster) -> None:
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
    for future in admin.create_topics([NewTopic(TOPIC, PARTITIONS, BROKERS)]).values():
        future.result()


@contextlib.contextmanager
def _busy(loops: int) -> Iterator[None]:
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def _result(victim: str, name: str, times_ms: Sequence[float]) -> Result:
    ordered = sorted(times_ms)
    points = quantiles(ordered, n=100, method="inclusive") if len(ordered) > 1 else ordered * 99
    figures = {
        "kills": len(ordered),
        "p50 ms": points[49],
        "p99 ms": points[98],
        "worst ms": ordered[-1],
    }
    return Result(f"{victim} killed: {name}", "logquake", 0, figures)
