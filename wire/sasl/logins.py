"""Who we say that we are, by mechanism, and sasl.jaas.config, which says so.

Absent: GSSAPI (Kerberos).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from logquake.wire.sasl.jaas import JaasError, LoginModule, read_login_module
from logquake.wire.sasl.mechanism import ClientMechanism
from logquake.wire.sasl.oauthbearer import (
    OAUTHBEARER,
    OAuthBearerClient,
    login_claims,
    token_of_an_hour,
)
from logquake.wire.sasl.plain import PLAIN, PlainClient
from logquake.wire.sasl.scram_client import ScramClient, ScramLogin
from logquake.wire.sasl.scram_mechanism import ScramMechanism

SCRAM = {mechanism.value: mechanism for mechanism in ScramMechanism}
LOGIN_MODULES = {
    PLAIN: "org.apache.kafka.common.security.plain.PlainLoginModule",
    **dict.fromkeys(SCRAM, "org.apache.kafka.common.security.scram.ScramLoginModule"),
    OAUTHBEARER: "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule",
}
"""Java's class by the name of each mechanism that is known."""


@dataclass(frozen=True, slots=True, repr=False)
class PlainLogin:
    user: str
    password: str


@dataclass(frozen=True, slots=True, repr=False)
class OAuthBearerLogin:
    """The claims of the tokens that are made; ``sub`` is who we are."""

    claims: Mapping[str, str]


@dataclass(frozen=True, slots=True, repr=False)
class TokenLogin:
    """OAUTHBEARER with tokens from elsewhere: ``new_token`` is asked at each login."""

    new_token: Callable[[], str]


Login = PlainLogin | ScramLogin | OAuthBearerLogin | TokenLogin


def login_module_of(mechanism: str, text: str) -> LoginModule:
    """The one of a sasl.jaas.config. Raises JaasError, also for another mechanism's."""
    module = read_login_module(text)
    wanted = LOGIN_MODULES[mechanism]
    if module.name != wanted:
        raise JaasError(f"its login module is not {wanted}")
    return module


def login_of(mechanism: str, module: LoginModule) -> Login:
    """Whom it has us be. Raises JaasError."""
    options = module.options
    if mechanism == OAUTHBEARER:
        return OAuthBearerLogin(login_claims(options))
    if not options.get("username") or not options.get("password"):
        raise JaasError("it has no username and password")
    if mechanism == PLAIN:
        return PlainLogin(options["username"], options["password"])
    is_token = options.get("tokenauth", "").lower() == "true"
    return ScramLogin(SCRAM[mechanism], options["username"], options["password"], is_token)


def begin_login(login: Login, *, wall_ms: int, new_nonce: Callable[[], str]) -> ClientMechanism:
    """Raises TypeError for a token that is no text, and what asking for one raises."""
    if isinstance(login, PlainLogin):
        return PlainClient(login.user, login.password)
    if isinstance(login, ScramLogin):
        return ScramClient(login, new_nonce)
    if isinstance(login, TokenLogin):
        return OAuthBearerClient(_text(login.new_token()))
    return OAuthBearerClient(token_of_an_hour(login.claims, wall_ms))


def _text(token: object) -> str:
    """It is secret, whatever it is."""
    if isinstance(token, str):
        return token
    if inspect.iscoroutine(token):
        token.close()  # nobody awaits it
    raise TypeError(f"the function returned {type(token).__name__}, and no str")
