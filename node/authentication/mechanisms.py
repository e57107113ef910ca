"""The mechanisms of one listener: which clients may ask for, and how an exchange of each begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from logquake.node.authentication.mechanism import ServerMechanism
from logquake.node.authentication.oauthbearer import OAuthBearerServer
from logquake.node.authentication.plain import PlainServer
from logquake.node.authentication.scram_server import CredentialStore, ScramServer
from logquake.node.authentication.unsecured_jws import UnsecuredValidator
from logquake.wire.sasl.scram_mechanism import ScramMechanism


@dataclass(frozen=True, slots=True, repr=False)
class PlainUsers:
    """Passwords by user, of a login module's options."""

    passwords: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class EnabledMechanism:
    """``how`` checks the client's claim; ``max_reauth_ms`` is how long it holds, 0 for ever."""

    how: PlainUsers | ScramMechanism | UnsecuredValidator
    max_reauth_ms: int = 0


@dataclass(frozen=True, slots=True)
class SaslTools:
    """What exchanges need of the outside: credentials, time and chance."""

    credentials: CredentialStore
    now_ms: Callable[[], int]
    wall_ms: Callable[[], int]
    new_nonce: Callable[[], str]


def new_exchange(mechanism: EnabledMechanism, tools: SaslTools) -> ServerMechanism:
    how = mechanism.how
    if isinstance(how, PlainUsers):
        return PlainServer(how.passwords)
    if isinstance(how, ScramMechanism):
        return ScramServer(how, tools.credentials, tools.new_nonce)
    return OAuthBearerServer(how, tools.wall_ms)
