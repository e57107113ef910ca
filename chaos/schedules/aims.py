"""The drawn fault of each kind: its victims, its figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from logquake.chaos.faults.any_fault import AnyFault
from logquake.chaos.faults.links import (
    Cut,
    Delay,
    DropAfter,
    HalfOpen,
    Inject,
    Isolate,
    Partition,
    Reset,
    Throttle,
)
from logquake.chaos.faults.machines import (
    ClockJump,
    ClockSkew,
    CrashAt,
    DiskError,
    DiskFull,
    FileLimit,
    MemoryLimit,
    PowerLoss,
    ReadOnlyDisk,
    SlowDisk,
    SlowStart,
    Starve,
    TornWrite,
)
from logquake.chaos.faults.membership import (
    AddBroker,
    DeleteController,
    ExpireSession,
    Replace,
    Wipe,
)
from logquake.chaos.faults.processes import Kill, Pause, Restart, RestartStorm, Stop
from logquake.chaos.faults.zookeeper import KillZooKeeper, PauseZooKeeper
from logquake.cluster.faults.orders import CHANGES, SYNCS
from logquake.cluster.links.effects import CLIENTS
from logquake.cluster.observing.targets import ZOOKEEPER_ROLES
from logquake.cluster.state import ZOOKEEPER, is_zookeeper, zookeeper_names

# Errors after which a client tries again, whatever it sent.
RETRIED_ERRORS = ("NOT_LEADER_OR_FOLLOWER", "REQUEST_TIMED_OUT")

# The share of links that are aimed at which lie between its servers, where it has several.
_OF_ENSEMBLE = 0.2


@dataclass(frozen=True, slots=True)
class Aims:
    """What a schedule may aim at: brokers by id, partitions as ``orders/0``, ZooKeeper's servers
    by their number.
    """

    brokers: Sequence[int]
    partitions: Sequence[str]
    zookeepers: int = 1

    def broker(self, random: Random) -> str:
        """One by its id, by what it leads or follows, or for its office."""
        partition = random.choice(self.partitions) if self.partitions else None
        forms = [str(random.choice(self.brokers)), "controller"]
        if partition is not None:
            forms += [f"leader:{partition}", f"follower:{partition}"]
        return random.choice(forms)

    def link(self, random: Random) -> tuple[str, str]:
        """Two ends, one of them a broker; or a server of an ensemble, and all of its others."""
        if self.zookeepers > 1 and random.random() < _OF_ENSEMBLE:
            return random.choice(self._servers), ZOOKEEPER
        one = f"broker-{random.choice(self.brokers)}"
        others = [f"broker-{broker}" for broker in self.brokers if f"broker-{broker}" != one]
        other = random.choice([*others, CLIENTS, *self.ways_to_zookeeper])
        is_first = random.random() < 0.5 or is_zookeeper(other)
        return (one, other) if is_first else (other, one)

    @property
    def ways_to_zookeeper(self) -> tuple[str, ...]:
        """All servers at once, and each."""
        return (ZOOKEEPER, *(name for name in self._servers if name != ZOOKEEPER))

    def zookeeper(self, random: Random) -> str:
        """A server by its name, or of an ensemble for its office."""
        roles = tuple(ZOOKEEPER_ROLES) if self.zookeepers > 1 else ()
        return random.choice((*self._servers, *roles))

    @property
    def _servers(self) -> tuple[str, ...]:
        return zookeeper_names(self.zookeepers)

    def halves(self, random: Random) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The brokers in two groups, none empty."""
        mixed = random.sample(list(self.brokers), len(self.brokers))
        cut = random.randrange(1, len(mixed))
        return tuple(sorted(mixed[:cut])), tuple(sorted(mixed[cut:]))


