"""How the clients are set: to outlive lost connections, and to say what became of everything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic

from confluent_kafka import Consumer, KafkaException, Producer

Settings = Mapping[str, str | int | float | bool]
_ASK_S = 5.0

_OF_ALL: Settings = {
    # A paused broker takes bytes and never answers: give it up before the delivery time-out does.
    "socket.timeout.ms": 4_000,
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 200,
    # After a leader died the client learns of the new one at its next metadata refresh.
    "topic.metadata.refresh.fast.interval.ms": 50,
    # Lost connections are what this is for: outcomes tell, not the client's log.
    "log_level": 2,
}
# Who sends offsets while the group's coordinator moves waits for the next change of any connection,
# without a time-out (librdkafka's issues 5456 and 5511): idle ones end, then.
AWAKE: Settings = {"connections.max.idle.ms": 2_000}

PLAIN: Settings = {
    **_OF_ALL,
    "acks": "all",
    "linger.ms": 20,
    "batch.size": 262_144,
    "queue.buffering.max.messages": 200_000,
    "delivery.timeout.ms": 60_000,
    "request.timeout.ms": 4_000,
    "retry.backoff.ms": 50,
    "socket.nagle.disable": True,
}
IDEMPOTENT: Settings = {**PLAIN, "enable.idempotence": True}
TRANSACTIONAL: Settings = {
    **_OF_ALL,
    **AWAKE,
    "retry.backoff.ms": 50,
    "transaction.timeout.ms": 30_000,
}
READER: Settings = {
    **_OF_ALL,
    "enable.auto.commit": False,
    "auto.offset.reset": "earliest",
    "fetch.message.max.bytes": 1 << 20,
}
MEMBER: Settings = {
    **READER,
    **AWAKE,
    "session.timeout.ms": 45_000,
    "heartbeat.interval.ms": 1_000,
    # A commit that librdkafka tries again before it has connected to the new coordinator fails with
    # that connection, and makes it give up the coordinator, again and again.
    "retry.backoff.ms": 1_000,
}


def persist(action: Callable[[], None]) -> None:
    """What librdkafka calls retriable is called again. Raises its other errors."""
    while True:
        try:
            action()
        except KafkaException as error:
            if not error.args[0].retriable():
                raise
        else:
            return


def partitions_of(client: Producer | Consumer, topic: str, timeout_s: float = 60.0) -> range:
    """Asked for until the topic is there. Raises TimeoutError."""
    deadline = monotonic() + timeout_s
    while monotonic() < deadline:
        with suppress(KafkaException):
            found = client.list_topics(topic, timeout=_ASK_S).topics[topic]
            if found.error is None and found.partitions:
                return range(len(found.partitions))
    raise TimeoutError(f"there is no topic {topic} after {timeout_s:g} s")
