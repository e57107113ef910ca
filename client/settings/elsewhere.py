"""Other clients' names for our keys: librdkafka's, kafka-python's and aiokafka's.

Programs that are ported use them, and the most similar name of Kafka's would be the wrong one:
message.timeout.ms is delivery.timeout.ms, and not request.timeout.ms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_WHO = (
    "sasl.jaas.config has user and password: '"
    "org.apache.kafka.common.security.scram.ScramLoginModule required "
    'username="..." password="...";\', or plain.PlainLoginModule of sasl.mechanism=PLAIN'
)
_WHOM_TO_TRUST = "ssl.truststore.location is it, with ssl.truststore.type=PEM"
_WHO_BY_TLS = "ssl.keystore.location is a file with certificates and key, ssl.keystore.type=PEM"
_CONTEXT = "ssl.engine.factory.class is an ssl.SSLContext of the program's own"
_HOST = "ssl.endpoint.identification.algorithm is it: https, or nothing"
_VERSIONS = "each broker is asked which versions it speaks"
_LOGS = "clients log below the logger logquake.client"
_EVENTS = "on_event and the logger logquake.client tell of such things"
_MEMORY = "buffer.memory, in bytes, is what bounds it"

CALLED_ELSEWHERE: Final[Mapping[str, str]] = {
    "api.version": _VERSIONS,
    "api.version.request": _VERSIONS,
    "auto.commit.enable": "enable.auto.commit is it",
    "batch.num.messages": "batch.size, in bytes, is what bounds it",
    "compression.codec": "compression.type is it",
    "compression.level": "each codec has its own, as compression.zstd.level",
    "consumer.timeout.ms": "a loop never ends by itself; poll(timeout_ms) does",
    "debug": _LOGS,
    "enable.auto.offset.store": "commit by hand what is done, with enable.auto.commit=false",
    "enable.partition.eof": "position() and end_offsets() tell when all is read",
    "enable.ssl.certificate.verification": _CONTEXT,
    "error.cb": _EVENTS,
    "fetch.message.max.bytes": "max.partition.fetch.bytes is it",
    "fetch.wait.max.ms": "fetch.max.wait.ms is it",
    "log.level": _LOGS,
    "logger": _LOGS,
    "loop": "a client of logquake.client.aio belongs to the loop that runs",
    "max.batch.size": "batch.size is it",
    "max.in.flight": "max.in.flight.requests.per.connection is it",
    "message.max.bytes": "max.request.size is it",
    "message.send.max.retries": "retries is it",
    "message.timeout.ms": "delivery.timeout.ms is it",
    "metadata.broker.list": "bootstrap.servers is it",
    "on.commit": "commit_async() takes a callback",
    "on.delivery": "send() takes on_delivery",
    "partitioner": "partitioner.class is it, an object; keys go where Java's producer sends them",
    "queue.buffering.max.kbytes": _MEMORY,
    "queue.buffering.max.messages": _MEMORY,
    "queue.buffering.max.ms": "linger.ms is it",
    "rebalance.timeout.ms": "max.poll.interval.ms is it",
    "request.required.acks": "acks is it",
    "sasl.mechanisms": "sasl.mechanism is it",
    "sasl.oauth.token.provider": "sasl.login.callback.handler.class is it, a function",
    "sasl.password": _WHO,
    "sasl.plain.password": _WHO,
    "sasl.plain.username": _WHO,
    "sasl.username": _WHO,
    "socket.timeout.ms": "request.timeout.ms is it",
    "ssl.ca.location": _WHOM_TO_TRUST,
    "ssl.ca.pem": "ssl.truststore.certificates is it, with ssl.truststore.type=PEM",
    "ssl.cafile": _WHOM_TO_TRUST,
    "ssl.certfile": _WHO_BY_TLS,
    "ssl.certificate.location": _WHO_BY_TLS,
    "ssl.check.hostname": _HOST,
    "ssl.context": _CONTEXT,
    "ssl.key.location": _WHO_BY_TLS,
    "ssl.keyfile": _WHO_BY_TLS,
    "stats.cb": "metrics() tells when it is asked",
    "statistics.interval.ms": "metrics() tells when it is asked",
    "topic.metadata.refresh.interval.ms": "metadata.max.age.ms is it",
}
"""What to write here, in words that go on after "... is no key of a producer: "."""
