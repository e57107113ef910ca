"""Kill -9 and pauses under load, round after round: nothing that was acked is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from logquake.chaos.checks import check_readback
from logquake.chaos.faults.strikes import STRIKES, Target
from logquake.chaos.replicas import compare_replicas
from logquake.chaos.resent import repeated_records, resent_records
from logquake.chaos.workloads.pairs import PairProducer
from logquake.chaos.workloads.readback import high_watermarks, read_all
from logquake.chaos.workloads.stream import RecordStream
from logquake.client.admin import Admin
from logquake.client.routing import Router
from logquake.client.settings import ClientSettings
from logquake.cluster.api import Cluster
from tests.waiting import PATIENCE_S

ROUNDS = 2 * len(STRIKES)
BROKERS = 3
PARTITIONS = 3
TOPIC = "orders"
ACKS_A_ROUND = 50


@pytest.mark.slow
def test_rounds_of_faults_lose_nothing(tmp_path: Path) -> None:
    with Cluster(brokers=BROKERS, data_dir=tmp_path / "cluster") as kafka:
        bootstrap_servers = kafka.bootstrap_servers
        with Router(ClientSettings(bootstrap_servers)) as router:
            Admin(router).create_topic(TOPIC, partitions=PARTITIONS, replication_factor=BROKERS)
        stream = RecordStream(PairProducer(bootstrap_servers, TOPIC), per_second=1000)
        with stream:
            stream.wait_for_acks(ACKS_A_ROUND, timeout_s=PATIENCE_S)
            for number in range(ROUNDS):
                target = Target(TOPIC, number % PARTITIONS)
                with STRIKES[number % len(STRIKES)](kafka, target):
                    stream.wait_for_acks(ACKS_A_ROUND, timeout_s=PATIENCE_S)
                for partition in range(PARTITIONS):
                    kafka.wait_isr(TOPIC, partition, size=BROKERS, timeout=PATIENCE_S)
            assert stream.end(timeout_s=PATIENCE_S) == 0
        data = {broker: kafka.layout.data_of(broker) for broker in range(1, BROKERS + 1)}
        verdict = check_readback(
            stream.outcomes,
            stream.pair,
            read_all(bootstrap_servers, TOPIC, timeout_s=PATIENCE_S),
            resent_records(repeated_records(data[1], TOPIC, range(PARTITIONS))),
        )
        assert verdict.holds, verdict
        assert verdict.acked > ROUNDS * ACKS_A_ROUND
        ends = high_watermarks(bootstrap_servers, TOPIC, timeout_s=PATIENCE_S)
        replicas = compare_replicas(data, TOPIC, ends)
        assert not replicas.differences
        assert replicas.bytes_compared > 0
