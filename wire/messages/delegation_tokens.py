"""Delegation tokens (KIP-48)."""

from __future__ import annotations

from logquake.wire.schema import (
    Message,
    Struct,
    array,
    binary,
    int16,
    int32,
    int64,
    string,
)


class CreatableRenewers(Struct):
    principal_type: str = string()
    principal_name: str = string()


class CreateDelegationTokenRequest(Message, key=38, versions="0-3", flexible="2+"):
    """A token for the requester, or from 3 on for another owner (KIP-48, KIP-373).

    2: flexible.
    """

    owner_principal_type: str | None = string("3+", nullable="3+")
    owner_principal_name: str | None = string("3+", nullable="3+")
    renewers: list[CreatableRenewers] = array(CreatableRenewers)
    max_lifetime_ms: int = int64()


class CreateDelegationTokenResponse(Message, key=38, versions="0-3", flexible="2+"):
    """The token's id, HMAC and times in milliseconds.

    2: flexible. 3: the requester (KIP-373).
    """

    error_code: int = int16()
    principal_type: str = string()
    principal_name: str = string()
    token_requester_principal_type: str = string("3+")
    token_requester_principal_name: str = string("3+")
    issue_timestamp_ms: int = int64()
    expiry_timestamp_ms: int = int64()
    max_timestamp_ms: int = int64()
    token_id: str = string()
    hmac: bytes = binary()
    throttle_time_ms: int = int32()


class RenewDelegationTokenRequest(Message, key=39, versions="0-2", flexible="2+"):
    """Puts a token's expiry off (KIP-48).

    2: flexible.
    """

    hmac: bytes = binary()
    renew_period_ms: int = int64()


class RenewDelegationTokenResponse(Message, key=39, versions="0-2", flexible="2+"):
    """The new expiry.

    2: flexible.
    """

    error_code: int = int16()
    expiry_timestamp_ms: int = int64()
    throttle_time_ms: int = int32()


class ExpireDelegationTokenRequest(Message, key=40, versions="0-2", flexible="2+"):
    """Lets a token expire sooner; a negative period removes it (KIP-48).

    2: flexible.
    """

    hmac: bytes = binary()
    expiry_time_period_ms: int = int64()


class ExpireDelegationTokenResponse(Message, key=40, versions="0-2", flexible="2+"):
    """The new expiry.

    2: flexible.
    """

    error_code: int = int16()
    expiry_timestamp_ms: int = int64()
    throttle_time_ms: int = int32()


class DescribeDelegationTokenOwner(Struct):
    principal_type: str = string()
    principal_name: str = string()


class DescribeDelegationTokenRequest(Message, key=41, versions="0-3", flexible="2+"):
    """The tokens of some owners; null for all (KIP-48).

    2: flexible.
    """

    owners: list[DescribeDelegationTokenOwner] | None = array(
        DescribeDelegationTokenOwner, nullable="0+"
    )


class DescribedDelegationTokenRenewer(Struct):
    principal_type: str = string()
    principal_name: str = string()


class DescribedDelegationToken(Struct):
    principal_type: str = string()
    principal_name: str = string()
    token_requester_principal_type: str = string("3+")
    token_requester_principal_name: str = string("3+")
    issue_timestamp: int = int64()
    expiry_timestamp: int = int64()
    max_timestamp: int = int64()
    token_id: str = string()
    hmac: bytes = binary()
    renewers: list[DescribedDelegationTokenRenewer] = array(DescribedDelegationTokenRenewer)


class DescribeDelegationTokenResponse(Message, key=41, versions="0-3", flexible="2+"):
    """Tokens with their renewers.

    2: flexible. 3: the requester (KIP-373).
    """

    error_code: int = int16()
    tokens: list[DescribedDelegationToken] = array(DescribedDelegationToken)
    throttle_time_ms: int = int32()
