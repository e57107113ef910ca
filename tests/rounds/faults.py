"""What is done to a broker in a round, and for how long: drawn from a seed before it begins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from random import Random

from logquake.cluster.running.cluster import RunningCluster
from tests.starving.starver import Starver

LONGEST_S = 4.0


class Kind(Enum):
    KILL = "kill -9"
    STOP = "controlled shutdown"
    PAUSE = "pause"
    BOUNCE = "kill -9 and start at once"


# Kills are what the rounds are for.
KINDS = (Kind.KILL, Kind.KILL, Kind.BOUNCE, Kind.STOP, Kind.PAUSE)


@dataclass(frozen=True, slots=True)
class Fault:
    kind: Kind
    broker_id: int
    lasts_s: float  # 0 for BOUNCE

    def __str__(self) -> str:
        lasting = f" for {self.lasts_s:.1f} s" if self.lasts_s else ""
        return f"{self.kind.value} of broker {self.broker_id}{lasting}"


def draw(random: Random, brokers: int, kinds: tuple[Kind, ...] = KINDS) -> Fault:
    kind, broker_id = random.choice(kinds), random.randint(1, brokers)
    lasts_s = random.uniform(0, LONGEST_S)
    return Fault(kind, broker_id, 0.0 if kind is Kind.BOUNCE else lasts_s)


@contextmanager
def struck(
    kafka: RunningCluster, fault: Fault, starver: Starver | None, start_timeout_s: float
) -> Iterator[None]:
    """The fault lasts as long as the block; its end undoes it. Raises ClusterError."""
    match fault.kind:
        case Kind.KILL | Kind.BOUNCE:
            kafka.kill(fault.broker_id)
            yield
            kafka.start(fault.broker_id, timeout=start_timeout_s)
        case Kind.STOP:
            kafka.stop(fault.broker_id)
            yield
            kafka.start(fault.broker_id, timeout=start_timeout_s)
        case Kind.PAUSE:
            with _paused(kafka, fault.broker_id, starver):
                yield


@contextmanager
def _paused(kafka: RunningCluster, broker_id: int, starver: Starver | None) -> Iterator[None]:
    (pid,) = [one.pid for one in kafka.state().brokers if one.broker_id == broker_id]
    if starver is None or pid is None:
        with _pause(kafka, broker_id):
            yield
    else:
        with starver.sparing(pid), _pause(kafka, broker_id):
            yield


@contextmanager
def _pause(kafka: RunningCluster, broker_id: int) -> Iterator[None]:
    kafka.pause(broker_id)
    yield
    kafka.resume(broker_id)
