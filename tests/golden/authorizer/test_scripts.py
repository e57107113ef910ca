"""Who may do what, question by question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from logquake.node.authorizer.acl_authorizer import AclAuthorizer
from logquake.node.authorizer.acl_set import VersionedAcls
from logquake.node.authorizer.settings import AuthorizerSettings
from logquake.wire.acls import (
    AccessControlEntry,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourceType,
)
from logquake.wire.principals import KafkaPrincipal, parse_principal
from tests.golden.player import Chronicle, Player, check_script, scripts_beside


@pytest.mark.parametrize("script", scripts_beside(__file__), ids=lambda path: path.stem)
def test_script(script: Path) -> None:
    check_script(script, AuthorizerPlayer())


@dataclass(frozen=True)
class Someone:
    principal: KafkaPrincipal
    client_host: str


class AuthorizerPlayer(Player):
    """Resources are written type:name, type:prefix.. or type:*."""

    def __init__(self) -> None:
        self._chronicle = Chronicle()
        self._settings = AuthorizerSettings(is_enabled=True)
        self._authorizer = AclAuthorizer(self._settings)

    def outcome(self) -> list[str]:
        return self._chronicle.take_log()

    # What is set, before anything else

    def do_super_users(self, *names: str) -> None:
        users = frozenset(map(parse_principal, names))
        self._settings = replace(self._settings, super_users=users)
        self._authorizer = AclAuthorizer(self._settings)

    def do_everyone_if_no_acl(self) -> None:
        self._settings = replace(self._settings, allow_everyone_if_no_acl_found=True)
        self._authorizer = AclAuthorizer(self._settings)

    # ACLs

    def do_allow(self, who: str, operation: str, resource: str, host: str = "*") -> None:
        self._add(who, operation, resource, host, AclPermissionType.ALLOW)

    def do_deny(self, who: str, operation: str, resource: str, host: str = "*") -> None:
        self._add(who, operation, resource, host, AclPermissionType.DENY)

    def do_forget(self, resource: str) -> None:
        self._authorizer.put(_pattern(resource), VersionedAcls((), 0))

    def _add(
        self, who: str, operation: str, resource: str, host: str, permission: AclPermissionType
    ) -> None:
        pattern = _pattern(resource)
        entry = AccessControlEntry(parse_principal(who), host, _operation(operation), permission)
        known = self._authorizer.acls.get(pattern)
        entries = known.entries if known else ()
        self._authorizer.put(pattern, VersionedAcls((*entries, entry), len(entries)))

    # Questions

    def do_may(self, who: str, operation: str, *resources: str, host: str = "10.0.0.1") -> None:
        someone = Someone(parse_principal(who), host)
        for resource in resources:
            kind, _, name = resource.partition(":")
            may = self._authorizer.allows(
                someone, _operation(operation), ResourceType[kind.upper()], name
            )
            self._chronicle.log(f"{resource} {'yes' if may else 'no'}")

    def do_may_some(self, who: str, operation: str, kind: str, host: str = "10.0.0.1") -> None:
        someone = Someone(parse_principal(who), host)
        may = self._authorizer.allows_on_some(
            someone, _operation(operation), ResourceType[kind.upper()]
        )
        self._chronicle.log("yes" if may else "no")

    def do_operations(self, who: str, resource: str, host: str = "10.0.0.1") -> None:
        kind, _, name = resource.partition(":")
        someone = Someone(parse_principal(who), host)
        bits = self._authorizer.operations(someone, ResourceType[kind.upper()], name)
        said = [each.name.lower() for each in AclOperation if bits & 1 << each]
        self._chronicle.log(" ".join(said) or "none")


def _operation(name: str) -> AclOperation:
    return AclOperation[name.upper().replace("-", "_")]


def _pattern(resource: str) -> ResourcePattern:
    kind, _, name = resource.partition(":")
    pattern = PatternType.PREFIXED if name.endswith("..") else PatternType.LITERAL
    return ResourcePattern(ResourceType[kind.upper()], name.removesuffix(".."), pattern)
