"""What of a machine's files no sync has covered: known in memory, and in a file beside them.

Each change is written down before it is made, so that who finds the record after a kill -9 knows
at least what was done. ``FOLDER/changes`` holds the entries, one after the other; ``FOLDER/aside``
the files and folders that were removed, or replaced, while that may be taken back.

Beyond ``max_bytes`` of both together everything counts as written to the platter, as a kernel
does it when too many pages are dirty; ``written_back`` counts how often that was.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from logquake.cluster.faults.power.folder import Folder
from logquake.cluster.faults.power.recorded_file import RecordedFile
from logquake.cluster.faults.power.unsynced import PAGE_BYTES

MAX_BYTES = 256 * 1024 * 1024
_CHANGES = "changes"
_ASIDE = "aside"


class RecordedFolder(Folder["Node"]):
    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


Node: TypeAlias = RecordedFolder | RecordedFile
# What happened, then numbers of nodes, paths as of then, sizes, bytes.
Entry: TypeAlias = tuple[Any, ...]


class Record:
    """Not for several threads at a time. Raises OSError."""

    def __init__(
        self, folder: Path, *, max_bytes: int = MAX_BYTES, page_bytes: int = PAGE_BYTES
    ) -> None:
        self.root = RecordedFolder(0)
        self.written_back = 0
        self.page_bytes = page_bytes
        self._max_bytes = max_bytes
        self._nodes: dict[int, Node] = {0: self.root}
        self._next_number = 1
        self._aside = folder / _ASIDE
        self._aside_bytes = 0
        self._aside.mkdir(parents=True, exist_ok=True)
        self._changes = (folder / _CHANGES).open("a+b", buffering=0)
        self._read()

    def close(self) -> None:
        self._changes.close()

    # What there is

    def file(self, path: str) -> RecordedFile:
        """That which lies there, which is taken for synced if nothing is known of it."""
        parent, name = _split(path)
        node = self.folder(parent).entries.get(name)
        if node is None:
            node = self._enter("found", self._next_number, path, os.stat(path).st_size)
        if not isinstance(node, RecordedFile):
            raise IsADirectoryError(path)
        return node

    def folder(self, path: str) -> RecordedFolder:
        """As file()."""
        folder = self.root
        at = ""
        for part in _parts(path):
            at += f"/{part}"
            node = folder.entries.get(part)
            if node is None:
                node = self._enter("found-folder", self._next_number, at)
            if not isinstance(node, RecordedFolder):
                raise NotADirectoryError(at)
            folder = node
        return folder

    def nodes(self) -> list[Node]:
        """All that is known, what is aside as well."""
        return list(self._nodes.values())

    def places(self) -> dict[int, str]:
        """Where each node lies now, by its number."""
        places = {number: str(self._aside / str(number)) for number in self._nodes}
        places.update((node.number, path) for path, node in walk(self.root))
        return places

    # What happens to names

    def make_file(self, path: str) -> RecordedFile:
        self.folder(_split(path)[0])
        node = self._enter("made", self._next_number, path, 0)
        assert isinstance(node, RecordedFile)
        return node

    def make_folder(self, path: str) -> None:
        self.folder(_split(path)[0])
        self._enter("made-folder", self._next_number, path)
        os.mkdir(path)

    def rename(self, source: str, target: str) -> None:
        if source == target:
            return
        self._known(source)
        replaced = self._known(target) if os.path.exists(target) else None
        self._enter("renamed", source, target, None if replaced is None else replaced.number)

    def remove(self, path: str) -> None:
        """A file, or a folder with nothing in it."""
        node = self._known(path)
        self._aside_bytes += os.stat(path).st_blocks * 512
        self._enter("removed", path, node.number)

    def sync_folder(self, folder: RecordedFolder, up_to: int) -> None:
        """So many of its changes are on the platter."""
        before = list(folder.mentioned())
        self._enter("folder-synced", folder.number, up_to)
        self._let_go(before, set(folder.mentioned()))

    # What happens to contents

    def save_page(self, file: RecordedFile, page: int, content: bytes) -> None:
        """What it was before it is overwritten."""
        self._enter("page", file.number, page, content if any(content) else b"")

    def begin_sync(self, file: RecordedFile, size: int) -> int:
        """Its number."""
        self._enter("sync-begun", file.number, file.syncs + 1, size)
        return file.syncs

    def end_sync(self, file: RecordedFile, sync: int) -> None:
        self._enter("synced", file.number, sync)

    # Behind it

    def _enter(self, *entry: Any) -> Node | None:
        if self._changes.tell() + self._aside_bytes > self._max_bytes:
            self._write_back()
        self._changes.write(marshal.dumps(entry))
        node = self._apply(entry)
        self._perform(entry)
        return node

    def _read(self) -> None:
        """Know again what an earlier process knew, and finish what it may not have come to."""
        entry: Entry = ()
        with open(self._changes.name, "rb") as changes:
            whole = 0
            for entry in _entries(changes):
                self._apply(entry)
                whole = changes.tell()
        self._changes.truncate(whole)  # what comes next is not to follow half an entry
        self._perform(entry)
        self._aside_bytes = sum(one.stat().st_blocks * 512 for one in self._aside.iterdir())

    def _apply(self, entry: Entry) -> Node | None:
        match entry:
            case (("page" | "sync-begun" | "synced"), number, *how):
                file = self._nodes.get(number)
                if isinstance(file, RecordedFile):  # one that is removed for good may be open still
                    _apply_to_content(file, entry[0], how)
                return None
            case "written-back", times:
                self.written_back = times
                return None
            case "folder-synced", number, up_to:
                folder = self._nodes.get(number)
                if isinstance(folder, RecordedFolder):
                    folder.sync(up_to)
                return None
            case _:
                return self._apply_to_names(entry)

    def _apply_to_names(self, entry: Entry) -> Node | None:
        match entry:
            case (("found" | "made"), number, path, size):
                return self._place(RecordedFile(number, size, self.page_bytes), path, entry[0])
            case (("found-folder" | "made-folder"), number, path):
                return self._place(RecordedFolder(number), path, entry[0])
            case "renamed", source, target, _:
                parent, name = self._parent(source)
                parent.change({name: None, _parts(target)[-1]: parent.entries[name]})
            case "removed", path, _:
                parent, name = self._parent(path)
                parent.change({name: None})
            case _:
                raise ValueError(f"no entry of a record: {entry!r}")
        return None

    def _place(self, node: Node, path: str, what: str) -> Node:
        self._nodes[node.number] = node
        self._next_number = max(self._next_number, node.number + 1)
        parent, name = self._parent(path)
        if what.startswith("made"):
            parent.change({name: node})
        else:
            parent.entries[name] = node
        return node

    def _perform(self, entry: Entry) -> None:
        """Of names; again, if it was done before. What is removed or replaced goes aside."""
        match entry:
            case "renamed", source, target, replaced:
                if replaced is not None:
                    with contextlib.suppress(FileExistsError, FileNotFoundError):
                        os.link(target, self._aside / str(replaced))
                with contextlib.suppress(FileNotFoundError):
                    os.replace(source, target)
            case "removed", path, number:
                with contextlib.suppress(FileNotFoundError):
                    os.rename(path, self._aside / str(number))

    def _let_go(self, before: Iterable[Node], after: set[Node]) -> None:
        """Of what was mentioned before and is no more: nothing will bring it back."""
        for node in before:
            if node in after or self._nodes.pop(node.number, None) is None:
                continue
            if isinstance(node, RecordedFolder):
                self._let_go(list(node.mentioned()), set())
            self._aside_bytes -= _remove(self._aside / str(node.number))

    def _write_back(self) -> None:
        """All that there is counts as synced, and what is aside is gone for good."""
        for one in self._aside.iterdir():
            _remove(one)
        self._aside_bytes = 0
        self._changes.truncate(0)
        self.written_back += 1
        self._changes.write(marshal.dumps(("written-back", self.written_back)))
        self._nodes = {0: self.root}
        self._leave_out_lost()
        self.root.sync()
        for path, node in walk(self.root):
            self._nodes[node.number] = node
            if isinstance(node, RecordedFolder):
                node.sync()
                entry: Entry = ("found-folder", node.number, path)
            else:
                node.forget(os.stat(path).st_size)
                entry = ("found", node.number, path, os.stat(path).st_size)
            self._changes.write(marshal.dumps(entry))

    def _leave_out_lost(self) -> None:
        """Files that a disk lost, behind the back of who writes the record."""
        for path, node in list(walk(self.root)):
            if isinstance(node, RecordedFile) and not os.path.exists(path):
                parent, name = self._parent(path)
                del parent.entries[name]

    def _known(self, path: str) -> Node:
        return self.folder(path) if os.path.isdir(path) else self.file(path)

    def _parent(self, path: str) -> tuple[RecordedFolder, str]:
        """Of what an entry speaks of: those before it have made the folder known."""
        parent, name = _split(path)
        folder = self.root
        for part in _parts(parent):
            node = folder.entries[part]
            if not isinstance(node, RecordedFolder):
                raise NotADirectoryError(parent)
            folder = node
        return folder, name


def _apply_to_content(file: RecordedFile, what: str, how: list[Any]) -> None:
    if what == "page":
        file.save(*how)
    elif what == "sync-begun":
        file.begin_sync(*how)
    else:
        file.end_sync(*how)


def _entries(file: BinaryIO) -> Iterator[Entry]:
    """The last one may have been cut off when its process was killed."""
    with contextlib.suppress(EOFError, ValueError, TypeError):
        while True:
            yield marshal.load(file)


def walk(folder: RecordedFolder, path: str = "") -> Iterator[tuple[str, Node]]:
    """All that is in it, each folder before what is in that."""
    for name, node in sorted(folder.entries.items()):
        yield f"{path}/{name}", node
        if isinstance(node, RecordedFolder):
            yield from walk(node, f"{path}/{name}")


def _remove(path: Path) -> int:
    """The bytes that it took."""
    try:
        size = path.stat().st_blocks * 512
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    except FileNotFoundError:
        return 0
    return size


def _split(path: str) -> tuple[str, str]:
    """The folder that it lies in, and its name there."""
    *parents, name = _parts(path)
    return "/".join(["", *parents]), name


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]
