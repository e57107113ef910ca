"""What is set of the authorizer, in Kafka's own keys."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.wire.principals import KafkaPrincipal


@dataclass(frozen=True, slots=True)
class AuthorizerSettings:
    # authorizer.class.name names AclAuthorizer. Without it everyone may do everything.
    is_enabled: bool = False
    # Who may do everything, whatever the ACLs say: brokers among themselves, and whoever is to
    # write the first ACLs.
    super_users: frozenset[KafkaPrincipal] = frozenset()
    # A resource without any ACL is everyone's. A mistyped name in an ACL then leaves open what it
    # was to close.
    allow_everyone_if_no_acl_found: bool = False
