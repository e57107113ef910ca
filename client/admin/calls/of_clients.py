"""Clients: their ACLs, quotas and credentials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from logquake.client.admin import acls, quotas, scram, tokens
from logquake.client.admin.acls import AclBindingFilter, DeletedAcl, indefinite
from logquake.client.admin.calls.calling import Calling
from logquake.client.admin.quotas import (
    ClientQuotaEntity,
    ClientQuotaFilter,
    ClientQuotaOp,
    ClientQuotas,
)
from logquake.client.admin.scram import UserScramCredentialAlteration, UserScramCredentials
from logquake.client.admin.tokens import DelegationToken
from logquake.client.errors import ClientError, broker_error
from logquake.client.pending import Promise
from logquake.wire.acls import AclBinding
from logquake.wire.errors import ErrorCode
from logquake.wire.principals import KafkaPrincipal

BROKERS_DEFAULT = -1  # for a token's lifetime and renewal: the broker's default


class ClientCalls(Calling):
    def describe_acls(
        self, wanted: AclBindingFilter, *, timeout_ms: int | None = None
    ) -> Promise[tuple[AclBinding, ...]]:
        if wanted.is_unknown:
            return self._refused("a filter may not have UNKNOWN in it")
        return self._one(
            "describeAcls", lambda results: acls.describe_acls(wanted, results), timeout_ms
        )

    def create_acls(
        self, bindings: Iterable[AclBinding], *, timeout_ms: int | None = None
    ) -> dict[AclBinding, Promise[None]]:
        """Brokers apply them a moment after the response."""
        wanted = list(dict.fromkeys(bindings))
        return self._each("createAcls", wanted, acls.create_acls, timeout_ms, _indefinite(wanted))

    def delete_acls(
        self, filters: Iterable[AclBindingFilter], *, timeout_ms: int | None = None
    ) -> dict[AclBindingFilter, Promise[tuple[DeletedAcl, ...]]]:
        """By filter, the ACLs that it matched."""
        return self._each("deleteAcls", filters, acls.delete_acls, timeout_ms)

    # Quotas

    def describe_client_quotas(
        self, wanted: ClientQuotaFilter, *, timeout_ms: int | None = None
    ) -> Promise[ClientQuotas]:
        return self._one(
            "describeClientQuotas",
            lambda results: quotas.describe_client_quotas(wanted, results),
            timeout_ms,
        )

    def alter_client_quotas(
        self,
        changes: Mapping[ClientQuotaEntity, Sequence[ClientQuotaOp]],
        *,
        validate_only: bool = False,
        timeout_ms: int | None = None,
    ) -> dict[ClientQuotaEntity, Promise[None]]:
        return self._each(
            "alterClientQuotas",
            changes,
            lambda _, results: quotas.alter_client_quotas(
                changes, results, validate_only=validate_only
            ),
            timeout_ms,
        )

    # Credentials

    def describe_user_scram_credentials(
        self, users: Iterable[str] | None = None, *, timeout_ms: int | None = None
    ) -> Promise[UserScramCredentials]:
        """Mechanisms and iterations of these users, or of all; an error for a user without any."""
        return self._one(
            "describeUserScramCredentials",
            lambda results: scram.describe_user_scram_credentials(users, results),
            timeout_ms,
        )

    def alter_user_scram_credentials(
        self,
        alterations: Iterable[UserScramCredentialAlteration],
        *,
        timeout_ms: int | None = None,
    ) -> dict[str, Promise[None]]:
        """By user. Passwords do not leave this client, only their salted hashes."""
        wanted = list(alterations)
        refused = {each.user: error for each in wanted if (error := scram.unacceptable(each))}
        return self._each(
            "alterUserScramCredentials",
            [each.user for each in wanted],
            lambda users, results: scram.alter_user_scram_credentials(
                [each for each in wanted if each.user in users], results, self._makings.new_salt
            ),
            timeout_ms,
            refused,
        )

    def create_delegation_token(
        self,
        *,
        owner: KafkaPrincipal | None = None,
        renewers: Sequence[KafkaPrincipal] = (),
        max_lifetime_ms: int = BROKERS_DEFAULT,
        timeout_ms: int | None = None,
    ) -> Promise[DelegationToken]:
        """For the caller, or for an owner on whose behalf the caller may act."""
        return self._one(
            "createDelegationToken",
            lambda results: tokens.create_delegation_token(
                results, owner=owner, renewers=renewers, max_lifetime_ms=max_lifetime_ms
            ),
            timeout_ms,
        )

    def renew_delegation_token(
        self,
        hmac: bytes,
        *,
        renew_period_ms: int = BROKERS_DEFAULT,
        timeout_ms: int | None = None,
    ) -> Promise[int]:
        """Returns the new time of expiry, in Unix milliseconds."""
        return self._one(
            "renewDelegationToken",
            lambda results: tokens.renew_delegation_token(
                hmac, results, renew_period_ms=renew_period_ms
            ),
            timeout_ms,
        )

    def expire_delegation_token(
        self,
        hmac: bytes,
        *,
        expiry_period_ms: int = BROKERS_DEFAULT,
        timeout_ms: int | None = None,
    ) -> Promise[int]:
        """Expire after that time, at once if negative. Returns when, in Unix milliseconds."""
        return self._one(
            "expireDelegationToken",
            lambda results: tokens.expire_delegation_token(
                hmac, results, expiry_period_ms=expiry_period_ms
            ),
            timeout_ms,
        )

    def describe_delegation_token(
        self, owners: Sequence[KafkaPrincipal] | None = None, *, timeout_ms: int | None = None
    ) -> Promise[tuple[DelegationToken, ...]]:
        return self._one(
            "describeDelegationToken",
            lambda results: tokens.describe_delegation_token(owners, results),
            timeout_ms,
        )

    def _refused(self, why: str) -> Promise[tuple[AclBinding, ...]]:
        promise: Promise[tuple[AclBinding, ...]] = self._promise()
        promise.settle(broker_error(ErrorCode.INVALID_REQUEST, why))
        return promise


def _indefinite(bindings: Iterable[AclBinding]) -> dict[AclBinding, ClientError]:
    found = ((each, indefinite(each)) for each in bindings)
    return {
        each: broker_error(ErrorCode.INVALID_REQUEST, f"an ACL needs another {field}")
        for each, field in found
        if field
    }
