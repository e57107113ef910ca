"""Kill -9 and pauses under load, round after round: nothing that was acked is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from logquake.chaos.faults.strikes import STRIKES, Target
from logquake.cluster.api import Cluster
from tests.steady_load import steady_load
from tests.waiting import PATIENCE_S

ROUNDS = 2 * len(STRIKES)
BROKERS = 3
PARTITIONS = 3
TOPIC = "orders"
ACKS_A_ROUND = 50


@pytest.mark.slow
def test_rounds_of_faults_lose_nothing(tmp_path: Path) -> None:
    with Cluster(brokers=BROKERS, data_dir=tmp_path / "cluster") as kafka:
        kafka.create_topic(TOPIC, partitions=PARTITIONS)
        with steady_load(kafka, TOPIC, rate=1_000) as load:
            for number in range(ROUNDS):
                target = Target(TOPIC, number % PARTITIONS)
                with STRIKES[number % len(STRIKES)](kafka, target):
                    load.wait_for_acks(ACKS_A_ROUND)
                for partition in range(PARTITIONS):
                    kafka.wait_isr(TOPIC, partition, size=BROKERS, timeout=PATIENCE_S)
        load.check_everything()
