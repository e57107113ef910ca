"""The rules of kafka.security.authorizer.AclAuthorizer, pure.

A super user may do everything. Else one entry that denies outweighs all that allow, and what no
entry allows is denied; a resource that no entry is about is everyone's if the settings say so.
Reading, writing, deleting and altering imply describing, altering configurations implies
describing them: among what is allowed, not among what is denied.

Decisions are remembered until an ACL changes: brokers and clients ask the same again and again.
"""

from __future__ import annotations

from collections.abc import Hashable

from logquake.node.authorizer.acl_set import AclSet, VersionedAcls
from logquake.node.authorizer.authorizer import Asker, Authorizer
from logquake.node.authorizer.settings import AuthorizerSettings
from logquake.wire.acls import (
    WILDCARD,
    AccessControlEntry,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourceType,
)
from logquake.wire.principals import KafkaPrincipal

_EVERY_USER = KafkaPrincipal("User", WILDCARD)
_IMPLIED_BY = {
    AclOperation.DESCRIBE: frozenset(
        {
            AclOperation.DESCRIBE,
            AclOperation.READ,
            AclOperation.WRITE,
            AclOperation.DELETE,
            AclOperation.ALTER,
        }
    ),
    AclOperation.DESCRIBE_CONFIGS: frozenset(
        {AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS}
    ),
}
_MAX_REMEMBERED = 10_000  # decisions: the names in them come from clients
_Question = tuple[KafkaPrincipal, str, AclOperation, ResourceType, str]


class AclAuthorizer(Authorizer):
    """``acls`` is changed through put() alone."""

    def __init__(self, settings: AuthorizerSettings) -> None:
        self._settings = settings
        self.acls = AclSet()
        self._changes = 0
        self._remembered: dict[_Question, bool] = {}

    def put(self, resource: ResourcePattern, acls: VersionedAcls) -> None:
        """These are the ACLs of the resource from now on."""
        self.acls.put(resource, acls)
        self._changes += 1
        self._remembered.clear()

    def standing(self, asker: Asker, /) -> Hashable:
        return asker.principal, asker.client_host, self._changes

    def allows(
        self, asker: Asker, operation: AclOperation, resource_type: ResourceType, name: str, /
    ) -> bool:
        question = (asker.principal, asker.client_host, operation, resource_type, name)
        remembered = self._remembered.get(question)
        if remembered is None:
            remembered = self._decide(asker, operation, resource_type, name)
            if len(self._remembered) >= _MAX_REMEMBERED:
                self._remembered.clear()
            self._remembered[question] = remembered
        return remembered

    def _decide(
        self, asker: Asker, operation: AclOperation, resource_type: ResourceType, name: str
    ) -> bool:
        if asker.principal in self._settings.super_users:
            return True
        entries = self.acls.applying(resource_type, name)
        if not entries:
            return self._settings.allow_everyone_if_no_acl_found
        mine = [entry for entry in entries if _is_about(entry, asker)]
        return not any(_denies(entry, operation) for entry in mine) and any(
            _allows(entry, operation) for entry in mine
        )

    def allows_on_some(
        self, asker: Asker, operation: AclOperation, resource_type: ResourceType, /
    ) -> bool:
        """AclAuthorizer.authorizeByResourceType: a name must be left that nothing denies."""
        if asker.principal in self._settings.super_users:
            return True

        def names(permission: AclPermissionType, pattern: PatternType) -> set[str]:
            return {
                name
                for name, entry in self.acls.of_type(resource_type, pattern, permission)
                if _is_about(entry, asker) and _covers(entry, operation)
            }

        denied = names(AclPermissionType.DENY, PatternType.LITERAL)
        if WILDCARD in denied:
            return False
        if self._settings.allow_everyone_if_no_acl_found:
            return True
        denied_prefixes = tuple(names(AclPermissionType.DENY, PatternType.PREFIXED))
        allowed = names(AclPermissionType.ALLOW, PatternType.LITERAL) - denied
        allowed_prefixes = names(AclPermissionType.ALLOW, PatternType.PREFIXED)
        return WILDCARD in allowed or any(
            not name.startswith(denied_prefixes) for name in allowed | allowed_prefixes
        )


def _is_about(entry: AccessControlEntry, asker: Asker) -> bool:
    return entry.principal in (asker.principal, _EVERY_USER) and entry.host in (
        asker.client_host,
        WILDCARD,
    )


def _covers(entry: AccessControlEntry, operation: AclOperation) -> bool:
    return entry.operation in (operation, AclOperation.ALL)


def _denies(entry: AccessControlEntry, operation: AclOperation) -> bool:
    return entry.permission is AclPermissionType.DENY and _covers(entry, operation)


def _allows(entry: AccessControlEntry, operation: AclOperation) -> bool:
    return entry.permission is AclPermissionType.ALLOW and (
        _covers(entry, operation) or entry.operation in _IMPLIED_BY.get(operation, ())
    )
