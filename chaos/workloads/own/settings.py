"""How our client is set: to outlive lost connections, as clients.py sets librdkafka."""

from __future__ import annotations

from logquake.chaos.workloads.clients import Settings
from logquake.chaos.workloads.kafka_names import kafkas_settings
from logquake.chaos.workloads.life import Life
from logquake.chaos.workloads.plan import Option

_OF_ALL: Settings = {
    # A paused broker takes bytes and never answers: give it up before the delivery time-out does.
    "request.timeout.ms": 4_000,
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 200,
    "retry.backoff.ms": 50,
}
_PRODUCER: Settings = {
    **_OF_ALL,
    "linger.ms": 20,
    "batch.size": 262_144,
    "delivery.timeout.ms": 60_000,
}
PLAIN: Settings = {**_PRODUCER, "enable.idempotence": False}
IDEMPOTENT: Settings = {**_PRODUCER, "enable.idempotence": True, "acks": "all"}
TRANSACTIONAL: Settings = {
    **_OF_ALL,
    "transaction.timeout.ms": 30_000,
    "delivery.timeout.ms": 30_000,
}
READER: Settings = {
    **_OF_ALL,
    "enable.auto.commit": False,
    "auto.offset.reset": "earliest",
    "allow.auto.create.topics": False,
}
MEMBER: Settings = {**READER, "session.timeout.ms": 45_000, "heartbeat.interval.ms": 1_000}


def own_settings(life: Life, defaults: Settings) -> dict[str, Option]:
    """The plan's own before the defaults."""
    return {**defaults, **kafkas_settings(life.settings({}))}
