"""What a failed test is told with, and the folder that is kept of its cluster.

report.txt      the section of the test's report
clients.jsonl   what clients asked and were answered, where there are links
events/, logs/  the brokers' journals, and what they printed
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from logquake.chaos.card.table import as_table
from logquake.chaos.history.reader import HistoryError
from logquake.chaos.plugin.client_history import ClientHistory
from logquake.chaos.plugin.pool import Lent
from logquake.client.errors import ClientError
from logquake.cluster.errors import ClusterError
from logquake.cluster.layout import Layout
from logquake.cluster.observing.event_log import EventLog
from logquake.cluster.observing.tables import (
    MEMBER_COLUMNS,
    PARTITION_COLUMNS,
    as_text,
    member_rows,
    partition_rows,
)
from logquake.cluster.running.cluster import RunningCluster

EVENTS_A_BROKER = 50
FOLDER_NAME_LENGTH = 100


@dataclass(frozen=True, slots=True)
class FailedTest:
    """``run_again`` is the command line for it; ``folder`` is where what is kept goes."""

    seed: str
    run_again: str
    folder: Path


def report_failure(test: FailedTest, lent: Lent) -> str:
    """The report, once its folder is written. Raises ClusterError, OSError."""
    cluster = lent.cluster
    text = "\n\n".join(
        [
            _titled("what was done to the cluster", _deeds(cluster)),
            _titled("leaders and ISRs", _state(cluster)),
            *_verdict(cluster.history),
            *_events(cluster.layout, lent.since_ms),
            _epilogue(test, lent),
        ]
    )
    _keep(test.folder, cluster.layout, cluster.history, text)
    return text


def folder_name(node_id: str) -> str:
    """Of a test's id, so that it is a name of one folder."""
    return re.sub(r"[^\w.-]+", "-", node_id.removesuffix("]")).strip("-")[-FOLDER_NAME_LENGTH:]


def _titled(title: str, text: str) -> str:
    return f"{title}:\n{text}"


def _deeds(cluster: RunningCluster) -> str:
    return "\n".join(map(str, cluster.deeds.done)) or "nothing"


def _state(cluster: RunningCluster) -> str:
    members = as_text(MEMBER_COLUMNS, member_rows(cluster.state(), None))
    try:
        partitions = cluster.view.all_partitions()
    except ClusterError as error:
        return f"{members}\n\n{error}"
    shown = {one: state for one, state in partitions.items() if not one.topic.startswith("__")}
    return f"{members}\n\n{as_text(PARTITION_COLUMNS, partition_rows(shown))}"


def _verdict(history: ClientHistory) -> Iterator[str]:
    """What clients were told, held against what is there; nothing where nobody knows of an ack."""
    acked = history.acked_count()
    if not acked:
        return
    try:
        lost = history.lost()
        did = as_table(history.card()) if history.is_watched else None
    except (ClusterError, ClientError, HistoryError, OSError) as error:
        yield _titled("verdict", f"{acked} acked; what is left of them can't be read: {error}")
        return
    whole = f"{acked} acked, none is lost"
    yield _titled(
        "verdict", "\n".join([f"{acked} acked, LOST: {len(lost)}", *lost]) if lost else whole
    )
    if did is not None:
        yield _titled("what clients did", did)


def _events(layout: Layout, since_ms: int) -> Iterator[str]:
    for journal in sorted(layout.events.glob("broker-*.jsonl")):
        broker_id = int(journal.stem.removeprefix("broker-"))
        lines = list(EventLog(layout, broker_id).lines(since_ms, internal=False))[-EVENTS_A_BROKER:]
        yield _titled(f"last events of broker {broker_id}", "\n".join(lines) or "none")


def _epilogue(test: FailedTest, lent: Lent) -> str:
    spec = lent.cluster.spec
    lines = [
        f"{spec.brokers} brokers, preset {spec.preset}, seed {test.seed}",
        f"run it again: {test.run_again}",
        f"kept: {test.folder}",
    ]
    if lent.is_kept:
        where = f"--data-dir {lent.cluster.layout.root}"
        lines.append(f"it runs on: logquake status {where}; logquake down {where} ends it")
    return "\n".join(lines)


def _keep(folder: Path, layout: Layout, history: ClientHistory, text: str) -> None:
    """What an earlier run of the test kept is replaced."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "report.txt").write_text(text + "\n")
    shutil.copytree(layout.events, folder / "events")
    if history.file.exists():
        shutil.copy(history.file, folder)
    shutil.copytree(layout.log_of("broker-0").parent, folder / "logs")
