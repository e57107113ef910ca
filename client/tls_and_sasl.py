"""TLS and SASL of a client, made from its ssl.* and sasl.* keys (Kafka's ChannelBuilders).

The stores are read once, when the client is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from logquake.client.clock import Clock
from logquake.client.driving.sasl import each_login
from logquake.client.driving.way_in import WayIn
from logquake.client.errors import SettingsError
from logquake.client.settings.common import CommonConfig
from logquake.client.settings.security import SecurityConfig
from logquake.seams.tls.settings import TlsError, TlsSettings

if TYPE_CHECKING:
    import ssl


def way_in_of(config: CommonConfig, clock: Clock | None = None) -> WayIn:
    """Raises SettingsError for stores and logins that cannot be used."""
    login, tls = config.login(), config.tls()
    return WayIn(
        tls=None if tls is None else _context(config, tls),
        new_login=None if login is None else each_login(login, config.client_id, clock),
    )


def _context(config: SecurityConfig, tls: TlsSettings) -> ssl.SSLContext:
    """OpenSSL takes its time to be loaded: whoever speaks no TLS goes without."""
    import ssl

    from logquake.seams.tls.contexts import client_context

    own = config.ssl_engine_factory_class
    if own is not None:
        if not isinstance(own, ssl.SSLContext):
            raise SettingsError("ssl.engine.factory.class is no ssl.SSLContext")
        return own
    try:
        return client_context(tls)
    except TlsError as error:
        raise SettingsError(f"TLS cannot be spoken: {error}") from error
