"""The folders of a MemoryDisk: what each name stands for, now and on the platter."""

from __future__ import annotations

import errno
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.doubles.memory_content import MemoryContent
from tests.doubles.memory_faults import Unsynced


class _Change(NamedTuple):
    """What the names that it touches stood for, and stand for since; None: for nothing."""

    before: Mapping[str, Node | None]
    after: Mapping[str, Node | None]


@dataclass(slots=True)
class Folder:
    entries: dict[str, Node] = field(default_factory=dict)
    # One element a change since the last sync.
    _unsynced: list[_Change] = field(default_factory=list)

    def change(self, after: Mapping[str, Node | None]) -> None:
        """All of these names change at once."""
        before = {name: self.entries.get(name) for name in after}
        self._unsynced.append(_Change(before, after))
        self._put(after)

    def sync(self) -> None:
        self._unsynced.clear()

    def lose_power(self, unsynced: Unsynced, rng: random.Random) -> None:
        """This folder and all that is in it are as the platter has them."""
        for change in reversed(self._unsynced):
            self._put(change.before)
        for change in _survivors(self._unsynced, unsynced, rng):
            self._put(change.after)
        self._unsynced.clear()
        for _, node in sorted(self.entries.items()):
            node.lose_power(unsynced, rng)

    def _put(self, names: Mapping[str, Node | None]) -> None:
        for name, node in names.items():
            if node is None:
                self.entries.pop(name, None)
            else:
                self.entries[name] = node


Node = Folder | MemoryContent


def _survivors(changes: list[_Change], unsynced: Unsynced, rng: random.Random) -> Iterator[_Change]:
    match unsynced:
        case Unsynced.KEPT:
            yield from changes
        case Unsynced.JOURNALED:
            yield from changes[: rng.randint(0, len(changes))]
        case Unsynced.SCATTERED:
            yield from (change for change in changes if rng.random() < 0.5)
        case Unsynced.LOST:
            pass


class Tree:
    """Finds what paths stand for. Raises OSError as the operating system would."""

    def __init__(self) -> None:
        self.root = Folder()

    def find(self, path: str) -> Node | None:
        node: Node | None = self.root
        for part in parts_of(path):
            if not isinstance(node, Folder):
                return None
            node = node.entries.get(part)
        return node

    def parent(self, path: str) -> tuple[Folder, str]:
        """The folder that holds path, and the name there."""
        *parents, name = parts_of(path)
        return self.folder("/".join(parents)), name

    def folder(self, path: str) -> Folder:
        node = self.find(path)
        if node is None:
            raise missing(path)
        if not isinstance(node, Folder):
            raise NotADirectoryError(errno.ENOTDIR, "not a folder", path)
        return node


def as_file(node: Node | None, path: str) -> MemoryContent:
    if node is None:
        raise missing(path)
    if isinstance(node, Folder):
        raise IsADirectoryError(errno.EISDIR, "is a folder", path)
    return node


def missing(path: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, "no such file or folder", path)


def parts_of(path: str) -> list[str]:
    return [part for part in path.split("/") if part]
