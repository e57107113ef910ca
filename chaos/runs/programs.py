"""The workloads of a scenario, each a process of its own, by their names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from logquake.chaos.scenarios.setup import WorkloadSetup
from logquake.chaos.workloads.mixed import mix_of
from logquake.chaos.workloads.plan import Plan, WorkloadKind
from logquake.chaos.workloads.processes import (
    CommandProcess,
    Program,
    WorkloadProcess,
    end_all,
)
from logquake.cluster.errors import ClusterError


class Programs:
    """None of them outlives the block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: dict[str, Program] = {}
        self._killed: set[str] = set()

    def __enter__(self) -> Programs:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running.values():
            if process.is_running():
                process.kill()

    def begin(self, bootstrap: str, seed: int, setup: WorkloadSetup) -> None:
        """Raises ClusterError for options that make no sense."""
        if setup.command is not None:
            self._running[setup.name] = CommandProcess(
                setup.command, setup.name, self._folder, bootstrap
            )
            return
        for name, plan in plans(setup, bootstrap, seed, len(self._running)):
            self._running[name] = WorkloadProcess(plan, name, self._folder)

    def pause(self, name: str) -> None:
        self._named(name).pause()

    def resume(self, name: str) -> None:
        self._named(name).resume()

    def kill(self, name: str) -> None:
        self._named(name).kill()
        self._killed.add(name)

    def end(self, timeout_s: float) -> list[str]:
        """Let those that run come to their ends; what went wrong, in words. One that died without
        having been killed went wrong, whenever that was.
        """
        ending = [one for name, one in self._running.items() if name not in self._killed]
        return end_all(ending, timeout_s)

    def _named(self, name: str) -> Program:
        process = self._running.get(name)
        if process is None:
            raise ClusterError(f"there is no program {name}: there are {', '.join(self._running)}")
        return process


def plans(
    setup: WorkloadSetup, bootstrap: str, seed: int, ordinal: int
) -> Iterator[tuple[str, Plan]]:
    """Names and plans; one of kind mixed is many. Raises ClusterError."""
    try:
        plan = Plan.of(setup.kind, bootstrap, {"seed": seed, "ordinal": ordinal, **setup.options})
    except ValueError as error:
        raise ClusterError(f"the workload {setup.name}: {error}") from None
    if plan.kind is WorkloadKind.MIXED:
        yield from mix_of(plan)
    else:
        yield setup.name, plan
