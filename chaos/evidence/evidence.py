"""All that a run left behind, as checkers are handed it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from logquake.chaos.evidence.log_files import read_logs
from logquake.chaos.evidence.stored import StoredLog
from logquake.chaos.history.reader import read_history
from logquake.chaos.history.rows import Row
from logquake.zk.applied import Applied
from logquake.zk.transaction_log.files import agreed, read_server


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is empty was not gathered, and what would need it is not judged.

    ``rows`` are of clients and the harness, or in their place ``columns``, a Parquet file of them.
    ``journals`` are of brokers; ``logs`` by partition and broker; ``applied`` by zxid. ``defaults``
    are the brokers' settings that topics begin with, by topics' own names of them. ``is_quiet``:
    all was healed, and replicas had the time to catch up.
    """

    rows: Iterable[Row] = ()
    journals: Iterable[Row] = ()
    logs: Mapping[str, Mapping[int, StoredLog]] = field(default_factory=dict)
    applied: Sequence[Applied] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)
    is_quiet: bool = True
    columns: Path | None = None


def gather_evidence(
    histories: Iterable[Path],
    root: Path,
    *,
    defaults: Mapping[str, str] | None = None,
    is_quiet: bool = True,
) -> Evidence:
    """Of a cluster whose state directory is ``root``, and of what its clients wrote.

    Raises HistoryError, DamagedLogError, OSError.
    """
    return Evidence(
        rows=read_history(histories),
        journals=read_history(sorted((root / "events").glob("broker-*.jsonl"))),
        logs=read_logs(_data_dirs(root)),
        applied=agreed([list(read_server(path)) for path in _zookeepers(root)]),
        defaults=defaults or {},
        is_quiet=is_quiet,
    )


def _data_dirs(root: Path) -> dict[int, list[Path]]:
    found: dict[int, list[Path]] = {}
    for directory in sorted(root.glob("broker-*/data*")):
        found.setdefault(int(directory.parent.name.rpartition("-")[2]), []).append(directory)
    return found


def _zookeepers(root: Path) -> list[Path]:
    """The data directories of the one server, or of an ensemble's."""
    return sorted(path.parent for path in root.glob("zookeeper*/**/version-2"))
