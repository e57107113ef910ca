"""CreateDelegationToken (38), RenewDelegationToken (39), ExpireDelegationToken (40) and
DescribeDelegationToken (41), versions 0-3, 0-2, 0-2 and 0-3.

KIP-48; KIP-373 (v3) has tokens made for others. Whoever asks must have shown who it is, and not by
a token: PLAINTEXT, TLS without a client certificate and tokens make nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from logquake.node.authentication.tokens import may_describe
from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.life.delegation_tokens import DelegationTokens
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.listeners import PLAINTEXT, ListenerName
from logquake.wire.messages.delegation_tokens import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from logquake.wire.principals import ANONYMOUS, KafkaPrincipal
from logquake.wire.schema import Message
from logquake.zk.znodes.delegation_tokens import TokenInformation

_FIRST_VERSION_WITH_OWNER = 3
_NO_TIME = -1  # DelegationTokenManager.ErrorTimestamp
_USER = ANONYMOUS.type

B = TypeVar("B", bound=Message)


class _OfTokens(Handler[B]):
    """``protocols``: the security protocol of each listener."""

    def __init__(
        self,
        tokens: DelegationTokens,
        authorizer: Authorizer,
        protocols: Mapping[ListenerName, str],
    ) -> None:
        self._tokens = tokens
        self._authorizer = authorizer
        self._protocols = protocols

    def _is_known(self, request: Request) -> bool:
        """Whether it may ask about tokens at all."""
        protocol = self._protocols.get(request.listener, PLAINTEXT)
        is_nobody = protocol == "SSL" and request.principal == ANONYMOUS
        return not (request.principal.token_authenticated or protocol == PLAINTEXT or is_nobody)


class CreateDelegationToken(_OfTokens[CreateDelegationTokenRequest]):
    key = ApiKey.CREATE_DELEGATION_TOKEN
    versions = range(4)

    def handle(self, request: Request, body: CreateDelegationTokenRequest) -> None:
        requester = request.principal
        owner = requester
        if body.owner_principal_name:
            owner = KafkaPrincipal(body.owner_principal_type or "", body.owner_principal_name)
        renewers = [KafkaPrincipal(e.principal_type, e.principal_name) for e in body.renewers]

        def done(outcome: TokenInformation | ErrorCode) -> None:
            answer = self._answer(outcome, owner)
            if request.header.api_version >= _FIRST_VERSION_WITH_OWNER:
                answer.token_requester_principal_type = requester.type
                answer.token_requester_principal_name = requester.name
            request.reply(answer)

        if not self._is_known(request):
            done(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
        elif owner != requester and not self._authorizer.allows(
            request, AclOperation.CREATE_TOKENS, ResourceType.USER, str(owner)
        ):
            done(ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED)
        elif any(each.type != _USER for each in renewers):
            done(ErrorCode.INVALID_PRINCIPAL_TYPE)
        else:
            self._tokens.create(owner, requester, renewers, body.max_lifetime_ms, done)

    def _answer(
        self, outcome: TokenInformation | ErrorCode, owner: KafkaPrincipal
    ) -> CreateDelegationTokenResponse:
        answer = CreateDelegationTokenResponse(
            principal_type=owner.type,
            principal_name=owner.name,
            issue_timestamp_ms=_NO_TIME,
            expiry_timestamp_ms=_NO_TIME,
            max_timestamp_ms=_NO_TIME,
        )
        if isinstance(outcome, ErrorCode):
            answer.error_code = outcome
            return answer
        answer.issue_timestamp_ms = outcome.issued_ms
        answer.expiry_timestamp_ms = outcome.expires_ms
        answer.max_timestamp_ms = outcome.max_ms
        answer.token_id = outcome.token_id
        answer.hmac = self._tokens.settings.hmac(outcome.token_id)
        return answer


class RenewDelegationToken(_OfTokens[RenewDelegationTokenRequest]):
    key = ApiKey.RENEW_DELEGATION_TOKEN
    versions = range(3)

    def handle(self, request: Request, body: RenewDelegationTokenRequest) -> None:
        def done(outcome: TokenInformation | ErrorCode) -> None:
            answer = RenewDelegationTokenResponse(expiry_timestamp_ms=_NO_TIME)
            if isinstance(outcome, ErrorCode):
                answer.error_code = outcome
            else:
                answer.expiry_timestamp_ms = outcome.expires_ms
            request.reply(answer)

        if self._is_known(request):
            self._tokens.renew(request.principal, bytes(body.hmac), body.renew_period_ms, done)
        else:
            done(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)


class ExpireDelegationToken(_OfTokens[ExpireDelegationTokenRequest]):
    key = ApiKey.EXPIRE_DELEGATION_TOKEN
    versions = range(3)

    def handle(self, request: Request, body: ExpireDelegationTokenRequest) -> None:
        def done(expires: int | ErrorCode) -> None:
            answer = ExpireDelegationTokenResponse(expiry_timestamp_ms=_NO_TIME)
            if isinstance(expires, ErrorCode):
                answer.error_code = expires
            else:
                answer.expiry_timestamp_ms = expires
            request.reply(answer)

        if self._is_known(request):
            period_ms = body.expiry_time_period_ms
            self._tokens.expire(request.principal, bytes(body.hmac), period_ms, done)
        else:
            done(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)


class DescribeDelegationToken(_OfTokens[DescribeDelegationTokenRequest]):
    key = ApiKey.DESCRIBE_DELEGATION_TOKEN
    versions = range(4)

    def handle(self, request: Request, body: DescribeDelegationTokenRequest) -> None:
        answer = DescribeDelegationTokenResponse()
        if not self._is_known(request):
            answer.error_code = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
        elif not self._tokens.is_enabled:
            answer.error_code = ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
        else:
            version = request.header.api_version
            answer.tokens = [self._described(version, each) for each in self._wanted(request, body)]
        request.reply(answer)

    def _wanted(
        self, request: Request, body: DescribeDelegationTokenRequest
    ) -> list[TokenInformation]:
        """Null stands for all owners, and none for none."""
        owners = None
        if body.owners is not None:
            owners = [KafkaPrincipal(e.principal_type, e.principal_name) for e in body.owners]

        def allows(token: TokenInformation) -> bool:
            may = self._authorizer.allows
            return may(
                request, AclOperation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token.token_id
            ) or may(request, AclOperation.DESCRIBE_TOKENS, ResourceType.USER, str(token.owner))

        return [
            token
            for token in self._tokens.all
            if may_describe(token, request.principal, owners, allows)
        ]

    def _described(self, version: int, token: TokenInformation) -> DescribedDelegationToken:
        described = DescribedDelegationToken(
            principal_type=token.owner.type,
            principal_name=token.owner.name,
            issue_timestamp=token.issued_ms,
            expiry_timestamp=token.expires_ms,
            max_timestamp=token.max_ms,
            token_id=token.token_id,
            hmac=self._tokens.settings.hmac(token.token_id),
            renewers=[
                DescribedDelegationTokenRenewer(principal_type=e.type, principal_name=e.name)
                for e in token.renewers
            ],
        )
        if version >= _FIRST_VERSION_WITH_OWNER:
            described.token_requester_principal_type = token.requester.type
            described.token_requester_principal_name = token.requester.name
        return described
