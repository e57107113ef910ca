"""What stands in for the journals of brokers that keep none: Apache Kafka's.

events/broker-N.jsonl    what broker N printed of its offices and its log
events/zookeeper.jsonl   what was decided, by ZooKeeper's own log

They are written when all has ended: while the cluster runs nobody can wait for their rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from logquake.chaos.evidence.decided_rows import rows_of_decisions
from logquake.chaos.evidence.decisions import Decisions
from logquake.chaos.evidence.evidence import applied_in
from logquake.chaos.evidence.kafka_output import journal_of
from logquake.chaos.history.lines import to_line
from logquake.chaos.history.rows import Row
from logquake.cluster.layout import Layout
from logquake.cluster.state import ZOOKEEPER, broker_name


def write_journals(layout: Layout) -> None:
    """Raises OSError, DamagedLogError."""
    for folder in layout.root.glob("broker-*"):
        broker_id = int(folder.name.rpartition("-")[2])
        name = broker_name(broker_id)
        with layout.log_of(name).open(errors="replace") as lines:
            _write(layout.events / f"{name}.jsonl", journal_of(broker_id, lines))
    decisions = Decisions(applied_in(layout.root)).catch_up()
    _write(layout.events / f"{ZOOKEEPER}.jsonl", rows_of_decisions(decisions))


def _write(path: Path, rows: Iterable[Row]) -> None:
    path.write_bytes(b"".join(map(to_line, rows)))
