"""One of each: producers of every sort, a mover, members of a group, and readers of both sorts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from threading import Event

from logquake.chaos.workloads.plan import Option, Plan, WorkloadKind
from logquake.chaos.workloads.processes import WorkloadProcess

_MANY = 64  # ordinals that a mix may use: the next one begins above
_LOOK_S = 0.2


def mix_of(plan: Plan) -> Iterator[tuple[str, Plan]]:
    """Names and plans. The topics are the plan's own, its target, and TOPIC-compacted."""
    first = plan.ordinal * _MANY
    for ordinal, (name, kind, options) in enumerate(_parts(plan), first):
        told = {**plan.options(), "ordinal": ordinal, **options}
        yield name, Plan.of(kind, plan.bootstrap, told)


def _parts(plan: Plan) -> Iterator[tuple[str, WorkloadKind, Mapping[str, Option]]]:
    yield "plain-1", WorkloadKind.PLAIN, {}
    yield "idempotent-1", WorkloadKind.IDEMPOTENT, {}
    yield "compacted-1", WorkloadKind.COMPACTED, {"topic": compacted_topic(plan)}
    yield "transactional-1", WorkloadKind.TRANSACTIONAL, {}
    for number in (1, 2):
        yield f"mover-{number}", WorkloadKind.MOVER, {"group": f"{plan.group}-moving"}
        yield f"member-{number}", WorkloadKind.MEMBER, {}
    for isolation in ("read_committed", "read_uncommitted"):
        yield f"reader-{isolation[5:]}", WorkloadKind.READER, {"isolation": isolation}
    yield "reader-moved", WorkloadKind.READER, {"topic": plan.target}


def compacted_topic(plan: Plan) -> str:
    return f"{plan.topic}-compacted"


def run_mixed(plan: Plan, folder: Path, stopping: Event) -> None:
    """Until all have ended, or are to. Raises WorkloadFailed."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        started = [
            stack.enter_context(WorkloadProcess(part, name, folder)) for name, part in mix_of(plan)
        ]
        while not stopping.wait(_LOOK_S) and any(each.is_running() for each in started):
            pass
        for each in started:
            each.ask_to_end()
        for each in started:
            each.wait()
