"""Many writes in few multis, none of which is too large for ZooKeeper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from logquake.zk.operations import Create, SetData, Write

MAX_WRITES = 500  # a multi is one transaction: the server holds all others up while it is at it
MAX_BYTES = 512 * 1024  # jute.maxbuffer is 1 MB, and counts more than data and paths

_OVERHEAD_BYTES = 100  # of a write: header, lengths, version, ACL


def multi_groups(writes: Sequence[Write]) -> Iterator[list[Write]]:
    """The writes in order, in groups of at most MAX_WRITES and MAX_BYTES; a large one is alone."""
    group: list[Write] = []
    size = 0
    for write in writes:
        added = _size(write)
        if group and (len(group) == MAX_WRITES or size + added > MAX_BYTES):
            yield group
            group, size = [], 0
        group.append(write)
        size += added
    if group:
        yield group


def _size(write: Write) -> int:
    data = write.data if isinstance(write, Create | SetData) else None
    return _OVERHEAD_BYTES + len(write.path.encode()) + len(data or b"")
