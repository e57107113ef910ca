"""The settings of the simulated brokers: Kafka's keys, times made short and segments small."""

from __future__ import annotations

from collections.abc import Mapping

from logquake.node.settings import BrokerSettings
from logquake.wire.listeners import PLAINTEXT

PORT = 9092
LISTENER = PLAINTEXT
SESSION_TIMEOUT_MS = 1_500

_PROPERTIES = {
    "logquake.failover.on.refusal": "true",
    "zookeeper.connect": "zk:2181",
    "zookeeper.session.timeout.ms": str(SESSION_TIMEOUT_MS),
    "log.dirs": "/data",
    "min.insync.replicas": "2",
    "default.replication.factor": "3",
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "replica.lag.time.max.ms": "1500",
    "replica.fetch.wait.max.ms": "400",
    "replica.fetch.backoff.ms": "100",
    "replica.high.watermark.checkpoint.interval.ms": "1000",
    "request.timeout.ms": "1000",
    "controller.socket.timeout.ms": "1000",
    "controlled.shutdown.retry.backoff.ms": "300",
    "log.index.size.max.bytes": "4096",
    "log.segment.bytes": "2000",
    "log.initial.task.delay.ms": "0",
    "log.flush.offset.checkpoint.interval.ms": "500",
    "log.flush.start.offset.checkpoint.interval.ms": "500",
    "log.retention.check.interval.ms": "700",
    "log.segment.delete.delay.ms": "300",
}


def broker_settings(broker_id: int, extra: Mapping[str, str]) -> BrokerSettings:
    return BrokerSettings.from_properties(
        {
            "broker.id": str(broker_id),
            "listeners": f"PLAINTEXT://b{broker_id}:{PORT}",
            **_PROPERTIES,
            **extra,
        }
    )
