"""What is audited: rows of clients and the harness, and what the cluster they are about left."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from logquake.chaos.checkers.demands import Demands
from logquake.chaos.evidence.evidence import Evidence
from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.judging import demands_of, known_of
from logquake.chaos.runs.outcome import Outcome
from logquake.chaos.scenarios.files import read_scenario
from logquake.pipeline.options.values import OptionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Audited:
    """``rows`` have a history's columns; ``root`` is the cluster's state directory, which executors
    read too; ``known`` says how the run ended, and the brokers' defaults.
    """

    name: str
    rows: DataFrame
    root: Path | None = None
    known: Evidence = field(default_factory=Evidence)
    demands: Demands = field(default_factory=Demands)


def audited(spark: SparkSession, path: Path, root: Path | None = None) -> Audited:
    """Of a run's folder, which has all of it; or of a Parquet file of rows, with the state of the
    cluster in ``root``. Raises OptionError for others, ClusterError, OSError.
    """
    if path.is_dir():
        return _of_folder(spark, RunFolder(path.resolve()))
    if not path.is_file():
        raise OptionError(f"{path}: there is no such file, and no folder of a run")
    return Audited(path.stem, spark.read.parquet(str(path.resolve())), root and root.resolve())


def _of_folder(spark: SparkSession, folder: RunFolder) -> Audited:
    for file in (folder.scenario, folder.outcome):
        if not file.is_file():
            raise OptionError(f"{folder.root}: it has no {file.name}, as a run that ended has")
    scenario = read_scenario(folder.scenario.read_text(), str(folder.scenario))
    outcome = Outcome.from_json(json.loads(folder.outcome.read_text()))
    lines = spark.read.format("logquake.journal").load(str(folder.histories))
    return Audited(
        folder.root.name,
        # Everything that is asked of them would parse the lines anew.
        lines.persist(),
        folder.cluster.root,
        known_of(scenario, outcome),
        demands_of(scenario),
    )
