"""authorizer.class.name, and what is set of AclAuthorizer.

Another class is refused, and so is another ZooKeeper for ACLs: to go on without them would let in
everyone.
"""

from __future__ import annotations

from logquake.node.authorizer.settings import AuthorizerSettings
from logquake.node.settings.errors import SettingsError
from logquake.node.settings.reader import PropertyReader, refusal
from logquake.wire.principals import KafkaPrincipal, parse_principal

_ACL_AUTHORIZER = "kafka.security.authorizer.AclAuthorizer"


def read_authorizer(reader: PropertyReader) -> AuthorizerSettings:
    """Raises SettingsError."""
    key = "authorizer.class.name"
    name = reader.optional(key)
    if name not in (None, _ACL_AUTHORIZER):
        raise SettingsError(refusal(key, str(name), f"{_ACL_AUTHORIZER} or nothing"))
    elsewhere = "authorizer.zookeeper.url"
    url = reader.optional(elsewhere)
    if url is not None:
        raise SettingsError(refusal(elsewhere, url, "nothing"))
    return AuthorizerSettings(
        is_enabled=name is not None,
        super_users=_read_super_users(reader),
        allow_everyone_if_no_acl_found=reader.flag("allow.everyone.if.no.acl.found", False),
    )


def _read_super_users(reader: PropertyReader) -> frozenset[KafkaPrincipal]:
    key = "super.users"
    value = reader.optional(key)
    if value is None:
        return frozenset()
    try:
        return frozenset(parse_principal(each.strip()) for each in value.split(";"))
    except ValueError:
        allowed = "User:name, or several parted by semicolons,"
        raise SettingsError(refusal(key, value, allowed)) from None
