"""A folder: what each name in it stands for, now and on the platter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Generic, NamedTuple, Protocol, TypeVar

from logquake.cluster.faults.power.unsynced import Unsynced, changes_left


class Losable(Protocol):
    """A file, whatever its bytes are made of, or a folder."""

    def lose_power(self, unsynced: Unsynced, rng: Random) -> None: ...


N = TypeVar("N", bound=Losable)


class Change(NamedTuple, Generic[N]):
    """What the names that it touches stood for, and stand for since; None: for nothing."""

    before: Mapping[str, N | None]
    after: Mapping[str, N | None]


class Folder(Generic[N]):
    """``entries`` are its names now, each a node: a file, or a folder again."""

    def __init__(self) -> None:
        self.entries: dict[str, N] = {}
        self._unsynced: list[Change[N]] = []  # one element a change since the last sync
        self._synced = 0  # changes before those

    @property
    def changes(self) -> int:
        """How many there ever were."""
        return self._synced + len(self._unsynced)

    def change(self, after: Mapping[str, N | None]) -> None:
        """All of these names change at once."""
        before = {name: self.entries.get(name) for name in after}
        self._unsynced.append(Change(before, after))
        self._put(after)

    def sync(self, up_to: int | None = None) -> None:
        """All changes are on the platter, or the first so many of all that there ever were."""
        count = len(self._unsynced) if up_to is None else max(0, up_to - self._synced)
        del self._unsynced[:count]
        self._synced += count

    def lose_power(self, unsynced: Unsynced, rng: Random) -> None:
        """This folder and all that is in it are as the platter has them."""
        for change in reversed(self._unsynced):
            self._put(change.before)
        for change in changes_left(self._unsynced, unsynced, rng):
            self._put(change.after)
        self.sync()
        for _, node in sorted(self.entries.items()):
            node.lose_power(unsynced, rng)

    def mentioned(self) -> Iterator[N]:
        """Everything that a name stands for, or may stand for again after a loss of power."""
        yield from self.entries.values()
        for change in self._unsynced:
            yield from (node for node in change.before.values() if node is not None)

    def _put(self, names: Mapping[str, N | None]) -> None:
        for name, node in names.items():
            if node is None:
                self.entries.pop(name, None)
            else:
                self.entries[name] = node
