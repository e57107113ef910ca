"""What handlers ask of an authorizer (org.apache.kafka.server.authorizer.Authorizer).

A handler that decides for a resource asks ``allows``; one that has many of a kind asks once which
are ``denied``. Where no authorizer is set there is AllowAll, which looks at nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable
from typing import Protocol

from logquake.wire.acls import CLUSTER_NAME, AclOperation, ResourceType
from logquake.wire.principals import KafkaPrincipal

_NOTHING: frozenset[str] = frozenset()

# AclEntry.supportedOperations: what can be done with a resource of the type.
_SUPPORTED: dict[ResourceType, tuple[AclOperation, ...]] = {
    ResourceType.TOPIC: (
        AclOperation.READ,
        AclOperation.WRITE,
        AclOperation.CREATE,
        AclOperation.DESCRIBE,
        AclOperation.DELETE,
        AclOperation.ALTER,
        AclOperation.DESCRIBE_CONFIGS,
        AclOperation.ALTER_CONFIGS,
    ),
    ResourceType.GROUP: (AclOperation.READ, AclOperation.DESCRIBE, AclOperation.DELETE),
    ResourceType.CLUSTER: (
        AclOperation.CREATE,
        AclOperation.CLUSTER_ACTION,
        AclOperation.DESCRIBE_CONFIGS,
        AclOperation.ALTER_CONFIGS,
        AclOperation.IDEMPOTENT_WRITE,
        AclOperation.ALTER,
        AclOperation.DESCRIBE,
    ),
}


class Asker(Protocol):
    """Whoever wants something: a Request is one."""

    @property
    def principal(self) -> KafkaPrincipal: ...

    @property
    def client_host(self) -> str: ...


class Authorizer(ABC):
    @abstractmethod
    def allows(
        self, asker: Asker, operation: AclOperation, resource_type: ResourceType, name: str, /
    ) -> bool: ...

    @abstractmethod
    def allows_on_some(
        self, asker: Asker, operation: AclOperation, resource_type: ResourceType, /
    ) -> bool:
        """On one resource of the type at least, whether there is one or not (KIP-679)."""

    @abstractmethod
    def standing(self, asker: Asker, /) -> Hashable:
        """Equal for as long as all decisions about this asker stay as they are."""

    def allows_on_cluster(self, asker: Asker, operation: AclOperation, /) -> bool:
        return self.allows(asker, operation, ResourceType.CLUSTER, CLUSTER_NAME)

    def denied(
        self,
        asker: Asker,
        operation: AclOperation,
        resource_type: ResourceType,
        names: Iterable[str],
        /,
    ) -> Collection[str]:
        """Those of the names that the asker may not."""
        return {
            name for name in set(names) if not self.allows(asker, operation, resource_type, name)
        }

    def operations(self, asker: Asker, resource_type: ResourceType, name: str, /) -> int:
        """What the asker may do with the resource: a bit for each operation (KIP-430)."""
        return _bits(
            operation
            for operation in _SUPPORTED[resource_type]
            if self.allows(asker, operation, resource_type, name)
        )

    def operations_on_cluster(self, asker: Asker, /) -> int:
        """None at all for whoever may not describe it (AuthHelper)."""
        if not self.allows_on_cluster(asker, AclOperation.DESCRIBE):
            return 0
        return self.operations(asker, ResourceType.CLUSTER, CLUSTER_NAME)


def _bits(operations: Iterable[AclOperation]) -> int:
    return sum(1 << operation for operation in operations)


_ALL_OPERATIONS = {each: _bits(operations) for each, operations in _SUPPORTED.items()}


class AllowAll(Authorizer):
    """authorizer.class.name is not set."""

    def allows(self, *_asked: object) -> bool:
        return True

    def allows_on_some(self, *_asked: object) -> bool:
        return True

    def standing(self, _asker: Asker, /) -> Hashable:
        return None

    def denied(self, *_asked: object) -> Collection[str]:
        return _NOTHING

    def operations(self, _asker: Asker, resource_type: ResourceType, _name: str, /) -> int:
        return _ALL_OPERATIONS[resource_type]
