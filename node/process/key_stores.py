"""Other certificates for listeners of a running broker (SslFactory, as far as it reconfigures).

A store is another one because the configuration names another, or because the file that it names
was written over; Kafka looks at files whenever the broker's own configuration is altered, be it to
what it was. Connections that are open stay as they are.

Absent: links to other brokers keep the key that they started with.
"""

from __future__ import annotations

from collections.abc import Sequence

from logquake.controller.rules.config_def import InvalidValue
from logquake.node.configs.broker_config import BrokerConfig
from logquake.node.journal_events import KEY_STORES_IGNORED, KEY_STORES_READ
from logquake.node.net.admittance import Admittance
from logquake.node.process.doors import renew
from logquake.node.settings import BrokerSettings
from logquake.seams.journal import Event, Journal
from logquake.seams.tls.settings import TlsError
from logquake.wire.listeners import ListenerName


def follow_stores(
    config: BrokerConfig[BrokerSettings],
    admittances: dict[ListenerName, Admittance],
    journal: Journal,
) -> None:
    """From now on ``admittances`` are kept as the configuration, and the files, say."""

    def read(settings: BrokerSettings, names: Sequence[ListenerName]) -> None:
        renew(admittances, settings.security, names)
        for name in names:
            journal.record(Event(KEY_STORES_READ, name, "whoever comes from now on meets it"))

    def obey(before: BrokerSettings, after: BrokerSettings) -> None:
        others = _listeners(before, after, are_alike=False)
        try:
            read(after, others)
        except TlsError as error:  # it could be used when it was set
            journal.record(Event(KEY_STORES_IGNORED, ", ".join(others), str(error)))

    def read_again(then: BrokerSettings) -> None:
        try:
            read(then, _listeners(config.settings, then, are_alike=True))
        except TlsError as error:
            raise InvalidValue(str(error)) from error

    config.follow(obey)
    config.follow_files(read_again)


def _listeners(
    one: BrokerSettings, other: BrokerSettings, *, are_alike: bool
) -> list[ListenerName]:
    """Those with TLS whose settings are alike in both, or are not."""
    return [
        name
        for name, listener in other.security.listeners.items()
        if listener.tls is not None
        and (listener.tls == one.security.listeners[name].tls) is are_alike
    ]
