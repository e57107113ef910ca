"""What a run leaves behind, and where.

run.yaml        the scenario with its schedule: `logquake chaos replay` runs it again
history/        a file of JSON lines for each program, and the harness's own; what they printed
cluster/        the cluster's own folder: journals, logs, replicas' files, ZooKeeper's
outcome.json    what went other than planned
card.json       what each client did under each fault
verdict.json    what was judged, with every chain
report.html     the same for people
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from logquake.chaos.history.reader import journals_in
from logquake.cluster.errors import ClusterError
from logquake.cluster.layout import Layout


@dataclass(frozen=True, slots=True)
class RunFolder:
    root: Path

    @classmethod
    def at(cls, path: Path) -> Self:
        """Of a run's folder, or of the run.yaml in it."""
        return cls(path.parent if path.is_file() else path)

    @property
    def scenario(self) -> Path:
        return self.root / "run.yaml"

    @property
    def histories(self) -> Path:
        return self.root / "history"

    def history_of(self, process: str) -> Path:
        return self.histories / f"{process}.jsonl"

    @property
    def cluster(self) -> Layout:
        return Layout(self.root / "cluster")

    @property
    def links(self) -> Path:
        """What the links saw of clients, where they were asked to watch."""
        return self.history_of("links")

    @property
    def outcome(self) -> Path:
        return self.root / "outcome.json"

    @property
    def card(self) -> Path:
        return self.root / "card.json"

    @property
    def verdict(self) -> Path:
        return self.root / "verdict.json"

    @property
    def report(self) -> Path:
        return self.root / "report.html"

    def prepare(self) -> None:
        """Raises ClusterError: another run is kept there, or the folder can't be made."""
        if self.scenario.exists():
            raise ClusterError(
                f"{self.root} holds a run already: name another folder, or remove it"
            )
        try:
            for folder in (self.histories, self.cluster.root):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ClusterError(f"{self.root} can't be a run's folder: {error}") from error

    def history_files(self) -> list[Path]:
        """Of programs and the harness."""
        return sorted(self.histories.glob("*.jsonl"))

    def row_files(self) -> list[Path]:
        """Histories and journals, as `chaos/history/reader.py:read_history` takes them."""
        return [*self.history_files(), *journals_in(self.cluster.events)]

    def live_files(self) -> list[Path]:
        """Those that are written just now: without what was put aside of a journal."""
        return [path for path in self.row_files() if path.suffix == ".jsonl"]

    def remove_cluster(self) -> None:
        """The replicas' files are most of what a run weighs; their journals stay."""
        for member in self.cluster.root.iterdir():
            if member != self.cluster.events and member.is_dir():
                shutil.rmtree(member, ignore_errors=True)