def _delay(random: Random, aims: Aims) -> Delay:
    source, target = aims.link(random)
    ms = random.choice((20, 100, 400, 1500))
    return Delay(source=source, target=target, ms=ms, jitter_ms=random.choice((0, ms // 2)))


def _cut(random: Random, aims: Aims) -> Cut:
    source, target = aims.link(random)
    return Cut(source=source, target=target)


def _reset(random: Random, aims: Aims) -> Reset:
    source, target = aims.link(random)
    return Reset(source=source, target=target)


def _throttle(random: Random, aims: Aims) -> Throttle:
    source, target = aims.link(random)
    return Throttle(source=source, target=target, bytes_per_s=random.choice((10_000, 200_000)))


def _drop_after(random: Random, aims: Aims) -> DropAfter:
    source, target = aims.link(random)
    return DropAfter(source=source, target=target, bytes=random.choice((1_000, 100_000)))


def _half_open(random: Random, aims: Aims) -> HalfOpen:
    source, target = aims.link(random)
    return HalfOpen(source=source, target=target)


def _inject(random: Random, aims: Aims) -> Inject:
    """A client's request or a broker's is refused, late, or held up, or its answer is lost."""
    target = str(random.choice(aims.brokers))
    happens = random.choice(_HAPPENS)
    asked = {"target": target, "times": random.randrange(1, 6), "skip": random.randrange(3)}
    return Inject.model_validate({**asked, **happens})


# What of one API's requests, none of which anybody takes for an answer that it is not. A request
# that is held goes on its way when the fault ends.
_HAPPENS: Sequence[Mapping[str, object]] = (
    *({"api": "Produce", "source": CLIENTS, "error": error} for error in RETRIED_ERRORS),
    {"api": "Produce", "source": CLIENTS, "close": "response"},
    {"api": "Produce", "source": CLIENTS, "drop": "response"},
    {"api": "Produce", "source": CLIENTS, "delay_ms": 1_500, "of": "response"},
    {"api": "Fetch", "delay_ms": 1_500, "of": "response"},
    {"api": "Fetch", "close": "request"},
    {"api": "AlterPartition", "hold": True},
    {"api": "LeaderAndIsr", "delay_ms": 1_500},
    {"api": "UpdateMetadata", "close": "response"},
    {"api": "OffsetCommit", "source": CLIENTS, "close": "response"},
    {"api": "EndTxn", "source": CLIENTS, "close": "response"},
)


Aim = Callable[[Random, Aims], AnyFault]

AIMED: Mapping[str, Aim] = {
    "kill": lambda random, aims: Kill(target=aims.broker(random)),
    "stop": lambda random, aims: Stop(target=aims.broker(random)),
    "pause": lambda random, aims: Pause(target=aims.broker(random)),
    "restart": lambda random, aims: Restart(target=aims.broker(random)),
    "restart-storm": lambda random, aims: RestartStorm(target=aims.broker(random)),
    "partition": lambda random, aims: Partition(groups=aims.halves(random)),
    "isolate": lambda random, aims: Isolate(target=aims.broker(random)),
    "cut": _cut,
    "delay": _delay,
    "throttle": _throttle,
    "reset": _reset,
    "inject": _inject,
    "drop-after": _drop_after,
    "half-open": _half_open,
    "disk-full": lambda random, aims: DiskFull(target=aims.broker(random)),
    "read-only-disk": lambda random, aims: ReadOnlyDisk(target=aims.broker(random)),
    "disk-error": lambda random, aims: DiskError(
        target=aims.broker(random),
        call=random.choice(("write", "sync", "create", "rename")),
        nth=random.randrange(1, 50),
    ),
    "torn-write": lambda random, aims: TornWrite(target=aims.broker(random)),
    "crash-at": lambda random, aims: CrashAt(
        target=aims.broker(random),
        call=random.choice((*CHANGES, *SYNCS)),
        nth=random.randrange(1, 50),
    ),
    "slow-disk": lambda random, aims: SlowDisk(
        target=aims.broker(random), ms=random.choice((5, 50))
    ),
    "power-loss": lambda random, aims: PowerLoss(target=aims.broker(random)),
    "clock-skew": lambda random, aims: ClockSkew(
        target=aims.broker(random), ms=random.choice((-3_600_000, -500, 500, 3_600_000))
    ),
    "clock-jump": lambda random, aims: ClockJump(
        target=aims.broker(random),
        ms=random.choice((-3_600_000, -1_000, 1_000, 3_600_000)),
        every_ms=random.choice((100, 1_000)),
    ),
    "slow-start": lambda random, aims: SlowStart(
        target=aims.broker(random), ms=random.choice((500, 5_000))
    ),
    "memory-limit": lambda random, aims: MemoryLimit(
        target=aims.broker(random), limit_bytes=random.choice((1 << 28, 1 << 30))
    ),
    "file-limit": lambda random, aims: FileLimit(
        target=aims.broker(random), files=random.choice((48, 96))
    ),
    "starve": lambda random, aims: Starve(
        target=aims.broker(random), share=random.choice((0.05, 0.3))
    ),
    "kill-zookeeper": lambda random, aims: KillZooKeeper(target=aims.zookeeper(random)),
    "pause-zookeeper": lambda random, aims: PauseZooKeeper(target=aims.zookeeper(random)),
    "expire-session": lambda random, aims: ExpireSession(target=aims.broker(random)),
    "delete-controller": lambda _random, _aims: DeleteController(),
    "add-broker": lambda _random, _aims: AddBroker(),
    "wipe": lambda random, aims: Wipe(target=aims.broker(random), spare=True),
    "replace": lambda random, aims: Replace(target=aims.broker(random), spare=True),
}

# Those that take a broker away from the others, or from its clients, for as long as they last.
TAKING_AWAY = frozenset(
    {"kill", "stop", "pause", "restart", "restart-storm", "partition", "isolate", "disk-full"}
    | {"power-loss", "wipe", "replace", "read-only-disk", "disk-error", "torn-write", "crash-at"}
    | {"memory-limit", "file-limit"}
)
