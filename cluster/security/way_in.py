"""A client's way into a cluster that was launched secure."""

from __future__ import annotations

import secrets
import ssl

from logquake.client.driving.way_in import PLAIN, WayIn
from logquake.client.errors import AuthenticationFailedError
from logquake.cluster.security.cluster_security import MECHANISM, ClusterSecurity
from logquake.node.authentication.mechanism import ClientMechanism
from logquake.node.authentication.sasl_client import (
    LoggedIn,
    NotAuthenticatedError,
    SaslClientAuthenticator,
)
from logquake.node.authentication.scram_client import ScramClient, ScramLogin

_CLIENT_ID = "logquake"
_NONCE_BYTES = 17


def way_into(security: ClusterSecurity | None) -> WayIn:
    """Of a cluster that is open to all, plain TCP."""
    if security is None:
        return PLAIN
    login = ScramLogin(MECHANISM, security.user.name, security.user.password)
    return WayIn(
        tls=ssl.create_default_context(cafile=str(security.authority)),
        new_login=lambda: SaslLogin(ScramClient(login, _nonce)),
    )


def _nonce() -> str:
    return secrets.token_hex(_NONCE_BYTES)


class SaslLogin:
    """Satisfies logquake.client.network.link.Login."""

    def __init__(self, mechanism: ClientMechanism) -> None:
        self._exchange = SaslClientAuthenticator(mechanism, _CLIENT_ID)

    def start(self) -> bytes:
        return self._exchange.start()

    def receive(self, frame: bytes) -> bytes | None:
        try:
            step = self._exchange.receive(frame)
        except NotAuthenticatedError as error:
            raise AuthenticationFailedError(str(error)) from None
        return None if isinstance(step, LoggedIn) else step
