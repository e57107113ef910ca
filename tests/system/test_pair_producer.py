"""A workload's history when the cluster has no such topic."""

from __future__ import annotations

from pathlib import Path

from logquake.chaos.history.outcomes import Outcome
from logquake.chaos.workloads.pairs import PairProducer
from logquake.cluster.api import Cluster
from tests.waiting import PATIENCE_S, wait_for


def test_send_that_the_client_does_not_take_is_refused(tmp_path: Path) -> None:
    """Known to be in no log, so that a reader may hold it against the cluster if it shows up."""
    config = {"auto.create.topics.enable": "false"}
    with Cluster(brokers=1, config=config, data_dir=tmp_path / "cluster") as kafka:
        producer = PairProducer(
            kafka.bootstrap_servers,
            "nowhere",
            topic_metadata_propagation_max_ms=0,
            topic_metadata_refresh_interval_ms=100,
        )

        def send() -> Outcome:
            producer.run([(b"key", b"value")])
            return producer.outcomes.outcome(len(producer.outcomes) - 1)

        wait_for("refusal", send, lambda outcome: outcome is Outcome.REFUSED)
        assert producer.finish(PATIENCE_S) == 0
        assert producer.outcomes.acked == 0
