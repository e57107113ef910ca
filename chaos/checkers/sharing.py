"""A run whose history is longer than memory: judged share by share of its partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from logquake.chaos.checkers.case import Case
from logquake.chaos.checkers.demands import Demands
from logquake.chaos.checkers.judging import conclude, survey
from logquake.chaos.checkers.verdicts import Judgement
from logquake.chaos.evidence.clients import Share
from logquake.chaos.evidence.evidence import (
    Evidence,
    applied_in,
    journals_of,
    logs_of,
    partitions_kept,
)
from logquake.chaos.evidence.shares import cut, read_share, wide_rows

ROWS_OF_A_SHARE = 4_000_000  # of a history; such a share takes some 1.5 GB
_NOTHING: Share = frozenset()


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
    return judge_shares(
        lambda share: evidence_of(common, read_share(history, share), root, share),
        shares_of(history, root, rows_of_a_share),
        demands or Demands(),
    )


def judge_shares(
    of_share: Callable[[Share], Evidence], shares: Iterable[Share], demands: Demands
) -> Judgement:
    """One share's evidence is in memory at a time; that of no partition is what all have."""
    surveys = [survey(Case(of_share(share), demands)) for share in shares]
    return conclude(Case(of_share(_NOTHING), demands), surveys)


def common_evidence(root: Path | None) -> Evidence:
    """What every share has: nothing of clients, no logs."""
    if root is None:
        return Evidence()
    return Evidence(journals=list(journals_of(root)), applied=applied_in(root))


def shares_of(history: Path, root: Path | None, most_rows: int) -> Sequence[Share]:
    """Every partition that is in the history or has a log is in one of them."""
    sizes = wide_rows(history)
    sizes.update(dict.fromkeys(partitions_kept(root) if root else (), 1))
    return cut(sizes, most_rows) or (_NOTHING,)


def evidence_of(
    common: Evidence, columns: Iterable[pa.RecordBatch], root: Path | None, share: Share
) -> Evidence:
    """What all have, with the share's own: its rows, and its replicas' logs."""
    logs = logs_of(root, share) if root is not None and share else {}
    return replace(common, columns=columns, logs=logs, share=share)
