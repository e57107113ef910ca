"""/kafka-acl, /kafka-acl-extended: the ACLs of each resource pattern, and notices of their change.

Literal patterns lie in /kafka-acl/<type>/<name>, prefixed ones in
/kafka-acl-extended/prefixed/<type>/<prefix>. A znode's version guards its next write.
Source: kafka.zk.ZkAclStore, org.apache.kafka.security.authorizer.AclEntry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from logquake.wire.acls import (
    RESOURCE_TYPES,
    AccessControlEntry,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourceType,
    of_spelling,
    spelt,
)
from logquake.wire.principals import parse_principal
from logquake.zk.operations import Create
from logquake.zk.znodes.json_text import MalformedZnode, dump_json, read_json
from logquake.zk.znodes.parents import with_parents

_STORES = {
    PatternType.LITERAL: "/kafka-acl",
    PatternType.PREFIXED: "/kafka-acl-extended/prefixed",
}
_VERSION = 1
LITERAL_CHANGES_PATH = "/kafka-acl-changes"
EXTENDED_CHANGES_PATH = "/kafka-acl-extended-changes"
CHANGES_PATHS = (LITERAL_CHANGES_PATH, EXTENDED_CHANGES_PATH)
CHANGE_PREFIX = "acl_changes_"
STORED_PATTERNS = tuple(_STORES)


def type_path(pattern: PatternType, resource_type: ResourceType) -> str:
    """Its children are the names of the resources that have ACLs."""
    return f"{_STORES[pattern]}/{spelt(resource_type)}"


def create_acl_parents() -> tuple[Create, ...]:
    """One Create a path, parents first; NODE_EXISTS is no failure."""
    leaves = [type_path(pattern, each) for pattern in _STORES for each in RESOURCE_TYPES]
    paths = [path for leaf in (*leaves, *CHANGES_PATHS) for path in with_parents(leaf)]
    return tuple(Create(path) for path in dict.fromkeys(paths))


@dataclass(frozen=True, slots=True)
class ResourceAcls:
    """Each entry once, in the order in which they are written."""

    entries: tuple[AccessControlEntry, ...]

    @staticmethod
    def path(resource: ResourcePattern) -> str:
        return f"{type_path(resource.pattern, resource.type)}/{resource.name}"

    def encode(self) -> bytes:
        acls = [
            {
                "principal": str(entry.principal),
                "permissionType": spelt(entry.permission),
                "host": entry.host,
                "operation": spelt(entry.operation),
            }
            for entry in self.entries
        ]
        return dump_json({"acls": acls, "version": _VERSION})

    @classmethod
    def decode(cls, data: bytes) -> ResourceAcls:
        """No data is no entries. Raises MalformedZnode."""
        if not data:
            return cls(())

        def build(value: dict[str, Any]) -> ResourceAcls:
            if value["version"] != _VERSION:
                raise ValueError(f"version {value['version']!r}")
            return cls(tuple(dict.fromkeys(map(_entry, value["acls"]))))

        return read_json(data, build)


def _entry(value: dict[str, Any]) -> AccessControlEntry:
    return AccessControlEntry(
        parse_principal(value["principal"]),
        str(value["host"]),
        of_spelling(AclOperation, value["operation"]),
        of_spelling(AclPermissionType, value["permissionType"]),
    )


@dataclass(frozen=True, slots=True)
class AclChange:
    """A persistent sequential child of CHANGES_PATHS: which resource's ACLs to read again."""

    resource: ResourcePattern

    def path(self) -> str:
        """To create sequentially at."""
        is_literal = self.resource.pattern is PatternType.LITERAL
        parent = LITERAL_CHANGES_PATH if is_literal else EXTENDED_CHANGES_PATH
        return f"{parent}/{CHANGE_PREFIX}"

    def encode(self) -> bytes:
        resource = self.resource
        if resource.pattern is PatternType.LITERAL:
            return f"{resource.type.name}:{resource.name}".encode()
        return dump_json(
            {
                "version": _VERSION,
                "resourceType": resource.type.name,
                "name": resource.name,
                "patternType": resource.pattern.name,
            }
        )

    @classmethod
    def decode(cls, parent: str, data: bytes) -> AclChange:
        """Of a child of ``parent``. Raises MalformedZnode."""
        if parent == LITERAL_CHANGES_PATH:
            return cls(_literal_resource(data))

        def build(value: dict[str, Any]) -> AclChange:
            resource_type, pattern = value["resourceType"], value["patternType"]
            return cls(
                ResourcePattern(
                    ResourceType[resource_type], str(value["name"]), PatternType[pattern]
                )
            )

        return read_json(data, build)


def _literal_resource(data: bytes) -> ResourcePattern:
    try:
        resource_type, name = data.decode().split(":", 1)
        return ResourcePattern(ResourceType[resource_type], name, PatternType.LITERAL)
    except (ValueError, KeyError) as error:
        raise MalformedZnode(f"{error!r} in {data[:200]!r}") from error
