"""Which ACLs a DescribeAcls or DeleteAcls means (AclBindingFilter, ResourcePatternFilter)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from logquake.wire.acls import (
    WILDCARD,
    AccessControlEntry,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourceType,
)

_STORED = (PatternType.LITERAL, PatternType.PREFIXED)


@dataclass(frozen=True, slots=True)
class AclFilter:
    """None and ANY let everything through; a pattern type of MATCH what applies to the name."""

    resource_type: ResourceType
    name: str | None
    pattern: PatternType
    principal: str | None
    host: str | None
    operation: AclOperation
    permission: AclPermissionType

    def means(self, resource: ResourcePattern) -> bool:
        return self.resource_type in (ResourceType.ANY, resource.type) and self._takes_in(resource)

    def _takes_in(self, resource: ResourcePattern) -> bool:
        if self.pattern is not PatternType.MATCH:
            return self.pattern in (PatternType.ANY, resource.pattern) and self.name in (
                None,
                resource.name,
            )
        if self.name is None:
            return True
        if resource.pattern is PatternType.PREFIXED:
            return self.name.startswith(resource.name)
        return resource.name in (self.name, WILDCARD)

    def means_entry(self, entry: AccessControlEntry) -> bool:
        return (
            self.principal in (None, str(entry.principal))
            and self.host in (None, entry.host)
            and self.operation in (AclOperation.ANY, entry.operation)
            and self.permission in (AclPermissionType.ANY, entry.permission)
        )

    def named(self) -> Iterator[ResourcePattern]:
        """The patterns that it spells out, whether they have ACLs or not."""
        if self.resource_type is ResourceType.ANY or self.name is None:
            return
        for pattern in _STORED:
            if self.pattern in (PatternType.ANY, pattern):
                yield ResourcePattern(self.resource_type, self.name, pattern)
