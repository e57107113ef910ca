"""What every workload is handed: its plan, its name, its history, what it draws from."""

from __future__ import annotations

from random import Random

from logquake.chaos.history.writer import HistoryWriter
from logquake.chaos.workloads.clients import Settings
from logquake.chaos.workloads.plan import Option, Plan


class Life:
    """One life of one process."""

    def __init__(self, plan: Plan, process: str, history: HistoryWriter) -> None:
        self.plan = plan
        self.process = process
        self.history = history
        self.random = Random(f"{plan.seed}/{process}")

    @property
    def transactional_id(self) -> str:
        return self.plan.transactional_id_of(self.process)

    def settings(self, defaults: Settings) -> dict[str, Option]:
        """Those of a client, the plan's own before the defaults."""
        return {
            **defaults,
            **self.plan.settings,
            "bootstrap.servers": self.plan.bootstrap,
            "client.id": self.process,
        }
