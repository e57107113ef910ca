"""Refused: access control lists, credentials and delegation tokens."""

from __future__ import annotations

from logquake.wire.messages.acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from logquake.wire.messages.delegation_tokens import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from logquake.wire.messages.scram import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from logquake.wire.principals import ANONYMOUS
from logquake.wire.refusals.refusal import Refusal, RefusalTable
from logquake.wire.sentinels import NO_TIMESTAMP

_FIRST_TOKEN_WITH_REQUESTER = 3


def _create_acls(body: CreateAclsRequest, _version: int, why: Refusal) -> CreateAclsResponse:
    result = AclCreationResult(error_code=why.error, error_message=why.message)
    return CreateAclsResponse(results=[result for _ in body.creations])


def _delete_acls(body: DeleteAclsRequest, _version: int, why: Refusal) -> DeleteAclsResponse:
    result = DeleteAclsFilterResult(error_code=why.error, error_message=why.message)
    return DeleteAclsResponse(filter_results=[result for _ in body.filters])


def _describe_scram_users(
    body: DescribeUserScramCredentialsRequest, _version: int, why: Refusal
) -> DescribeUserScramCredentialsResponse:
    """Of each user, whom Kafka leaves without a name."""
    result = DescribeUserScramCredentialsResult(error_code=why.error, error_message=why.message)
    return DescribeUserScramCredentialsResponse(
        error_code=why.error,
        error_message=why.message,
        results=[result for _ in body.users or ()],
    )


def _alter_scram_users(
    body: AlterUserScramCredentialsRequest, _version: int, why: Refusal
) -> AlterUserScramCredentialsResponse:
    users = {each.name for each in body.deletions} | {each.name for each in body.upsertions}
    results = [
        AlterUserScramCredentialsResult(user=user, error_code=why.error, error_message=why.message)
        for user in sorted(users)
    ]
    return AlterUserScramCredentialsResponse(results=results)


def _create_token(
    _body: CreateDelegationTokenRequest, version: int, why: Refusal
) -> CreateDelegationTokenResponse:
    answer = CreateDelegationTokenResponse(
        error_code=why.error,
        principal_type=ANONYMOUS.type,
        principal_name=ANONYMOUS.name,
        issue_timestamp_ms=NO_TIMESTAMP,
        expiry_timestamp_ms=NO_TIMESTAMP,
        max_timestamp_ms=NO_TIMESTAMP,
    )
    if version >= _FIRST_TOKEN_WITH_REQUESTER:
        answer.token_requester_principal_type = ANONYMOUS.type
        answer.token_requester_principal_name = ANONYMOUS.name
    return answer


REFUSALS: RefusalTable = {
    CreateAclsRequest: _create_acls,
    DeleteAclsRequest: _delete_acls,
    DescribeUserScramCredentialsRequest: _describe_scram_users,
    AlterUserScramCredentialsRequest: _alter_scram_users,
    CreateDelegationTokenRequest: _create_token,
}
