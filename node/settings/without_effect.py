"""Kafka's broker keys that are accepted and that nothing here reads.

Either what they tune does not exist here (thread counts, purgatory purges), or it is not built yet.
"""

from __future__ import annotations

WITHOUT_EFFECT = frozenset(
    (
        "background.threads",
        "broker.id.generation.enable",
        "control.plane.listener.name",
        "fetch.purgatory.purge.interval.requests",
        "follower.replication.throttled.rate",
        "inter.broker.protocol.version",
        "leader.replication.throttled.rate",
        "log.preallocate",
        "metrics.num.samples",
        "metrics.sample.window.ms",
        "num.io.threads",
        "num.network.threads",
        "num.replica.fetchers",
        "producer.purgatory.purge.interval.requests",
        "queued.max.requests",
        "replica.selector.class",
        "reserved.broker.max.id",
        "zookeeper.max.in.flight.requests",
        "zookeeper.set.acl",
    )
)
