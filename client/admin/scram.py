"""Users' SCRAM credentials (KIP-554). Brokers get a salted hash, never the password."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from logquake.client.admin.asking.asks import ANYBODY, CONTROLLER, Ask, Asks, Reply, fixed
from logquake.client.admin.asking.refusals import by_controller, refusal
from logquake.client.admin.asking.results import Results
from logquake.client.errors import BrokerError, ClientError
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.scram import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
    UserName,
)
from logquake.wire.sasl.scram_mechanism import ScramMechanism

_ITERATIONS = 4096


@dataclass(frozen=True, slots=True)
class ScramCredentialInfo:
    """``mechanism`` is None if unknown, from a later Kafka."""

    mechanism: ScramMechanism | None
    iterations: int


@dataclass(frozen=True, slots=True)
class UserScramCredentialUpsertion:
    """``salt`` is random by default."""

    user: str
    password: str = field(repr=False)
    mechanism: ScramMechanism = ScramMechanism.SCRAM_SHA_256
    iterations: int = _ITERATIONS
    salt: bytes | None = None


@dataclass(frozen=True, slots=True)
class UserScramCredentialDeletion:
    user: str
    mechanism: ScramMechanism


UserScramCredentialAlteration: TypeAlias = (
    UserScramCredentialUpsertion | UserScramCredentialDeletion
)
UserScramCredentials: TypeAlias = Mapping[str, tuple[ScramCredentialInfo, ...] | ClientError]
"""By user; a requested user without credentials has an error."""


def describe_user_scram_credentials(
    users: Iterable[str] | None, results: Results[None, UserScramCredentials]
) -> Asks:
    """None, or an empty list, means all users."""
    names = [UserName(name=user) for user in users or ()]
    request = DescribeUserScramCredentialsRequest(users=names or None)
    reply: Reply[DescribeUserScramCredentialsResponse] = yield Ask(
        ANYBODY, DescribeUserScramCredentialsResponse, fixed(request)
    )
    answer = reply.message
    error = refusal(answer.error_code, "SCRAM credentials", answer.error_message)
    described = {
        each.user: refusal(each.error_code, f"user {each.user}", each.error_message)
        or tuple(map(_info, each.credential_infos))
        for each in answer.results
    }
    results.settle(None, error or described)


def _info(told: CredentialInfo) -> ScramCredentialInfo:
    known = {each.type_id: each for each in ScramMechanism}
    return ScramCredentialInfo(known.get(told.mechanism), told.iterations)


def alter_user_scram_credentials(
    alterations: Sequence[UserScramCredentialAlteration],
    results: Results[str, None],
    new_salt: Callable[[], bytes],
) -> Asks:
    """Each user has one outcome, however many alterations there are."""
    request = AlterUserScramCredentialsRequest(
        deletions=[
            ScramCredentialDeletion(name=each.user, mechanism=each.mechanism.type_id)
            for each in alterations
            if isinstance(each, UserScramCredentialDeletion)
        ],
        upsertions=[
            _upsertion(each, each.salt or new_salt())
            for each in alterations
            if isinstance(each, UserScramCredentialUpsertion)
        ],
    )
    reply: Reply[AlterUserScramCredentialsResponse] = yield Ask(
        CONTROLLER, AlterUserScramCredentialsResponse, fixed(request), by_controller
    )
    for told in reply.message.results:
        error = refusal(told.error_code, f"user {told.user}", told.error_message)
        results.settle(told.user, error)


def unacceptable(alteration: UserScramCredentialAlteration) -> ClientError | None:
    """Alterations that are refused without asking a broker."""
    if not alteration.user:
        return BrokerError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "a user has to have a name")
    if isinstance(alteration, UserScramCredentialUpsertion) and not alteration.password:
        return BrokerError(
            ErrorCode.UNACCEPTABLE_CREDENTIAL, f"the password of {alteration.user} is empty"
        )
    return None


def _upsertion(wanted: UserScramCredentialUpsertion, salt: bytes) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(
        name=wanted.user,
        mechanism=wanted.mechanism.type_id,
        iterations=wanted.iterations,
        salt=salt,
        salted_password=wanted.mechanism.salted_password(wanted.password, salt, wanted.iterations),
    )
