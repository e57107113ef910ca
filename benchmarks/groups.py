"""Consumer groups: commits, heartbeats, from subscribe to the first record, when a member leaves.

The members are this process's own (``clients``). What is measured is the group's coordinator, so
that no timer of a client's is to be waited for: a member that has to learn of a rebalance asks at
once, save that who is in a group while others come heartbeats every HEARTBEAT_S. Both targets have
group.initial.rebalance.delay.ms=0.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import median

from confluent_kafka import Producer

from benchmarks.clients.cluster import Cluster, Lines, OpenLines, look_at
from benchmarks.clients.driver import Pause, run, until
from benchmarks.clients.line import check, decoded
from benchmarks.clients.member import COMMIT_VERSION, HEARTBEAT_VERSION, Member
from benchmarks.clients.repeating import SameAgain, repeat
from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures
from benchmarks.rounds import Case
from benchmarks.stopwatch import Stopwatch
from benchmarks.target import Target
from benchmarks.topics import TIMEOUT_S, scratch_topic
from logquake.wire.messages.group_membership import HeartbeatResponse
from logquake.wire.messages.group_offsets import OffsetCommitResponse

CLIENTS = 20  # each alone in a group of its own, so that all brokers coordinate
HEARTBEAT_S = 0.1
# Groups that come and go in a run, by their members: enough for the kernel's ticks of CPU.
GROUPS_OF = {1: 100, 20: 10, 200: 2}
REBALANCING = (20, 200)
LEAVERS = 5

_WARM_UP_SHARE = 0.375

Run = Callable[[Target, Cluster, float], Figures]  # the last one is the share of a whole run


@contextlib.contextmanager
def groups_cases(targets: Sequence[Target], seconds: float) -> Iterator[list[Case[Target]]]:
    """The topics that the groups read are there for the length of the block."""
    with contextlib.ExitStack() as topics:
        clusters = {
            target.name: topics.enter_context(_readable(target.bootstrap, max(GROUPS_OF)))
            for target in targets
        }
        case = partial(_case, clusters)
        yield [
            case("commit", partial(_commit, seconds)),
            case("heartbeat", partial(_heartbeat, seconds)),
            *(
                case(f"subscribe to first record, group of {size}", partial(_subscribe, size))
                for size in GROUPS_OF
            ),
            *(case(f"one leaves, group of {size}", partial(_leave, size)) for size in REBALANCING),
        ]


@contextlib.contextmanager
def _readable(bootstrap: str, partitions: int) -> Iterator[Cluster]:
    """A record in each partition, one for each member."""
    with scratch_topic(bootstrap, partitions, 1) as topic:
        producer = Producer({"bootstrap.servers": bootstrap})
        for index in range(partitions):
            producer.produce(topic, b"first", partition=index)
        if producer.flush(TIMEOUT_S):
            raise BenchmarkError("a partition without its record")
        yield look_at(bootstrap, topic)


def _case(clusters: Mapping[str, Cluster], name: str, measured: Run) -> Case[Target]:
    return Case(
        name,
        lambda target: measured(target, clusters[target.name], 1.0),
        lambda target: measured(target, clusters[target.name], _WARM_UP_SHARE),
    )


def _commit(seconds: float, target: Target, cluster: Cluster, share: float) -> Figures:
    with OpenLines(cluster, CLIENTS) as lines:
        members = _lone_members(lines.of, cluster)
        acts = [
            SameAgain(each.coordinator, each.commit_frame(1), _look_at_commit) for each in members
        ]
        figures = repeat(target, acts, seconds * share, "commit")
        run(each.leave() for each in members)
    return figures


def _heartbeat(seconds: float, target: Target, cluster: Cluster, share: float) -> Figures:
    with OpenLines(cluster, CLIENTS) as lines:
        members = _lone_members(lines.of, cluster)
        acts = [
            SameAgain(each.coordinator, each.heartbeat_frame(), _look_at_heartbeat)
            for each in members
        ]
        figures = repeat(target, acts, seconds * share, "heartbeat")
        run(each.leave() for each in members)
    return figures


def _lone_members(lines: Sequence[Lines], cluster: Cluster) -> list[Member]:
    members = [Member(each, cluster, _new_group()) for each in lines]
    run(each.subscribe() for each in members)
    return members


def _look_at_commit(frame: bytes) -> None:
    answer = decoded(frame, OffsetCommitResponse, COMMIT_VERSION)
    for committed in answer.topics[0].partitions:
        check(committed.error_code, "OffsetCommit")


def _look_at_heartbeat(frame: bytes) -> None:
    check(decoded(frame, HeartbeatResponse, HEARTBEAT_VERSION).error_code, "Heartbeat")


def _subscribe(size: int, target: Target, cluster: Cluster, share: float) -> Figures:
    """All members of a group at once, of one group after the other."""
    waits_ms: list[float] = []
    with OpenLines(cluster, size) as lines, Stopwatch(target) as watch:
        for _ in range(max(1, round(GROUPS_OF[size] * share))):
            coming = _Coming(_members(lines.of, cluster))
            waits_ms += coming.settle()
            coming.leave()
    return _figures(waits_ms, watch, "member")


def _leave(size: int, target: Target, cluster: Cluster, share: float) -> Figures:
    """From the first that leaves to the last one's new assignment, of one after the other."""
    with OpenLines(cluster, size) as lines:
        members = _members(lines.of, cluster)
        _Coming(members).settle()
        with Stopwatch(target) as watch:
            waits_ms = [_leave_one(members) for _ in range(max(1, round(LEAVERS * share)))]
        run([members[0].leave(*members[1:])])
    return _figures(waits_ms, watch, "rebalance")


def _leave_one(members: list[Member]) -> float:
    started = time.perf_counter()
    run([members.pop().leave()])
    run(_enter_anew(each) for each in members)
    return (time.perf_counter() - started) * 1e3


async def _enter_anew(member: Member) -> None:
    if await member.is_settled():
        raise BenchmarkError("a member that is not told that another has left")
    await member.enter()


def _members(lines: Sequence[Lines], cluster: Cluster) -> list[Member]:
    group = _new_group()
    return [Member(each, cluster, group) for each in lines]


def _new_group() -> str:
    return f"benchmark-{os.urandom(4).hex()}"


class _Coming:
    """Members of one group that subscribe at once and stay until each has read a record."""

    def __init__(self, members: Sequence[Member]) -> None:
        self._members = members
        self._without_record = len(members)

    def settle(self) -> list[float]:
        """Milliseconds that each of them took."""
        return run(self._come(each) for each in self._members)

    def leave(self) -> None:
        first, *others = self._members
        run([first.leave(*others)])

    async def _come(self, member: Member) -> float:
        started = time.perf_counter()
        await member.subscribe()
        await member.read_first()
        took_ms = (time.perf_counter() - started) * 1e3
        self._without_record -= 1
        while self._without_record:
            await until(Pause(HEARTBEAT_S))
            if self._without_record and not await member.is_settled():
                await member.enter()
        return took_ms


def _figures(waits_ms: Sequence[float], watch: Stopwatch, what: str) -> Figures:
    figures = {
        "p50 ms": median(waits_ms),
        "worst ms": max(waits_ms),
        f"client ms/{what}": watch.client_cpu_s / len(waits_ms) * 1e3,
    }
    if watch.brokers_cpu_s is not None:
        figures[f"brokers ms/{what}"] = watch.brokers_cpu_s / len(waits_ms) * 1e3
    return figures
