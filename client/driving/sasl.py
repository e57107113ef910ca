"""Logging in by SASL, with the chance and the time of day that it needs."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from logquake.client.clock import Clock, SystemClock
from logquake.client.errors import AuthenticationFailedError
from logquake.wire.sasl.authenticator import (
    LoggedIn,
    NotAuthenticatedError,
    SaslClientAuthenticator,
)
from logquake.wire.sasl.logins import Login, begin_login
from logquake.wire.sasl.mechanism import ClientMechanism

_NONCE_BYTES = 17  # 136 bits; Kafka's nonces have 130


def each_login(login: Login, client_id: str, clock: Clock | None = None) -> Callable[[], SaslLogin]:
    """What makes one for each connection."""
    clock = clock or SystemClock()

    def new_login() -> SaslLogin:
        mechanism = begin_login(login, wall_ms=clock.wall_ms(), new_nonce=_new_nonce)
        return SaslLogin(mechanism, client_id)

    return new_login


class SaslLogin:
    """Satisfies logquake.client.network.link.Login."""

    def __init__(self, mechanism: ClientMechanism, client_id: str) -> None:
        self._exchange = SaslClientAuthenticator(mechanism, client_id)

    def start(self) -> bytes:
        return self._exchange.start()

    def receive(self, frame: bytes) -> bytes | None:
        try:
            step = self._exchange.receive(frame)
        except NotAuthenticatedError as error:
            raise AuthenticationFailedError(str(error)) from None
        return None if isinstance(step, LoggedIn) else step


def _new_nonce() -> str:
    return secrets.token_hex(_NONCE_BYTES)
