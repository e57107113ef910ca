"""What is done to brokers under a stream: to whom, what and for how long is drawn from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from random import Random

from logquake.cluster.running.cluster import RunningCluster
from logquake.cluster.running.fault import Fault

LONGEST_S = 8.0


class Deed(Enum):
    KILL = "kill -9"
    PAUSE = "pause"
    CUT = "cut off"


# Kills are what a stream has to get over above all. A cut takes a cluster with links.
DEEDS = (Deed.KILL, Deed.KILL, Deed.PAUSE)
DEEDS_WITH_LINKS = (*DEEDS, Deed.CUT)


@dataclass(frozen=True, slots=True)
class BrokerStrike:
    deed: Deed
    victim: str  # as targets are written, so that it is who has the office at that moment
    lasts_s: float

    def __str__(self) -> str:
        return f"{self.deed.value} of {self.victim} for {self.lasts_s:.1f} s"


@dataclass(frozen=True, slots=True)
class Offices:
    """Who can be struck: whoever leads a partition of the topics, coordinates, or controls."""

    topics: tuple[str, ...]
    partitions: int
    coordinators: int  # partitions of each of the internal topics

    def draw(self, random: Random) -> str:
        role = random.choice(("leader", "transactions", "marks", "controller"))
        match role:
            case "leader":
                topic, partition = random.choice(self.topics), random.randrange(self.partitions)
                return f"leader:{topic}/{partition}"
            case "transactions":
                return f"leader:__transaction_state/{random.randrange(self.coordinators)}"
            case "marks":
                return f"leader:__consumer_offsets/{random.randrange(self.coordinators)}"
            case _:
                return "controller"


def draw(random: Random, offices: Offices, deeds: tuple[Deed, ...]) -> BrokerStrike:
    return BrokerStrike(random.choice(deeds), offices.draw(random), random.uniform(0, LONGEST_S))


def begin(kafka: RunningCluster, strike: BrokerStrike) -> Fault:
    """Raises ClusterError, as where nobody has that office at the moment."""
    match strike.deed:
        case Deed.KILL:
            return kafka.kill(strike.victim)
        case Deed.PAUSE:
            return kafka.pause(strike.victim)
        case Deed.CUT:
            return kafka.isolate(strike.victim)
