"""A run whose history is longer than memory: judged share by share of its partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from logquake.chaos.checkers.case import Case
from logquake.chaos.checkers.demands import Demands
from logquake.chaos.checkers.judging import conclude, judge, survey
from logquake.chaos.checkers.verdicts import Judgement
from logquake.chaos.evidence.clients import Share
from logquake.chaos.evidence.evidence import (
    Evidence,
    applied_in,
    journals_of,
    logs_of,
    partitions_kept,
)
from logquake.chaos.evidence.shares import cut, partition_sizes, read_share
from logquake.chaos.history.parquet import read_columns

ROWS_OF_A_SHARE = 4_000_000  # of a history; such a share takes some 0.8 GB
_NOTHING: Share = frozenset()

# What was left behind beside these rows, which are of that share; None is the whole.
Beside = Callable[[Iterable[pa.RecordBatch], Share | None], Evidence]


def judge_file(
    history: Path,
    root: Path | None = None,
    demands: Demands | None = None,
    rows_of_a_share: int = ROWS_OF_A_SHARE,
) -> Judgement:
    """The same verdicts as of the whole at once, in the memory of one share.

    ``history`` is a Parquet file of rows by time, ``root`` the state directory of the cluster that
    they are about. Raises HistoryError, DamagedLogError, OSError.
    """
    common = common_evidence(root)
    return judge_history(
        history,
        lambda columns, share: evidence_of(common, columns, root, share),
        shares_of(history, partitions_of(common, root), rows_of_a_share),
        demands or Demands(),
    )


def judge_history(
    history: Path, evidence: Beside, shares: Sequence[Share], demands: Demands
) -> Judgement:
    """One share's evidence is in memory at a time; that of no partition is what all have."""

    def case(share: Share) -> Case:
        return Case(evidence(read_share(history, share), share), demands)

    if len(shares) == 1:
        return judge(evidence(read_columns(history), None), demands)
    return conclude(case(_NOTHING), [survey(case(share)) for share in shares])


def common_evidence(root: Path | None) -> Evidence:
    """What every share has: nothing of clients, no logs."""
    if root is None:
        return Evidence()
    return Evidence(journals=list(journals_of(root)), applied=applied_in(root))


def partitions_of(common: Evidence, root: Path | None) -> frozenset[str]:
    """That have a state or a log, whether or not clients had to do with them."""
    return frozenset(Case(common).all_states) | (partitions_kept(root) if root else frozenset())


def shares_of(history: Path, others: Iterable[str], most_rows: int) -> Sequence[Share]:
    """Every partition that is in the history, or among the others, is in one of them."""
    sizes = partition_sizes(history)
    sizes.update(dict.fromkeys(others, 1))
    return cut(sizes, most_rows) or (_NOTHING,)


def evidence_of(
    common: Evidence, columns: Iterable[pa.RecordBatch], root: Path | None, share: Share | None
) -> Evidence:
    """What all have, with the share's own, or the whole's: its rows, and its replicas' logs."""
    logs = logs_of(root, share) if root is not None and share != _NOTHING else {}
    return replace(common, columns=columns, logs=logs, share=share)
