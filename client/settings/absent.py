"""Kafka's keys that no client here has, and why. A value that changes nothing is accepted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from logquake.client.settings.keys import Absent

_NO_REPORTER = Absent("metrics are told when they are asked for, to nobody else")
_NO_TELEMETRY = Absent("metrics are not pushed to brokers (KIP-714)", "false")
_SYSTEMS_BUFFERS = Absent("the system sizes a socket's buffers, as -1 says", "-1")
_NO_KERBEROS = Absent("Kerberos is not spoken")
_GIVEN_TOKENS = Absent("sasl.login.callback.handler.class is a function that fetches tokens")
_NO_REFRESH = Absent("each login has a token of its own, and none is fetched beforehand")
_OF_BROKERS = Absent("it is a broker's: clients check no tokens")
_OF_JAVA = Absent("OpenSSL is Python's way to speak TLS, and it chooses")

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

_SASL: Final = {
    "sasl.client.callback.handler.class": Absent("sasl.jaas.config says who we are"),
    "sasl.kerberos.kinit.cmd": _NO_KERBEROS,
    "sasl.kerberos.min.time.before.relogin": _NO_KERBEROS,
    "sasl.kerberos.service.name": _NO_KERBEROS,
    "sasl.kerberos.ticket.renew.jitter": _NO_KERBEROS,
    "sasl.kerberos.ticket.renew.window.factor": _NO_KERBEROS,
    "sasl.login.class": Absent("sasl.mechanism says how we log in"),
    "sasl.login.connect.timeout.ms": _GIVEN_TOKENS,
    "sasl.login.read.timeout.ms": _GIVEN_TOKENS,
    "sasl.login.refresh.buffer.seconds": _NO_REFRESH,
    "sasl.login.refresh.min.period.seconds": _NO_REFRESH,
    "sasl.login.refresh.window.factor": _NO_REFRESH,
    "sasl.login.refresh.window.jitter": _NO_REFRESH,
    "sasl.login.retry.backoff.max.ms": _GIVEN_TOKENS,
    "sasl.login.retry.backoff.ms": _GIVEN_TOKENS,
    "sasl.oauthbearer.clock.skew.seconds": _OF_BROKERS,
    "sasl.oauthbearer.expected.audience": _OF_BROKERS,
    "sasl.oauthbearer.expected.issuer": _OF_BROKERS,
    "sasl.oauthbearer.header.urlencode": _GIVEN_TOKENS,
    "sasl.oauthbearer.jwks.endpoint.refresh.ms": _OF_BROKERS,
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": _OF_BROKERS,
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": _OF_BROKERS,
    "sasl.oauthbearer.jwks.endpoint.url": _OF_BROKERS,
    "sasl.oauthbearer.scope.claim.name": _GIVEN_TOKENS,
    "sasl.oauthbearer.sub.claim.name": _GIVEN_TOKENS,
    "sasl.oauthbearer.token.endpoint.url": _GIVEN_TOKENS,
}

_TLS: Final = {
    "ssl.keymanager.algorithm": _OF_JAVA,
    "ssl.protocol": Absent("ssl.enabled.protocols says which versions are spoken", "TLSv1.3"),
    "ssl.provider": _OF_JAVA,
    "ssl.secure.random.implementation": _OF_JAVA,
    "ssl.trustmanager.algorithm": _OF_JAVA,
}

ABSENT_FROM_ALL: Final[Mapping[str, Absent]] = {
    **_METRICS,
    **_NETWORK,
    "security.providers": Absent("there are no providers of Java's"),
    **_SASL,
    **_TLS,
}
