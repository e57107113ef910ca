"""Delegation tokens: whoever authenticates with one acts as its owner (KIP-48, KIP-373)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from logquake.client.admin.asking.asks import ANYBODY, Ask, Asks, Reply, fixed
from logquake.client.admin.asking.refusals import refusal
from logquake.client.admin.asking.results import Results
from logquake.wire.messages.delegation_tokens import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    DescribedDelegationToken,
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from logquake.wire.principals import KafkaPrincipal


@dataclass(frozen=True, slots=True)
class DelegationToken:
    """``hmac`` is its password. Times are Unix milliseconds; ``requester`` created it."""

    token_id: str
    hmac: bytes = field(repr=False)
    owner: KafkaPrincipal
    requester: KafkaPrincipal
    renewers: tuple[KafkaPrincipal, ...]
    issued_ms: int
    expiry_ms: int
    max_ms: int


def create_delegation_token(
    results: Results[None, DelegationToken],
    *,
    owner: KafkaPrincipal | None,
    renewers: Sequence[KafkaPrincipal],
    max_lifetime_ms: int,
) -> Asks:
    request = CreateDelegationTokenRequest(
        owner_principal_type=owner.type if owner else "",
        owner_principal_name=owner.name if owner else "",
        renewers=[
            CreatableRenewers(principal_type=each.type, principal_name=each.name)
            for each in renewers
        ],
        max_lifetime_ms=max_lifetime_ms,
    )
    reply: Reply[CreateDelegationTokenResponse] = yield Ask(
        ANYBODY, CreateDelegationTokenResponse, fixed(request)
    )
    answer = reply.message
    token = DelegationToken(
        answer.token_id,
        answer.hmac,
        KafkaPrincipal(answer.principal_type, answer.principal_name),
        KafkaPrincipal(
            answer.token_requester_principal_type, answer.token_requester_principal_name
        ),
        tuple(renewers),
        answer.issue_timestamp_ms,
        answer.expiry_timestamp_ms,
        answer.max_timestamp_ms,
    )
    results.settle(None, refusal(answer.error_code, "a delegation token") or token)


def renew_delegation_token(
    hmac: bytes, results: Results[None, int], *, renew_period_ms: int
) -> Asks:
    request = RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=renew_period_ms)
    reply: Reply[RenewDelegationTokenResponse] = yield Ask(
        ANYBODY, RenewDelegationTokenResponse, fixed(request)
    )
    _tell_expiry(reply.message, results)


def expire_delegation_token(
    hmac: bytes, results: Results[None, int], *, expiry_period_ms: int
) -> Asks:
    request = ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=expiry_period_ms)
    reply: Reply[ExpireDelegationTokenResponse] = yield Ask(
        ANYBODY, ExpireDelegationTokenResponse, fixed(request)
    )
    _tell_expiry(reply.message, results)


def _tell_expiry(
    answer: RenewDelegationTokenResponse | ExpireDelegationTokenResponse,
    results: Results[None, int],
) -> None:
    error = refusal(answer.error_code, "the delegation token")
    results.settle(None, error or answer.expiry_timestamp_ms)


def describe_delegation_token(
    owners: Sequence[KafkaPrincipal] | None, results: Results[None, tuple[DelegationToken, ...]]
) -> Asks:
    """None means all owners whose tokens the caller may see."""
    named = (
        None
        if owners is None
        else [
            DescribeDelegationTokenOwner(principal_type=each.type, principal_name=each.name)
            for each in owners
        ]
    )
    reply: Reply[DescribeDelegationTokenResponse] = yield Ask(
        ANYBODY,
        DescribeDelegationTokenResponse,
        lambda _: DescribeDelegationTokenRequest(owners=named),
    )
    answer = reply.message
    error = refusal(answer.error_code, "delegation tokens")
    results.settle(None, error or tuple(map(_token, answer.tokens)))


def _token(told: DescribedDelegationToken) -> DelegationToken:
    return DelegationToken(
        told.token_id,
        told.hmac,
        KafkaPrincipal(told.principal_type, told.principal_name),
        KafkaPrincipal(told.token_requester_principal_type, told.token_requester_principal_name),
        tuple(KafkaPrincipal(each.principal_type, each.principal_name) for each in told.renewers),
        told.issue_timestamp,
        told.expiry_timestamp,
        told.max_timestamp,
    )
