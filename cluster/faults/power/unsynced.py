"""What is left, after a crash, of the changes that no sync covered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from random import Random
from typing import TypeVar

PAGE_BYTES = 4096

T = TypeVar("T")


class Unsynced(Enum):
    """What becomes, in a crash, of the changes that no sync covered."""

    # The process died: the page cache is the system's, and outlives it.
    KEPT = "kept"
    # The power went before anything reached the platter.
    LOST = "lost"
    # Random pages reached it, and a folder's changes (create, rename, remove) up to a random one,
    # in their order, as journaling file systems have them.
    JOURNALED = "journaled"
    # Random pages, and any of a folder's changes: all that POSIX promises.
    SCATTERED = "scattered"


def reverted_pages(pages: Iterable[int], unsynced: Unsynced, rng: Random) -> Iterator[int]:
    """Of the pages changed since the last sync, in order, those that did not reach the platter."""
    nothing = unsynced is Unsynced.LOST
    return (page for page in pages if nothing or rng.random() < 0.5)


def size_left(synced: int, size: int, unsynced: Unsynced, rng: Random) -> int:
    """Of a file's size: the one that was synced, the last one, or any between."""
    if unsynced is Unsynced.LOST or size == synced:
        return synced
    smaller, larger = sorted((size, synced))
    return rng.choice((smaller, rng.randint(smaller, larger), larger))


def changes_left(changes: Sequence[T], unsynced: Unsynced, rng: Random) -> Iterator[T]:
    """Of a folder's changes since its last sync, in order, those that reached the platter."""
    match unsynced:
        case Unsynced.KEPT:
            yield from changes
        case Unsynced.JOURNALED:
            yield from changes[: rng.randint(0, len(changes))]
        case Unsynced.SCATTERED:
            yield from (change for change in changes if rng.random() < 0.5)
        case Unsynced.LOST:
            pass
