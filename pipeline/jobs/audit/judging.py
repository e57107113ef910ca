"""A chaos run's history judged by Spark: the invariants of chaos/checkers, partition by partition.

Rows about one partition alone, the mass of a history, are grouped by it; Spark does so on disk, and
one task holds one partition. All other rows are collected, few as they are, and every task has
them. The verdicts are those of `logquake.chaos.checkers`: its own functions find them.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from logquake.chaos.checkers.case import Case
from logquake.chaos.checkers.demands import Demands
from logquake.chaos.checkers.judging import Survey, conclude, survey
from logquake.chaos.checkers.sharing import common_evidence, evidence_of, partitions_of
from logquake.chaos.checkers.verdicts import Judgement
from logquake.chaos.evidence.clients import Share
from logquake.chaos.evidence.evidence import Evidence
from logquake.chaos.evidence.shares import OF_ONE_PARTITION
from logquake.chaos.history.parquet import ROWS_OF_A_GROUP, SCHEMA, with_dictionaries
from logquake.pipeline.jobs.audit.runs import Audited

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NO_ROWS = SCHEMA.empty_table()
_SURVEY = "partition string, survey binary"


def audit(run: Audited) -> Judgement:
    """Raises HistoryError, DamagedLogError, OSError, and what a Spark job raises
    (PySparkException).
    """
    from pyspark.sql import functions

    is_of_one = functions.col("what").isin(sorted(OF_ONE_PARTITION))
    common_rows = run.rows.where(~is_of_one).toArrow().cast(SCHEMA)
    gathered = common_evidence(run.root)
    common = replace(run.known, journals=gathered.journals, applied=gathered.applied)
    judge = _Judge(common_rows, common, run.root, run.demands)
    found = dict(_surveyed(run.rows.where(is_of_one), judge))
    rest = judge.survey(_NO_ROWS, partitions_of(common, run.root) - set(found))
    return conclude(judge.case(_NO_ROWS, frozenset()), [*found.values(), rest])


@dataclass(frozen=True)
class _Judge:
    """What every share has, and how one is surveyed: all of it goes to every task."""

    common_rows: pa.Table
    common: Evidence
    root: Path | None
    demands: Demands

    def survey(self, own: pa.Table, share: Share) -> Survey:
        return survey(self.case(own, share))

    def case(self, own: pa.Table, share: Share) -> Case:
        batches = pa.concat_tables([self.common_rows, own]).to_batches(ROWS_OF_A_GROUP)
        columns = map(with_dictionaries, batches)
        return Case(evidence_of(self.common, columns, self.root, share), self.demands)


def _surveyed(own: DataFrame, judge: _Judge) -> Iterator[tuple[str, Survey]]:
    surveys = own.groupBy("subject").applyInArrow(_task(judge), _SURVEY)
    # All at once: one after the other would keep all cores but one waiting.
    for row in surveys.collect():
        yield row["partition"], pickle.loads(row["survey"])


def _task(judge: _Judge) -> Callable[[pa.Table], pa.Table]:
    def task(rows: pa.Table) -> pa.Table:
        partition = rows.column("subject")[0].as_py()
        found = judge.survey(rows.cast(SCHEMA), frozenset({partition}))
        return pa.table({"partition": [partition], "survey": [pickle.dumps(found)]})

    return task
