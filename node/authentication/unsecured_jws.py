"""Unsecured JSON Web Signatures (RFC 7515, appendix A.5): a token that nobody signed.

For tests alone: whoever writes one is whom it names. Kafka's OAuthBearerUnsecuredJws and
OAuthBearerUnsecuredValidatorCallbackHandler, with their one surprise: the parts are read as plain
base64, so that a token with ``-`` or ``_`` in it is refused.
"""

from __future__ import annotations

import binascii
import json
import math
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from logquake.wire.errors import ProtocolError

_PREFIX = "unsecuredValidator"
_PRINCIPAL_CLAIM, _SCOPE_CLAIM = "sub", "scope"
_LONG_MAX = 2**63 - 1


class TokenRefusedError(Exception):
    """``missing_scope`` is the scope that was required where that is why."""

    def __init__(self, missing_scope: str | None = None) -> None:
        super().__init__("the token is not valid")
        self.missing_scope = missing_scope


@dataclass(frozen=True, slots=True)
class UnsecuredToken:
    principal_name: str
    expires_ms: int  # wall clock


@dataclass(frozen=True, slots=True)
class UnsecuredValidator:
    """The options of the login module in sasl.jaas.config that begin with unsecuredValidator."""

    principal_claim: str = _PRINCIPAL_CLAIM
    scope_claim: str = _SCOPE_CLAIM
    required_scope: tuple[str, ...] = ()
    allowable_clock_skew_ms: int = 0

    @classmethod
    def from_options(cls, options: Mapping[str, str]) -> UnsecuredValidator:
        """Raises ValueError for a clock skew that is none."""

        def option(name: str) -> str:
            return options.get(_PREFIX + name, "").strip()

        skew_ms = int(option("AllowableClockSkewMs") or 0)
        if skew_ms < 0:
            raise ValueError("unsecuredValidatorAllowableClockSkewMs is below zero")
        return cls(
            option("PrincipalClaimName") or _PRINCIPAL_CLAIM,
            option("ScopeClaimName") or _SCOPE_CLAIM,
            tuple(option("RequiredScope").split()),
            skew_ms,
        )

    def validate(self, token: str, now_ms: int) -> UnsecuredToken:
        """Raises TokenRefusedError; ProtocolError where Kafka fails on the token."""
        claims = _claims(token)
        scope = _scope(claims.get(self.scope_claim))
        expires_s = _seconds(claims, "exp")
        name = claims.get(self.principal_claim)
        if expires_s is None or not isinstance(name, str) or not name.strip():
            raise TokenRefusedError
        self._check_times(_seconds(claims, "iat"), expires_s, now_ms)
        if not scope.issuperset(self.required_scope):
            raise TokenRefusedError(f"[{', '.join(self.required_scope)}]")
        return UnsecuredToken(name, _milliseconds(expires_s))

    def _check_times(self, issued_s: float | None, expires_s: float, now_ms: int) -> None:
        if now_ms - self.allowable_clock_skew_ms >= 1000 * expires_s:
            raise TokenRefusedError
        if issued_s is not None and (
            1000 * issued_s > now_ms + self.allowable_clock_skew_ms or expires_s <= issued_s
        ):
            raise TokenRefusedError


def _claims(token: str) -> Mapping[str, Any]:
    parts = token.split(".")
    if ".." in token or len(parts) != 3 or parts[2]:
        raise TokenRefusedError
    header, claims = _read_json(parts[0]), _read_json(parts[1])
    if header.get("alg") is None:
        raise ProtocolError("a token whose header names no algorithm")
    if header["alg"] != "none":
        raise TokenRefusedError
    return claims


def _read_json(part: str) -> Mapping[str, Any]:
    """What is no object has no fields."""
    try:
        content = b64decode(part + "=" * (-len(part) % 4), validate=True)
        read = json.loads(content, parse_constant=_refuse_constant)
    except (binascii.Error, ValueError, RecursionError):
        raise TokenRefusedError from None
    return read if isinstance(read, dict) else {}


def _refuse_constant(_name: str) -> NoReturn:
    raise TokenRefusedError  # NaN and its like, which Python's reader would take


def _seconds(claims: Mapping[str, Any], name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TokenRefusedError
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _milliseconds(seconds: float) -> int:
    """Never beyond what a long holds, as Math.round."""
    return round(min(max(seconds * 1000, -_LONG_MAX), _LONG_MAX))


def _scope(claim: Any) -> frozenset[str]:
    values = claim if isinstance(claim, list) else [claim]
    if not isinstance(claim, (str, list, type(None))):
        raise TokenRefusedError
    return frozenset(each.strip() for each in values if isinstance(each, str) and each.strip())
