"""What partitions cost a cluster: three brokers, three replicas each, so every broker has all.

One cluster a size, filled with topics of ten partitions:

    idle       CPU of all its processes in a minute in which nobody asks for anything
    in flight  one acks=all message at a time on one partition, and how much longer that takes
               than on the same cluster when it was empty
    topics     as many topics again (a thousand at most) of one partition, created and deleted by
               one request and one by one
    memory     PSS a partition, of all brokers together
    failover   kill -9 of a broker that leads a third and is not the controller, until no partition
               is led by it
    return     its start, until every replica is in its ISR
    told       LeaderAndIsr and UpdateMetadata of everything: CPU to build and to read, in here

"hold" is the longest time that a broker left a request unanswered meanwhile.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import psutil
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from kazoo.client import KazooClient

from benchmarks import latency
from benchmarks.controller_requests import told
from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures, Result
from benchmarks.killing import kill_broker
from benchmarks.own_cluster import NAME
from benchmarks.pinger import Pinger, pinging
from benchmarks.quiet import wait_until_quiet
from benchmarks.target import Target, pss_bytes
from benchmarks.topics import FREES_SOON
from logquake.cluster.api import Cluster
from logquake.cluster.errors import ClusterError
from logquake.wire.sentinels import NO_LEADER
from logquake.zk.znodes.admin import DELETE_TOPICS_PATH

_BROKERS = 3
_PARTITIONS_PER_TOPIC = 10
_TOPICS_PER_REQUEST = 100
_TOPICS_MAX = 1_000
_IDLE_S = 60.0
_MESSAGES = 1_000
_MESSAGES_S = 10.0
_TIMEOUT_S = 300.0
_LOOK_S = 0.25


def measure_partitions(sizes: Sequence[int]) -> list[Result]:
    """Raises BenchmarkError."""
    try:
        return [
            Result(f"{size} partitions, {what}", NAME, 1, figures)
            for size in sizes
            for what, figures in _measure(size)
        ]
    except ClusterError as error:
        raise BenchmarkError(str(error)) from error


def _measure(size: int) -> Iterator[tuple[str, Figures]]:
    # Leaders go back to their preferred replica by themselves, which would be measured too.
    config = {**FREES_SOON, "auto.leader.rebalance.enable": "false"}
    with Cluster(brokers=_BROKERS, config=config) as cluster, _zookeeper(cluster) as zookeeper:
        filled = _Filled(cluster, zookeeper)
        empty = filled.in_flight()
        empty_bytes = pss_bytes(filled.target().broker_pids)
        yield "filled", filled.fill(size)
        yield "idle", filled.idle()
        full = filled.in_flight()
        yield (
            "in flight",
            {**full, **{f"{each} / empty": full[each] / empty[each] for each in full}},
        )
        grown = pss_bytes(filled.target().broker_pids) - empty_bytes
        yield "memory", {"PSS bytes/partition": grown / size}
        yield from filled.topics(min(size, _TOPICS_MAX))
        victim = min({*cluster.spec.broker_ids} - {cluster.controller()})
        yield "failover", filled.failover(victim)
        yield "return", filled.come_back(victim)
    yield "told", told(size, _PARTITIONS_PER_TOPIC)


@contextlib.contextmanager
def _zookeeper(cluster: Cluster) -> Iterator[KazooClient]:
    client = KazooClient(cluster.state().zookeeper)
    client.start()
    try:
        yield client
    finally:
        client.stop()
        client.close()


@contextlib.contextmanager
def _watching(target: Target, addresses: Sequence[tuple[str, int]]) -> Iterator[_Watch]:
    with pinging(addresses) as pinger:
        watch = _Watch(target, pinger)
        yield watch
        watch.stop()


class _Watch:
    """Wall clock, the cluster's CPU, the longest hold of a block.

    Of processes that ended or began in the block the CPU is not known.
    """

    def __init__(self, target: Target, pinger: Pinger) -> None:
        self._target = target
        self._pinger = pinger
        self._cpu_before = target.cpu_s()
        self._started = time.perf_counter()
        self._seconds = 0.0

    def stop(self) -> None:
        self._seconds = time.perf_counter() - self._started

    def times(self) -> Figures:
        return {"s": self._seconds, "hold ms": self._pinger.longest_ms}

    def figures(self, count: int, what: str) -> Figures:
        cpu_s = self._target.cpu_s() - self._cpu_before
        return {
            f"{what}/s": count / self._seconds,
            f"CPU ms/{what.removesuffix('s')}": cpu_s / count * 1e3,
            "hold ms": self._pinger.longest_ms,
        }


class _Filled:
    """The cluster and how it is filled, asked and hurt."""

    def __init__(self, cluster: Cluster, zookeeper: KazooClient) -> None:
        self.cluster = cluster
        self._zookeeper = zookeeper
        bootstrap = cluster.state().bootstrap_servers
        self._admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})

    def target(self) -> Target:
        state = self.cluster.state()
        supervisor = psutil.Process(state.supervisor_pid)
        return Target(
            NAME,
            state.bootstrap_servers,
            tuple(broker.pid for broker in state.brokers if broker.pid is not None),
            (supervisor.pid, *(child.pid for child in supervisor.children(recursive=True))),
        )

    def fill(self, size: int) -> Figures:
        names = [f"filled-{number}" for number in range(size // _PARTITIONS_PER_TOPIC)]
        with self._watch() as watch:
            for start in range(0, len(names), _TOPICS_PER_REQUEST):
                self._create(names[start : start + _TOPICS_PER_REQUEST], _PARTITIONS_PER_TOPIC)
        return watch.figures(size, "partitions")

    def idle(self) -> Figures:
        target = self.target()
        wait_until_quiet([target])
        before = target.cpu_s()
        time.sleep(_IDLE_S)
        return {"CPU % of a core": (target.cpu_s() - before) / _IDLE_S * 100}

    def in_flight(self) -> dict[str, float]:
        figures = latency.run(self.target(), _BROKERS, _MESSAGES, _MESSAGES_S)
        return {name: figures[name] for name in ("p50 ms", "p99 ms")}

    def topics(self, count: int) -> Iterator[tuple[str, Figures]]:
        for how, at_once in (("one request", count), ("one by one", 1)):
            names = [f"more-{at_once}-{number}" for number in range(count)]
            for what, act in (("created", self._create), ("deleted", self._delete)):
                groups = [names[start : start + at_once] for start in range(0, count, at_once)]
                with self._watch() as watch:
                    for group in groups:
                        act(group)
                    self._await(self._nothing_is_being_deleted)
                yield f"topics {what}, {how}", watch.figures(count, "topics")

    def failover(self, victim: int) -> Figures:
        with self._watch(without=victim) as watch:
            kill_broker(self.cluster, victim)
            self._await(
                lambda: not any(one.leader in (NO_LEADER, victim) for one in self._partitions())
            )
        return watch.times()

    def come_back(self, victim: int) -> Figures:
        with self._watch(without=victim) as watch:
            self.cluster.start(victim, timeout=_TIMEOUT_S)
            self._await(lambda: all(len(one.isrs) == _BROKERS for one in self._partitions()))
        return watch.times()

    def _create(self, names: Sequence[str], partitions: int = 1) -> None:
        wanted = [NewTopic(name, partitions, _BROKERS) for name in names]
        _await_all(self._admin.create_topics(wanted, request_timeout=_TIMEOUT_S))

    def _delete(self, names: Sequence[str]) -> None:
        _await_all(self._admin.delete_topics(list(names), request_timeout=_TIMEOUT_S))

    def _partitions(self) -> list[Any]:
        topics = self._admin.list_topics(timeout=_TIMEOUT_S).topics.values()
        return [one for topic in topics for one in topic.partitions.values()]

    def _nothing_is_being_deleted(self) -> bool:
        """The answer to DeleteTopics comes before that: when clients are told of it no more."""
        return not self._zookeeper.get_children(DELETE_TOPICS_PATH)

    def _watch(self, *, without: int | None = None) -> contextlib.AbstractContextManager[_Watch]:
        brokers = [one for one in self.cluster.state().brokers if one.broker_id != without]
        return _watching(self.target(), [(one.host, one.port) for one in brokers])

    def _await(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _TIMEOUT_S
        while not holds():
            if time.monotonic() > deadline:
                raise BenchmarkError(f"not so after {_TIMEOUT_S:g} s")
            time.sleep(_LOOK_S)


def _await_all(futures: Mapping[str, Future[None]]) -> None:
    """Raises BenchmarkError."""
    for topic, future in futures.items():
        try:
            future.result(_TIMEOUT_S)
        except KafkaException as error:
            raise BenchmarkError(f"topic {topic}: {error.args[0]}") from error
