"""As Users.java: what is kept of users, their rights, credentials, tokens and quotas."""

from __future__ import annotations

from functools import partial

from logquake.client import Admin
from logquake.client.admin.acls import AclBindingFilter, DeletedAcl
from logquake.client.admin.quotas import (
    CLIENT_ID,
    USER,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ClientQuotaFilterComponent,
    ClientQuotaOp,
)
from logquake.client.admin.scram import (
    UserScramCredentialAlteration,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from logquake.client.errors import ClientError
from logquake.wire.acls import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourceType,
)
from logquake.wire.principals import KafkaPrincipal, parse_principal
from logquake.wire.sasl.scram_mechanism import ScramMechanism
from tests.compat.admin_calls.said import Said, all_of, done, text
from tests.waiting import PATIENCE_S, wait_for

STRONG = ScramMechanism.SCRAM_SHA_512


def make(admin: Admin, _: str, said: Said) -> None:
    _rights(admin, said)
    _credentials(admin, said)
    _tokens(admin, said)
    _quotas(admin, said)


def _acl(
    kind: ResourceType,
    name: str,
    pattern: PatternType,
    principal: KafkaPrincipal,
    operation: AclOperation,
    permission: AclPermissionType = AclPermissionType.ALLOW,
) -> AclBinding:
    return AclBinding(
        ResourcePattern(kind, name, pattern),
        AccessControlEntry(principal, "*", operation, permission),
    )


ALICE, BOB, A = map(parse_principal, ("User:alice", "User:bob", "User:a"))
MAY_READ = _acl(ResourceType.TOPIC, "t", PatternType.PREFIXED, ALICE, AclOperation.READ)
MAY_NOT_WRITE = _acl(
    ResourceType.TOPIC, "t", PatternType.LITERAL, BOB, AclOperation.WRITE, AclPermissionType.DENY
)
OF_ALICE = AclBindingFilter(
    ResourceType.TOPIC,
    "t",
    PatternType.PREFIXED,
    "User:alice",
    "*",
    AclOperation.READ,
    AclPermissionType.ALLOW,
)


def _rights(admin: Admin, said: Said) -> None:
    said.of("create rights", lambda: done(admin.create_acls([MAY_READ, MAY_NOT_WRITE])))
    for wrong in (
        _acl(ResourceType.CLUSTER, "odd", PatternType.LITERAL, A, AclOperation.ALTER),
        _acl(ResourceType.TOPIC, "", PatternType.LITERAL, A, AclOperation.READ),
        _acl(ResourceType.GROUP, "g", PatternType.LITERAL, A, AclOperation.WRITE),
    ):
        created = admin.create_acls([wrong])
        said.of(f"create {_shown(wrong)}", partial(done, created))
    everything = AclBindingFilter()
    said.of(
        "describe rights",
        lambda: set(map(_shown, admin.describe_acls(everything).result(PATIENCE_S))),
    )
    said.of(
        "describe one's rights",
        lambda: list(map(_shown, admin.describe_acls(OF_ALICE).result(PATIENCE_S))),
    )
    said.of("delete rights", lambda: _deleted(admin, OF_ALICE))
    said.of("delete them again", lambda: _deleted(admin, OF_ALICE))
    said.of("delete all rights", lambda: set(_deleted(admin, everything)))


def _deleted(admin: Admin, wanted: AclBindingFilter) -> list[str]:
    found: tuple[DeletedAcl, ...] = all_of(admin.delete_acls([wanted]))[wanted]
    return [_shown(each.binding) for each in found if each.error is None]


def _shown(binding: AclBinding) -> str:
    pattern, entry = binding.pattern, binding.entry
    return (
        f"(pattern=ResourcePattern(resourceType={pattern.type.name}, name={pattern.name}, "
        f"patternType={pattern.pattern.name}), entry=(principal={entry.principal}, "
        f"host={entry.host}, operation={entry.operation.name}, "
        f"permissionType={entry.permission.name}))"
    )


