"""A workload's history when the cluster has no such topic."""

from __future__ import annotations

from pathlib import Path

from confluent_kafka import Producer

from logquake.chaos.history.outcomes import Outcome
from logquake.chaos.workloads.clients import IDEMPOTENT
from logquake.chaos.workloads.sending import Record, Sender
from logquake.chaos.workloads.sent_columns import SentColumns
from logquake.cluster.api import Cluster
from tests.waiting import PATIENCE_S, wait_for


def test_send_that_the_client_does_not_take_is_refused(tmp_path: Path) -> None:
    """Known to be in no log, so that a reader may hold it against the cluster if it shows up."""
    config = {"auto.create.topics.enable": "false"}
    with Cluster(brokers=1, config=config, data_dir=tmp_path / "cluster") as kafka:
        settings = {
            **IDEMPOTENT,
            "bootstrap.servers": kafka.bootstrap_servers,
            "topic.metadata.propagation.max.ms": 0,
            "topic.metadata.refresh.interval.ms": 100,
        }
        log = SentColumns()
        sender = Sender(Producer(settings), "nowhere", log)

        def send() -> Outcome:
            sender.send(Record(len(log), b"key", b"value", 0))
            return log.outcome(len(log) - 1)

        wait_for("refusal", send, lambda outcome: outcome is Outcome.REFUSED)
        assert sender.finish(PATIENCE_S) == 0
        assert log.acked_count == 0
