"""A storm and a seed to a schedule."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from logquake.chaos.schedules.aims import AIMED, TAKING_AWAY, Aims
from logquake.chaos.schedules.schedule import Planned, Schedule
from logquake.chaos.schedules.storm import Storm
from logquake.cluster.errors import ClusterError

SECONDS_A_MINUTE = 60.0


def draw(storm: Storm, aims: Aims, seed: int) -> Schedule:
    """The same schedule for the same storm, aims and seed, in the order of beginnings.

    Raises ClusterError for a kind that no seed can draw.
    """
    unknown = sorted(set(storm.kinds) - set(AIMED))
    if unknown:
        raise ClusterError(f"{unknown[0]} is not drawn from a seed: choose of {', '.join(AIMED)}")
    random = Random(seed)
    drawn: list[Planned] = []
    away: list[float] = []  # when what takes a broker away ends
    for at in _beginnings(storm, random):
        lasting = round(random.uniform(storm.shortest, storm.longest), 3)
        away = [end for end in away if end > at]
        kinds = _allowed(storm, len(away))
        if kinds:
            kind = random.choices(list(kinds), list(kinds.values()))[0]
            fault = AIMED[kind](random, aims)
            lasting = round(min(lasting, storm.duration - at), 3)
            drawn.append(Planned(at=at, lasting=lasting, fault=fault))
            if kind in TAKING_AWAY:
                away.append(drawn[-1].ends)
    return tuple(drawn)


def _beginnings(storm: Storm, random: Random) -> list[float]:
    """A Poisson process of which one knows how often it comes: each moment is any moment."""
    count = round(storm.per_minute * storm.duration / SECONDS_A_MINUTE)
    end = max(0.0, storm.duration - storm.calm)
    return sorted(round(random.uniform(0.0, end), 3) for _ in range(count))


def _allowed(storm: Storm, away: int) -> Mapping[str, float]:
    """Kinds that do not take one broker more away than may be missing."""
    if away < storm.broken_at_once:
        return storm.kinds
    return {kind: weight for kind, weight in storm.kinds.items() if kind not in TAKING_AWAY}
