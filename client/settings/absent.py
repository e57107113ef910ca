"""Kafka's keys that no client here has, and why. What behaves as they say anyway may be written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from logquake.client.settings.keys import Absent

_NO_REPORTER = Absent("metrics are told when they are asked for, to nobody else")
_NO_TELEMETRY = Absent("metrics are not pushed to brokers (KIP-714)", "false")
_SYSTEMS_BUFFERS = Absent("the system sizes a socket's buffers, as -1 says", "-1")
_BY_WAY_IN = Absent("TLS and SASL come with the way in that a client is handed")

_METRICS: Final = {
    "auto.include.jmx.reporter": Absent("there is no JMX", "false"),
    "enable.metrics.push": _NO_TELEMETRY,
    "metric.reporters": _NO_REPORTER,
    "metrics.num.samples": _NO_REPORTER,
    "metrics.recording.level": _NO_REPORTER,
    "metrics.sample.window.ms": _NO_REPORTER,
}

_NETWORK: Final = {
    "client.dns.lookup": Absent(
        "each address of a broker is tried, and no name is looked up backwards", "use_all_dns_ips"
    ),
    "receive.buffer.bytes": _SYSTEMS_BUFFERS,
    "send.buffer.bytes": _SYSTEMS_BUFFERS,
}

_SASL: Final = (
    "sasl.client.callback.handler.class",
    "sasl.jaas.config",
    "sasl.kerberos.kinit.cmd",
    "sasl.kerberos.min.time.before.relogin",
    "sasl.kerberos.service.name",
    "sasl.kerberos.ticket.renew.jitter",
    "sasl.kerberos.ticket.renew.window.factor",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.login.connect.timeout.ms",
    "sasl.login.read.timeout.ms",
    "sasl.login.refresh.buffer.seconds",
    "sasl.login.refresh.min.period.seconds",
    "sasl.login.refresh.window.factor",
    "sasl.login.refresh.window.jitter",
    "sasl.login.retry.backoff.max.ms",
    "sasl.login.retry.backoff.ms",
    "sasl.mechanism",
    "sasl.oauthbearer.clock.skew.seconds",
    "sasl.oauthbearer.expected.audience",
    "sasl.oauthbearer.expected.issuer",
    "sasl.oauthbearer.header.urlencode",
    "sasl.oauthbearer.jwks.endpoint.refresh.ms",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
    "sasl.oauthbearer.jwks.endpoint.url",
    "sasl.oauthbearer.scope.claim.name",
    "sasl.oauthbearer.sub.claim.name",
    "sasl.oauthbearer.token.endpoint.url",
)

_TLS: Final = (
    "ssl.cipher.suites",
    "ssl.enabled.protocols",
    "ssl.endpoint.identification.algorithm",
    "ssl.engine.factory.class",
    "ssl.key.password",
    "ssl.keymanager.algorithm",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.keystore.type",
    "ssl.protocol",
    "ssl.provider",
    "ssl.secure.random.implementation",
    "ssl.trustmanager.algorithm",
    "ssl.truststore.certificates",
    "ssl.truststore.location",
    "ssl.truststore.password",
    "ssl.truststore.type",
)

ABSENT_FROM_ALL: Final[Mapping[str, Absent]] = {
    **_METRICS,
    **_NETWORK,
    "security.protocol": _BY_WAY_IN,
    "security.providers": Absent("there are no providers of Java's"),
    **dict.fromkeys(_SASL + _TLS, _BY_WAY_IN),
}
