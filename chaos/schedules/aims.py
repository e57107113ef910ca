"""The drawn fault of each kind: its victims, its figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from logquake.chaos.faults.any_fault import AnyFault
from logquake.chaos.faults.links import Cut, Delay, Inject, Isolate, Partition, Reset, Throttle
from logquake.chaos.faults.machines import ClockSkew, DiskFull, PowerLoss, SlowDisk, Starve
from logquake.chaos.faults.membership import DeleteController, ExpireSession, Wipe
from logquake.chaos.faults.processes import Kill, Pause, Restart, RestartStorm, Stop

CLIENTS, ZOOKEEPER = "clients", "zookeeper"

# Errors after which a client tries again, whatever it sent.
RETRIED_ERRORS = ("NOT_LEADER_OR_FOLLOWER", "REQUEST_TIMED_OUT")


@dataclass(frozen=True, slots=True)
class Aims:
    """What a schedule may aim at: brokers by id, partitions as ``orders/0``."""

    brokers: Sequence[int]
    partitions: Sequence[str]

    def broker(self, random: Random) -> str:
        """One by its id, by what it leads or follows, or for its office."""
        partition = random.choice(self.partitions) if self.partitions else None
        forms = [str(random.choice(self.brokers)), "controller"]
        if partition is not None:
            forms += [f"leader:{partition}", f"follower:{partition}"]
        return random.choice(forms)

    def link(self, random: Random) -> tuple[str, str]:
        """Two ends, one of them a broker."""
        one = f"broker-{random.choice(self.brokers)}"
        others = [f"broker-{broker}" for broker in self.brokers if f"broker-{broker}" != one]
        other = random.choice([*others, CLIENTS, ZOOKEEPER])
        return (one, other) if random.random() < 0.5 or other == ZOOKEEPER else (other, one)

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


def _inject(random: Random, aims: Aims) -> Inject:
    """A producer's request is refused, or its answer lost, a few times."""
    api, source = "Produce", CLIENTS
    target, times = str(random.choice(aims.brokers)), random.randrange(1, 6)
    if random.random() < 0.5:
        error = random.choice(RETRIED_ERRORS)
        return Inject(api=api, target=target, source=source, error=error, times=times)
    return Inject(api=api, target=target, source=source, close="response", times=times)


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
    "disk-full": lambda random, aims: DiskFull(target=aims.broker(random)),
    "slow-disk": lambda random, aims: SlowDisk(
        target=aims.broker(random), ms=random.choice((5, 50))
    ),
    "power-loss": lambda random, aims: PowerLoss(target=aims.broker(random)),
    "clock-skew": lambda random, aims: ClockSkew(
        target=aims.broker(random), ms=random.choice((-3_600_000, -500, 500, 3_600_000))
    ),
    "starve": lambda random, aims: Starve(
        target=aims.broker(random), share=random.choice((0.05, 0.3))
    ),
    "expire-session": lambda random, aims: ExpireSession(target=aims.broker(random)),
    "delete-controller": lambda _random, _aims: DeleteController(),
    "wipe": lambda random, aims: Wipe(target=aims.broker(random)),
}

# Those that take a broker away from the others, or from its clients, for as long as they last.
TAKING_AWAY = frozenset(
    {"kill", "stop", "pause", "restart", "restart-storm", "partition", "isolate", "disk-full"}
    | {"power-loss", "wipe"}
)
