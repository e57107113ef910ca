"""DescribeUserScramCredentials (50) and AlterUserScramCredentials (51), version 0 (KIP-554).

Any broker describes, the controller alters. Clients send salted passwords; salts and keys are in no
answer and no journal.
"""

from __future__ import annotations

from collections.abc import Mapping

from logquake.controller.controller import Controller
from logquake.node.authentication.scram_changes import Change, Deletion, Refusal, Upsertion
from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.life.scram_administration import Described, ScramAdministration
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.scram import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)

Told = tuple[ErrorCode, str | None]

# Kafka leaves out the usual words for an error.
_NOT_CONTROLLER: Told = ErrorCode.NOT_CONTROLLER, None
_DENIED: Told = ErrorCode.CLUSTER_AUTHORIZATION_FAILED, None


class DescribeUserScramCredentials(Handler[DescribeUserScramCredentialsRequest]):
    key = ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS
    versions = range(1)

    def __init__(self, users: ScramAdministration) -> None:
        self._users = users

    def handle(self, request: Request, body: DescribeUserScramCredentialsRequest) -> None:
        def done(described: Described | Refusal) -> None:
            if isinstance(described, tuple):
                code, message = described
                answer = DescribeUserScramCredentialsResponse(
                    error_code=code, error_message=message
                )
            else:
                results = [_described(user, each) for user, each in described.items()]
                answer = DescribeUserScramCredentialsResponse(results=results)
            request.reply(answer)

        asked = None if body.users is None else [each.name for each in body.users]
        self._users.describe(asked, done)


class AlterUserScramCredentials(Handler[AlterUserScramCredentialsRequest]):
    key = ApiKey.ALTER_USER_SCRAM_CREDENTIALS
    versions = range(1)

    def __init__(
        self, users: ScramAdministration, controller: Controller, authorizer: Authorizer
    ) -> None:
        self._users = users
        self._controller = controller
        self._authorizer = authorizer

    def handle(self, request: Request, body: AlterUserScramCredentialsRequest) -> None:
        changes = _changes(body)

        def reply(told: Mapping[str, Told | None]) -> None:
            results = [_altered(user, each) for user, each in told.items()]
            request.reply(AlterUserScramCredentialsResponse(results=results))

        users = sorted({change.user for change in changes})
        if not self._controller.is_active:
            reply(dict.fromkeys(users, _NOT_CONTROLLER))
        elif not self._authorizer.allows_on_cluster(request, AclOperation.ALTER):
            reply(dict.fromkeys(users, _DENIED))
        else:
            self._users.alter(changes, reply)


def _changes(body: AlterUserScramCredentialsRequest) -> list[Change]:
    """What is kept of the request outlives the buffer that it came in."""
    deletions = [Deletion(each.name, each.mechanism) for each in body.deletions]
    upsertions = [
        Upsertion(
            each.name,
            each.mechanism,
            each.iterations,
            bytes(each.salt),
            bytes(each.salted_password),
        )
        for each in body.upsertions
    ]
    return [*deletions, *upsertions]


def _described(user: str, each: Mapping[int, int] | Refusal) -> DescribeUserScramCredentialsResult:
    result = DescribeUserScramCredentialsResult(user=user)
    if isinstance(each, tuple):
        result.error_code, result.error_message = each
    else:
        result.credential_infos = [
            CredentialInfo(mechanism=mechanism, iterations=iterations)
            for mechanism, iterations in each.items()
        ]
    return result


def _altered(user: str, refusal: Told | None) -> AlterUserScramCredentialsResult:
    result = AlterUserScramCredentialsResult(user=user)
    if refusal is not None:
        result.error_code, result.error_message = refusal
    return result
