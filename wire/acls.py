"""What ACLs are made of: org.apache.kafka.common.acl and .resource.

Every enumeration's numbers are those of requests. UNKNOWN is what a number or a name of a later
Kafka is read as; ANY and MATCH are for filters alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar

from logquake.wire.principals import KafkaPrincipal

E = TypeVar("E", bound=IntEnum)


class ResourceType(IntEnum):
    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(IntEnum):
    UNKNOWN = 0
    ANY = 1
    MATCH = 2  # whatever applies to a resource of that name
    LITERAL = 3
    PREFIXED = 4


class AclOperation(IntEnum):
    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14


class AclPermissionType(IntEnum):
    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


CLUSTER_NAME = "kafka-cluster"  # Resource.CLUSTER_NAME: the one resource of its type
WILDCARD = "*"  # any resource as a literal pattern, any user as a principal, any host

# Those that ACLs may be about.
RESOURCE_TYPES = tuple(each for each in ResourceType if each > ResourceType.ANY)


@dataclass(frozen=True, slots=True, order=True)
class ResourcePattern:
    """Literal: the resource of that name, or all of them. Prefixed: those that begin so."""

    type: ResourceType
    name: str
    pattern: PatternType


@dataclass(frozen=True, slots=True)
class AccessControlEntry:
    """Who may, or may not, do what, coming from where."""

    principal: KafkaPrincipal
    host: str
    operation: AclOperation
    permission: AclPermissionType


@dataclass(frozen=True, slots=True)
class AclBinding:
    pattern: ResourcePattern
    entry: AccessControlEntry


def of_code(kind: type[E], code: int) -> E:
    """The member of that number, UNKNOWN (0) where there is none (fromCode in each of Kafka's)."""
    try:
        return kind(code)
    except ValueError:
        return kind(0)


def spelt(member: IntEnum) -> str:
    """As znodes have it: TransactionalId (SecurityUtils.toPascalCase)."""
    return "".join(part.capitalize() for part in member.name.split("_"))


def of_spelling(kind: type[E], name: str) -> E:
    """The reverse, in any case of letters; UNKNOWN (0) for a name that is none."""
    wanted = name.upper()
    return next((each for each in kind if spelt(each).upper() == wanted), kind(0))
