"""A schedule, or steps, on a cluster that runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import zip_longest
from typing import assert_never

from logquake.chaos.runs.conditions import Waiting
from logquake.chaos.runs.conductor import Conductor, Standing
from logquake.chaos.runs.tally import Watch
from logquake.chaos.scenarios.setup import WorkloadSetup
from logquake.chaos.scenarios.steps import (
    EVERYTHING,
    Await,
    Begin,
    Condition,
    Heal,
    Rest,
    Start,
    Step,
)
from logquake.chaos.schedules.schedule import Planned, Schedule
from logquake.cluster.errors import ClusterError

# Faults that last, and those that are being begun or healed: a controlled stop takes its time.
_THREADS = 32


def play_schedule(schedule: Schedule, conductor: Conductor, waiting: Waiting) -> None:
    """Returns when the last fault is healed. Raises GivenUpError between two moments.

    Each fault's end waits for its beginning, whose time it takes: one that begins late is healed
    when it was to be healed, or as soon as it was begun.
    """
    started = time.monotonic()

    def wait_until(moment: float) -> None:
        waiting.rest(max(0.0, started + moment - time.monotonic()))

    with ThreadPoolExecutor(_THREADS, thread_name_prefix="fault") as threads:
        begun: dict[int, Future[Standing | None]] = {}
        ended: list[Future[None]] = []
        for moment, is_end, index in _moments(schedule):
            wait_until(moment)
            if is_end:
                ended.append(threads.submit(_heal_begun, conductor, begun.pop(index)))
            else:
                begun[index] = threads.submit(_begin, conductor, schedule[index])
    for future in ended:
        future.result()


def _moments(schedule: Schedule) -> list[tuple[float, bool, int]]:
    """When what is to be done: beginnings before the ends of the same moment."""
    begins = [(one.at, False, index) for index, one in enumerate(schedule)]
    return sorted(begins + [(one.ends, True, index) for index, one in enumerate(schedule)])


def _begin(conductor: Conductor, planned: Planned) -> Standing | None:
    return conductor.begin(planned.fault, why=str(planned))


def _heal_begun(conductor: Conductor, begun: Future[Standing | None]) -> None:
    standing = begun.result()
    if standing is not None:
        conductor.heal(standing)


def play_steps(
    steps: Sequence[Step],
    conductor: Conductor,
    waiting: Waiting,
    start: Callable[[WorkloadSetup], None],
    say: Callable[[str], None],
) -> None:
    """``start`` starts a program. Raises ClusterError: a fault can't be done, what is waited for
    does not come, the run was given up.
    """
    named: dict[str, Standing] = {}
    watch: Watch | None = None
    for step, following in zip_longest(steps, steps[1:]):
        begun, watch = watch, _watch_for(following, step, waiting)
        if step.say is not None:
            say(step.say)
        match step:
            case Begin():
                standing = conductor.begin(step.begin, why=step.say)
                if standing is None:
                    raise ClusterError(f"{step.begin} could not be done: the history says why")
                if step.name is not None:
                    named[step.name] = standing
            case Heal():
                _heal(step.heal, named, conductor)
            case Start():
                start(step.start)
            case Rest():
                waiting.rest(step.rest)
            case Await(condition=Condition(met=str(name))):
                waiting.until_met(named[name].performed, step.condition.times, step.within)
            case Await():
                waiting.until(_condition(step.condition, named), step.within, begun)
            case _:
                assert_never(step)


def _condition(condition: Condition, named: Mapping[str, Standing]) -> Condition:
    """With a broker's id in place of what was done to it."""
    if condition.other_than is None:
        return condition
    broker = int(named[condition.other_than].subject.rpartition("-")[2])
    return condition.model_copy(update={"not_broker": broker, "other_than": None})


def _watch_for(following: Step | None, step: Step, waiting: Waiting) -> Watch | None:
    """What a step does may be seen before it has returned."""
    if isinstance(following, Await) and isinstance(step, Begin | Heal | Start):
        return waiting.watch(following.condition)
    return None


def _heal(name: str, named: dict[str, Standing], conductor: Conductor) -> None:
    if name == EVERYTHING:
        conductor.heal_all()
    else:
        conductor.heal(named[name])
