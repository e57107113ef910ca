"""The folders of a MemoryDisk, and what paths stand for."""

from __future__ import annotations

import errno
from typing import TypeAlias

from logquake.cluster.faults.power.folder import Folder
from tests.doubles.memory_content import MemoryContent


class MemoryFolder(Folder["Node"]):
    pass


Node: TypeAlias = MemoryFolder | MemoryContent


class Tree:
    """Finds what paths stand for. Raises OSError as the operating system would."""

    def __init__(self) -> None:
        self.root = MemoryFolder()

    def find(self, path: str) -> Node | None:
        node: Node | None = self.root
        for part in parts_of(path):
            if not isinstance(node, MemoryFolder):
                return None
            node = node.entries.get(part)
        return node

    def parent(self, path: str) -> tuple[MemoryFolder, str]:
        """The folder that holds path, and the name there."""
        *parents, name = parts_of(path)
        return self.folder("/".join(parents)), name

    def folder(self, path: str) -> MemoryFolder:
        node = self.find(path)
        if node is None:
            raise missing(path)
        if not isinstance(node, MemoryFolder):
            raise NotADirectoryError(errno.ENOTDIR, "not a folder", path)
        return node


def as_file(node: Node | None, path: str) -> MemoryContent:
    if node is None:
        raise missing(path)
    if isinstance(node, MemoryFolder):
        raise IsADirectoryError(errno.EISDIR, "is a folder", path)
    return node


def missing(path: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, "no such file or folder", path)


def parts_of(path: str) -> list[str]:
    return [part for part in path.split("/") if part]
