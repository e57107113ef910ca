"""Recycled pages: what a write to a new file costs depends on where its page comes from.

A virtual machine hands free memory back to its host within seconds, and the next touch of such a
page costs ten times as much. So each run first uses and frees the memory that it will need.

Caveat: this prepares free memory as a whole; that a broker gets just these pages is likely, not
certain, and another load on the machine can take them.
"""

from __future__ import annotations

import mmap


def recycle(size: int) -> None:
    """Let ``size`` bytes of free memory be such as this machine used a moment ago."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE
    mmap.mmap(-1, size, flags=flags).close()
