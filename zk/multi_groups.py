"""Many writes in few multis, none of which is too large for ZooKeeper.

What belongs together, and is to be done whole or not at all, is a unit: it is never divided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from logquake.zk.operations import Create, SetData, Write

MAX_WRITES = 500  # a multi is one transaction: the server holds all others up while it is at it
MAX_BYTES = 512 * 1024  # jute.maxbuffer is 1 MB, and counts more than data and paths

_OVERHEAD_BYTES = 100  # of a write: header, lengths, version, ACL

Unit = Sequence[Write]


def multi_groups(units: Sequence[Unit]) -> Iterator[list[Unit]]:
    """The units in order, in groups of at most MAX_WRITES and MAX_BYTES; a large one is alone."""
    group: list[Unit] = []
    count = size = 0
    for unit in units:
        added = sum(map(_size, unit))
        if group and (count + len(unit) > MAX_WRITES or size + added > MAX_BYTES):
            yield group
            group, count, size = [], 0, 0
        group.append(unit)
        count += len(unit)
        size += added
    if group:
        yield group


def _size(write: Write) -> int:
    data = write.data if isinstance(write, Create | SetData) else None
    return _OVERHEAD_BYTES + len(write.path.encode()) + len(data or b"")
