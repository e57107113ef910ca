"""Fresh and recycled pages: what a write to a new file costs depends on where its page comes from.

A virtual machine hands free memory back to its host within seconds, and the next touch of such a
page costs ten times as much. So a run says which it had: *recycled* pages were used by this
machine a moment ago; for *fresh* ones the machine is first left alone until the host has them.

Caveat: this prepares free memory as a whole; that a broker gets just these pages is likely, not
certain, and another load on the machine can take them.
"""

from __future__ import annotations

import mmap
import time
from enum import StrEnum

HAND_BACK_S = 4.0  # the kernel reports free pages every two seconds


class Pages(StrEnum):
    FRESH = "fresh"
    RECYCLED = "recycled"


def prepare(pages: Pages, size: int, hand_back_s: float = HAND_BACK_S) -> None:
    """Bring ``size`` bytes of free memory into that state."""
    if pages is Pages.RECYCLED:
        _touch(size)
    else:
        time.sleep(hand_back_s)


def _touch(size: int) -> None:
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE
    mmap.mmap(-1, size, flags=flags).close()
