"""Which file is what."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from logquake.storage import file_names as names
from logquake.storage.disk.seam import Disk
from logquake.storage.dump import checkpoint_text, state_text
from logquake.storage.dump.damages import Damages
from logquake.storage.dump.index_text import Neighbours, OffsetIndexText, TimeIndexText
from logquake.storage.dump.log_text import LogText
from logquake.storage.dump.options import DumpOptions

_SLASHES = re.compile("/+")


class FileDump:
    """Dumps one file after the other; what is wrong with them is collected in damages.

    working_folder is what makes a path absolute.
    """

    def __init__(
        self, disk: Disk, working_folder: str, options: DumpOptions, damages: Damages
    ) -> None:
        self._disk = disk
        self._working_folder = working_folder
        self._options = options
        self._damages = damages
        self._by_suffix: dict[str, Callable[[str], Iterator[str]]] = {
            names.LOG_SUFFIX: self._log,
            names.OFFSET_INDEX_SUFFIX: self._offset_index,
            names.TIME_INDEX_SUFFIX: self._time_index,
            names.TRANSACTION_INDEX_SUFFIX: self._aborted_transactions,
            names.SNAPSHOT_SUFFIX: self._producers,
        }

    def lines(self, path: str) -> Iterator[str]:
        """Raises OSError."""
        path = _normal(path)
        yield f"Dumping {path}"
        name = _name(path)
        if name in checkpoint_text.NAMES:
            content = self._disk.read(path)
            yield from checkpoint_text.lines_of(name, path, content, self._damages)
            return
        dump = self._by_suffix.get("." + name.rpartition(".")[2])
        if dump is None:
            self._damages.unknown_file(path)
        elif not name.partition(".")[0].isdecimal():
            self._damages.add(f"{path}: its name does not begin with an offset")
        else:
            yield from dump(path)

    def _log(self, path: str) -> Iterator[str]:
        yield f"Log starting offset: {names.leading_offset(_name(path))}"
        text = LogText(self._absolute(path), self._disk.open(path), self._options, self._damages)
        yield from text.lines()

    def _offset_index(self, path: str) -> Iterator[str]:
        yield from OffsetIndexText(*self._index(path)).lines(self._disk.read(path))

    def _time_index(self, path: str) -> Iterator[str]:
        yield from TimeIndexText(*self._index(path)).lines(self._disk.read(path))

    def _index(self, path: str) -> tuple[str, str, Neighbours, DumpOptions, Damages]:
        folder, slash, name = path.rpartition("/")
        stem = folder + slash + name.partition(".")[0]
        segment = Neighbours(self._disk, stem, names.leading_offset(name))
        return self._absolute(path), path, segment, self._options, self._damages

    def _aborted_transactions(self, path: str) -> Iterator[str]:
        return state_text.aborted_transactions(path, self._disk.read(path), self._damages)

    def _producers(self, path: str) -> Iterator[str]:
        return state_text.producers(self._disk.read(path), self._damages)

    def _absolute(self, path: str) -> str:
        return path if path.startswith("/") else names.join(self._working_folder, path)


def _normal(path: str) -> str:
    """As Java's File shows it."""
    return _SLASHES.sub("/", path).rstrip("/") or "/"


def _name(path: str) -> str:
    return path.rpartition("/")[2]
