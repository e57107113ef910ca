"""What of a broker's settings may change while it runs, read from keys that were changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from logquake.controller.rules.config_def import InvalidValue
from logquake.node.settings.broker import BrokerSettings
from logquake.node.settings.errors import SettingsError
from logquake.node.settings.security import SecuritySettings
from logquake.seams.tls.contexts import server_context
from logquake.seams.tls.settings import TlsError


def changed_settings(running: BrokerSettings, properties: Mapping[str, str]) -> BrokerSettings:
    """The settings of a running broker with what it can take over of these properties.

    Raises InvalidValue.
    """
    try:
        read = BrokerSettings.from_properties(properties)
    except SettingsError as error:
        raise InvalidValue(str(error)) from error
    replication = replace(
        running.replication,
        topic_defaults=read.replication.topic_defaults,
        cleaner=read.replication.cleaner,
        move_max_bytes_per_second=read.replication.move_max_bytes_per_second,
        leader_max_bytes_per_second=read.replication.leader_max_bytes_per_second,
        follower_max_bytes_per_second=read.replication.follower_max_bytes_per_second,
    )
    connections = replace(
        running.connections,
        max_connections=read.connections.max_connections,
        max_connections_per_ip=read.connections.max_connections_per_ip,
        max_connections_per_ip_overrides=read.connections.max_connections_per_ip_overrides,
        max_creation_rate=read.connections.max_creation_rate,
        of_listeners=read.connections.of_listeners,
    )
    controller = replace(
        running.controller,
        unclean_leader_election_enable=read.controller.unclean_leader_election_enable,
    )
    return replace(
        running,
        replication=replication,
        connections=connections,
        controller=controller,
        security=_changed_stores(running.security, read.security),
    )


def _changed_stores(running: SecuritySettings, read: SecuritySettings) -> SecuritySettings:
    """Listeners with other certificates, which have to be usable. Raises InvalidValue."""
    listeners = dict(running.listeners)
    for name, listener in running.listeners.items():
        then = read.listeners[name].tls if name in read.listeners else None
        if listener.tls is None or then is None or then == listener.tls:
            continue
        try:
            server_context(then)
        except TlsError as error:
            raise InvalidValue(str(error)) from error
        listeners[name] = replace(listener, tls=then)
    return replace(running, listeners=listeners)
