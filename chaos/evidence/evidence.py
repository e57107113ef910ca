"""All that a run left behind, as checkers are handed it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from logquake.chaos.evidence.clients import Share
from logquake.chaos.evidence.log_files import Logs, partition_dirs, read_logs
from logquake.chaos.evidence.stored import StoredLog
from logquake.chaos.history.line_columns import read_line_columns
from logquake.chaos.history.reader import journals_in, read_history
from logquake.chaos.history.rows import Row
from logquake.zk.applied import Applied
from logquake.zk.transaction_log.files import agreed, read_server


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is empty was not gathered, and what would need it is not judged.

    ``rows`` are of clients and the harness; in their place ``columns`` may be batches of them. Both
    are in any order.
    ``journals`` are of brokers; ``logs`` by partition and broker; ``applied`` by zxid. ``defaults``
    are the brokers' settings that topics begin with, by topics' own names of them. ``is_healed``:
    all faults were ended, and there was a time in which to recover; ``is_quiet``: and all replicas
    caught up in it. ``share``: ``columns`` and ``logs`` are of these partitions only; None is all.
    """

    rows: Iterable[Row] = ()
    journals: Iterable[Row] = ()
    logs: Mapping[str, Mapping[int, StoredLog]] = field(default_factory=dict)
    applied: Sequence[Applied] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)
    is_quiet: bool = True
    is_healed: bool = True
    columns: Iterable[pa.RecordBatch] | None = None
    share: Share | None = None


def gather_evidence(
    histories: Iterable[Path],
    root: Path,
    *,
    defaults: Mapping[str, str] | None = None,
    is_quiet: bool = True,
    is_healed: bool = True,
) -> Evidence:
    """Of a cluster whose state directory is ``root``, and of what its clients wrote.

    Raises HistoryError, DamagedLogError, OSError.
    """
    return Evidence(
        columns=read_line_columns(histories),
        journals=journals_of(root),
        logs=logs_of(root),
        applied=applied_in(root),
        defaults=defaults or {},
        is_quiet=is_quiet,
        is_healed=is_healed,
    )


def journals_of(root: Path) -> Iterator[Row]:
    """Of all brokers, by time. Raises HistoryError, OSError."""
    return read_history(journals_in(root / "events", "broker-*"))


def logs_of(root: Path, share: Share | None = None) -> Logs:
    """Of all partitions, or of these. Raises DamagedLogError, OSError."""
    return read_logs(_data_dirs(root), share)


def partitions_kept(root: Path) -> set[str]:
    """Of which some broker has a log."""
    directories = [each for of_broker in _data_dirs(root).values() for each in of_broker]
    return {str(partition) for each in directories for partition, _ in partition_dirs(each)}


def applied_in(root: Path) -> Sequence[Applied]:
    """What ZooKeeper's servers wrote, by zxid. Raises OSError."""
    return agreed([list(read_server(path)) for path in _zookeepers(root)])


def _data_dirs(root: Path) -> dict[int, list[Path]]:
    found: dict[int, list[Path]] = {}
    for directory in sorted(root.glob("broker-*/data*")):
        found.setdefault(int(directory.parent.name.rpartition("-")[2]), []).append(directory)
    return found


def _zookeepers(root: Path) -> list[Path]:
    """The data directories of the one server, or of an ensemble's."""
    return sorted(path.parent for path in root.glob("zookeeper*/**/version-2"))