def _credentials(admin: Admin, said: Said) -> None:
    good = UserScramCredentialUpsertion("alice", "hush", STRONG, 4096)
    weak = UserScramCredentialUpsertion("alice", "hush", ScramMechanism.SCRAM_SHA_256, 16)
    _altered(admin, said, "credential", good)
    _altered(admin, said, "weak credential", weak)
    _altered(
        admin, said, "nobody's credential", UserScramCredentialUpsertion("", "hush", STRONG, 4096)
    )
    said.of("describe credentials", lambda: _credentials_of(admin, None))
    said.of("describe one's", lambda: _credentials_of(admin, "alice")["alice"])
    said.of("describe nobody's", lambda: _credentials_of(admin, "bob")["bob"])
    gone = UserScramCredentialDeletion("alice", STRONG)
    _altered(admin, said, "delete a credential", gone)
    _altered(admin, said, "delete it again", gone)
    _altered(
        admin,
        said,
        "one user twice",
        UserScramCredentialUpsertion("carol", "hush", STRONG, 4096),
        UserScramCredentialDeletion("carol", STRONG),
    )


def _altered(
    admin: Admin, said: Said, call: str, *alterations: UserScramCredentialAlteration
) -> None:
    said.of(call, lambda: done(admin.alter_user_scram_credentials(alterations)))


def _credentials_of(admin: Admin, user: str | None) -> dict[str, str]:
    asked = admin.describe_user_scram_credentials(user and [user])
    described = {}
    for name, found in asked.result(PATIENCE_S).items():
        if isinstance(found, ClientError):
            raise found
        infos = [
            f"ScramCredentialInfo{{mechanism={each.mechanism.name}, iterations={each.iterations}}}"
            for each in found
            if each.mechanism
        ]
        described[name] = (
            f"UserScramCredentialsDescription{{name='{name}', credentialInfos={text(infos)}}}"
        )
    return described


def _tokens(admin: Admin, said: Said) -> None:
    said.of("create a token", lambda: admin.create_delegation_token().result(PATIENCE_S))
    said.of("renew a token", lambda: admin.renew_delegation_token(b"\1").result(PATIENCE_S))
    said.of("expire a token", lambda: admin.expire_delegation_token(b"\1").result(PATIENCE_S))
    said.of("describe tokens", lambda: admin.describe_delegation_token().result(PATIENCE_S))


def _quotas(admin: Admin, said: Said) -> None:
    alice = ClientQuotaEntity.of({USER: "alice"})
    everybody = ClientQuotaEntity.of({CLIENT_ID: None})
    nobody = ClientQuotaEntity.of({})
    everything = ClientQuotaFilter()
    _quota(admin, said, "quota of a user", alice, "producer_byte_rate", 1e6)
    _quota(admin, said, "quota of every client", everybody, "request_percentage", 200.0)
    _quota(admin, said, "unknown quota", alice, "patience", 1.0)
    _quota(admin, said, "negative quota", alice, "consumer_byte_rate", -1.0)
    _quota(admin, said, "quota of nobody", nobody, "producer_byte_rate", 1.0)
    wait_for("quotas that are heard of", lambda: len(_quotas_of(admin, everything)) == 2)
    said.of("describe quotas", lambda: _quotas_of(admin, everything))
    of_alice = ClientQuotaFilter((ClientQuotaFilterComponent(USER, "alice"),))
    said.of("describe one's quotas", lambda: _quotas_of(admin, of_alice))
    default = ClientQuotaFilter((ClientQuotaFilterComponent(CLIENT_ID),), strict=True)
    said.of("describe only a default", lambda: _quotas_of(admin, default))
    _quota(admin, said, "remove a user's quota", alice, "producer_byte_rate", None)
    _quota(admin, said, "remove every client's quota", everybody, "request_percentage", None)
    wait_for("quotas that brokers have forgotten", lambda: not _quotas_of(admin, everything))
    said.of("describe what is left", lambda: _quotas_of(admin, everything))


def _quota(
    admin: Admin, said: Said, call: str, whose: ClientQuotaEntity, key: str, value: float | None
) -> None:
    op = ClientQuotaOp(key, value)
    said.of(call, lambda: done(admin.alter_client_quotas({whose: [op]})))


def _quotas_of(admin: Admin, wanted: ClientQuotaFilter) -> dict[str, str]:
    return {
        f"ClientQuotaEntity(entries={text(entity.entries)})": text(quotas)
        for entity, quotas in admin.describe_client_quotas(wanted).result(PATIENCE_S).items()
    }
