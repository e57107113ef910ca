"""The rules of delegation tokens (KIP-48; kafka.server.DelegationTokenManagerZk), pure.

A token is its id and an HMAC over it. Whoever knows the HMAC is the token's owner, by SCRAM with
the HMAC for a password, until the token expires.
"""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from logquake.node.authentication.scram import ScramCredential
from logquake.wire.errors import ErrorCode
from logquake.wire.principals import KafkaPrincipal
from logquake.wire.sasl.scram_mechanism import ScramMechanism
from logquake.zk.znodes.delegation_tokens import TokenInformation


@dataclass(frozen=True, slots=True, repr=False)
class TokenSettings:
    """Never shown: the secret key makes every token."""

    # All brokers have the same; without it there are no tokens.
    secret_key: str | None = None
    # A token is not renewed beyond this age.
    max_lifetime_ms: int = 7 * 24 * 3_600_000
    # A token that nobody renews is good for so long.
    expiry_time_ms: int = 24 * 3_600_000
    # How often the controller removes those that have expired.
    expiry_check_interval_ms: int = 3_600_000

    def hmac(self, token_id: str) -> bytes:
        """Raises ValueError where there are no tokens."""
        if self.secret_key is None:
            raise ValueError("delegation.token.secret.key is not set")
        return hmac.digest(self.secret_key.encode(), token_id.encode(), "sha512")


def new_token(
    settings: TokenSettings,
    token_id: str,
    owner: KafkaPrincipal,
    requester: KafkaPrincipal,
    renewers: Collection[KafkaPrincipal],
    max_lifetime_ms: int,
    now_ms: int,
) -> TokenInformation:
    """A lifetime of 0 or less is the longest there is."""
    lifetime_ms = settings.max_lifetime_ms
    if max_lifetime_ms > 0:
        lifetime_ms = min(max_lifetime_ms, lifetime_ms)
    return TokenInformation(
        token_id,
        owner,
        requester,
        tuple(renewers),
        issued_ms=now_ms,
        max_ms=now_ms + lifetime_ms,
        expires_ms=now_ms + min(lifetime_ms, settings.expiry_time_ms),
    )


def has_expired(token: TokenInformation, now_ms: int) -> bool:
    return min(token.max_ms, token.expires_ms) < now_ms


def may_renew(token: TokenInformation, principal: KafkaPrincipal) -> bool:
    return principal in (token.owner, *token.renewers)


def renewed(
    settings: TokenSettings,
    token: TokenInformation,
    principal: KafkaPrincipal,
    period_ms: int,
    now_ms: int,
) -> TokenInformation | ErrorCode:
    """A period below 0 is the usual one."""
    return _set_expiry(
        token, principal, settings.expiry_time_ms if period_ms < 0 else period_ms, now_ms
    )


def expired(
    token: TokenInformation, principal: KafkaPrincipal, period_ms: int, now_ms: int
) -> TokenInformation | ErrorCode | None:
    """A period below 0 is the end of it: None."""
    if period_ms < 0 and may_renew(token, principal):
        return None
    return _set_expiry(token, principal, period_ms, now_ms)


def _set_expiry(
    token: TokenInformation, principal: KafkaPrincipal, period_ms: int, now_ms: int
) -> TokenInformation | ErrorCode:
    if not may_renew(token, principal):
        return ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    if has_expired(token, now_ms):
        return ErrorCode.DELEGATION_TOKEN_EXPIRED
    return replace(token, expires_ms=min(token.max_ms, now_ms + period_ms))


def may_describe(
    token: TokenInformation,
    asker: KafkaPrincipal,
    owners: Collection[KafkaPrincipal] | None,
    allows: Callable[[TokenInformation], bool],
) -> bool:
    """DelegationTokenManager.filterToken; ``allows`` is asked of tokens of others."""
    if owners is not None and not any(may_renew(token, owner) for owner in owners):
        return False
    return may_renew(token, asker) or allows(token)


def token_credential(mechanism: ScramMechanism, secret: bytes, salt: bytes) -> ScramCredential:
    password = b64encode(secret).decode()
    iterations = mechanism.min_iterations
    salted = mechanism.salted_password(password, salt, iterations)
    return ScramCredential.of(mechanism, salted, salt, iterations)
