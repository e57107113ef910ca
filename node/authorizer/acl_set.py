"""ACLs by resource pattern, and which of them apply to a name. A value that changes; no I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from logquake.wire.acls import (
    WILDCARD,
    AccessControlEntry,
    AclBinding,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourceType,
)

Entries = tuple[AccessControlEntry, ...]
NO_VERSION = -2  # ZkVersion.UnknownVersion: there is no znode


@dataclass(frozen=True, slots=True)
class VersionedAcls:
    """The entries of one pattern, each once, and the version of the znode that has them."""

    entries: Entries
    version: int


NO_ACLS = VersionedAcls((), NO_VERSION)


class AclSet:
    """Invariant: only patterns with entries are in it."""

    def __init__(self) -> None:
        self._acls: dict[ResourcePattern, VersionedAcls] = {}
        # How many prefixes there are of each length, so that a name is cut no oftener than that.
        self._prefix_lengths: dict[ResourceType, Counter[int]] = {}

    def __iter__(self) -> Iterator[ResourcePattern]:
        return iter(self._acls)

    def get(self, resource: ResourcePattern) -> VersionedAcls | None:
        return self._acls.get(resource)

    def put(self, resource: ResourcePattern, acls: VersionedAcls) -> None:
        """Without entries it is forgotten."""
        if self._acls.pop(resource, None) is not None:
            self._count_prefix(resource, -1)
        if acls.entries:
            self._acls[resource] = acls
            self._count_prefix(resource, 1)

    def bindings(self) -> Iterator[AclBinding]:
        for resource, acls in self._acls.items():
            for entry in acls.entries:
                yield AclBinding(resource, entry)

    def applying(self, resource_type: ResourceType, name: str) -> list[AccessControlEntry]:
        """The entries of every pattern that takes the name in."""
        prefixes = {name[:length] for length in self._prefix_lengths.get(resource_type, ())}
        patterns = [ResourcePattern(resource_type, each, PatternType.PREFIXED) for each in prefixes]
        patterns += [
            ResourcePattern(resource_type, each, PatternType.LITERAL) for each in {name, WILDCARD}
        ]
        found = [self._acls[each] for each in patterns if each in self._acls]
        return [entry for acls in found for entry in acls.entries]

    def of_type(
        self,
        resource_type: ResourceType,
        pattern: PatternType,
        permission: AclPermissionType,
    ) -> Iterator[tuple[str, AccessControlEntry]]:
        """With each entry the name, or prefix, that it is about."""
        for resource, acls in self._acls.items():
            if resource.type is resource_type and resource.pattern is pattern:
                for entry in acls.entries:
                    if entry.permission is permission:
                        yield resource.name, entry

    def _count_prefix(self, resource: ResourcePattern, change: int) -> None:
        if resource.pattern is PatternType.PREFIXED:
            lengths = self._prefix_lengths.setdefault(resource.type, Counter())
            lengths[len(resource.name)] += change
            if not lengths[len(resource.name)]:
                del lengths[len(resource.name)]
