"""SASL logins, with the random bytes and the time of day that they need."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from functools import partial

from logquake.client.callbacks import fails_alone
from logquake.client.clock import Clock, SystemClock
from logquake.client.errors import AuthenticationFailedError
from logquake.wire.api import ApiKey
from logquake.wire.sasl.authenticator import (
    LoggedIn,
    NotAuthenticatedError,
    SaslClientAuthenticator,
)
from logquake.wire.sasl.logins import Login, begin_login

_NONCE_BYTES = 17  # 136 bits; Kafka's nonces have 130


def each_login(login: Login, client_id: str, clock: Clock | None = None) -> Callable[[], SaslLogin]:
    """A function that makes a login for each connection."""
    return partial(SaslLogin, login, client_id, clock or SystemClock())


class SaslLogin:
    """Satisfies logquake.client.network.link.Login."""

    def __init__(self, login: Login, client_id: str, clock: Clock) -> None:
        self._login = login
        self._client_id = client_id
        self._clock = clock
        self._exchange: SaslClientAuthenticator | None = None

    def start(self, spoken: Mapping[int, tuple[int, int]]) -> bytes:
        try:
            wall_ms = self._clock.wall_ms()
            mechanism = begin_login(self._login, wall_ms=wall_ms, new_nonce=_new_nonce)
        except BaseException as error:
            if not fails_alone(error):
                raise
            raise AuthenticationFailedError(f"there is no token: {error!r}") from error
        _, highest = spoken.get(ApiKey.SASL_AUTHENTICATE, (0, -1))
        self._exchange = SaslClientAuthenticator(mechanism, self._client_id, at_most=highest)
        try:
            return self._exchange.start()
        except NotAuthenticatedError as error:
            raise AuthenticationFailedError(str(error)) from None

    def receive(self, frame: bytes) -> bytes | LoggedIn:
        if self._exchange is None:
            raise RuntimeError("nothing was started")
        try:
            return self._exchange.receive(frame)
        except NotAuthenticatedError as error:
            raise AuthenticationFailedError(str(error)) from None


def _new_nonce() -> str:
    return secrets.token_hex(_NONCE_BYTES)
