"""ACLs in ZooKeeper, read and written by procedures (AclAuthorizer's calls of KafkaZkClient).

A write goes over the version that was read, and is made again from what is there if that moved on.
After each change a notice tells the other brokers which resource's ACLs to read again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from logquake.node.authorizer.acl_set import NO_ACLS, NO_VERSION, Entries, VersionedAcls
from logquake.wire.acls import RESOURCE_TYPES, ResourcePattern
from logquake.zk.operations import (
    Create,
    Data,
    Delete,
    Failed,
    GetChildren,
    GetData,
    SetData,
    ZkError,
)
from logquake.zk.procedure import ZkFailure, attempt, attempt_all, perform, perform_all
from logquake.zk.znodes.acls import (
    STORED_PATTERNS,
    AclChange,
    ResourceAcls,
    create_acl_parents,
    type_path,
)
from logquake.zk.znodes.json_text import MalformedZnode

_MAX_RETRIES = 10  # AclAuthorizer.maxUpdateRetries
_MOVED_ON = (ZkError.NO_NODE, ZkError.NODE_EXISTS, ZkError.BAD_VERSION)

Change = Callable[[Entries], Entries]


class AclsContendedError(Exception):
    """Others wrote the same resource's ACLs in between, each time."""


async def make_paths() -> None:
    """Those that every broker expects, if they are not there."""
    await attempt_all(create_acl_parents())


async def read_all() -> dict[ResourcePattern, VersionedAcls | MalformedZnode]:
    """Every resource that has ACLs, those of a type that nobody knows left out."""
    kinds = [(pattern, each) for pattern in STORED_PATTERNS for each in RESOURCE_TYPES]
    named = await perform_all([GetChildren(type_path(*kind)) for kind in kinds])
    resources = [
        ResourcePattern(resource_type, name, pattern)
        for (pattern, resource_type), children in zip(kinds, named, strict=True)
        for name in children.names
    ]
    return await _read_each(resources)


async def read_acls(resource: ResourcePattern) -> VersionedAcls:
    """Raises ZkFailure, MalformedZnode."""
    (found,) = (await _read_each([resource])).values()
    if isinstance(found, MalformedZnode):
        raise found
    return found


async def _read_each(
    resources: Sequence[ResourcePattern],
) -> dict[ResourcePattern, VersionedAcls | MalformedZnode]:
    reads = await attempt_all([GetData(ResourceAcls.path(each)) for each in resources])
    return {resource: _decoded(read) for resource, read in zip(resources, reads, strict=True)}


def _decoded(read: Data | Failed) -> VersionedAcls | MalformedZnode:
    if isinstance(read, Failed):
        if read.error is ZkError.NO_NODE:
            return NO_ACLS
        raise ZkFailure(read)
    try:
        return VersionedAcls(ResourceAcls.decode(read.data).entries, read.stat.version)
    except MalformedZnode as malformed:
        return malformed


async def update(
    resource: ResourcePattern, known: VersionedAcls | None, change: Change
) -> VersionedAcls:
    """What ``change`` makes of the entries, and tell. ``known`` saves a read while it is true.

    Raises ZkFailure, MalformedZnode, AclsContendedError.
    """
    current = await read_acls(resource) if known is None else known
    for _ in range(_MAX_RETRIES + 1):
        entries = change(current.entries)
        version = await _write(resource, entries, current.version)
        if version is not None:
            if set(entries) != set(current.entries):
                notice = AclChange(resource)
                await perform(Create(notice.path(), notice.encode(), sequential=True))
            return VersionedAcls(entries, version)
        current = await read_acls(resource)
    raise AclsContendedError(str(resource))


async def _write(resource: ResourcePattern, entries: Entries, version: int) -> int | None:
    """The znode's version then; None if it is not at ``version`` any more."""
    path, data = ResourceAcls.path(resource), ResourceAcls(entries).encode()
    if not entries:
        return await _delete(path, version)
    if version == NO_VERSION:
        return 0 if await _holds(Create(path, data)) else None
    written = await attempt(SetData(path, data, version))
    if not isinstance(written, Failed):
        return written.version
    if written.error in _MOVED_ON:
        return None
    raise ZkFailure(written)


async def _delete(path: str, version: int) -> int | None:
    if version == NO_VERSION:
        return NO_VERSION
    deleted = await attempt(Delete(path, version))
    if not isinstance(deleted, Failed) or deleted.error is ZkError.NO_NODE:
        return NO_VERSION
    if deleted.error in _MOVED_ON:
        return None
    raise ZkFailure(deleted)


async def _holds(create: Create) -> bool:
    """Whether it was made; no if it was there already."""
    made = await attempt(create)
    if isinstance(made, Failed) and made.error not in _MOVED_ON:
        raise ZkFailure(made)
    return not isinstance(made, Failed)
