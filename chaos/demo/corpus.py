"""What the demo sends: real lines, keyed by the file that they come from."""

from __future__ import annotations

import sysconfig
from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import Path


class Corpus:
    """Lines in order, each with its file's name as its key; both as bytes."""

    def __init__(self) -> None:
        self._names: list[bytes] = []
        self._lines: list[bytes] = []
        self._file_of = array("l")

    @classmethod
    def standard_library(cls) -> Corpus:
        """Every line of every .py file of the running Python's standard library."""
        root = Path(sysconfig.get_path("stdlib"))
        corpus = cls()
        for path in sorted(root.rglob("*.py")):
            if "site-packages" not in path.parts:
                corpus._add(str(path.relative_to(root)), path)
        return corpus

    @classmethod
    def one_file(cls, path: Path) -> Corpus:
        corpus = cls()
        corpus._add(path.name, path)
        return corpus

    def _add(self, name: str, path: Path) -> None:
        lines = path.read_bytes().splitlines()
        self._file_of.extend([len(self._names)] * len(lines))
        self._names.append(name.encode())
        self._lines.extend(lines)

    def __len__(self) -> int:
        return len(self._lines)

    def pair(self, number: int) -> tuple[bytes, bytes]:
        """Key and value of a line, by its number."""
        return self._names[self._file_of[number]], self._lines[number]

    def pairs(self) -> Iterator[tuple[bytes, bytes]]:
        return (self.pair(number) for number in range(len(self)))

    def lines_per_file(self) -> dict[str, int]:
        """How many lines each file has; files without a line are not sent at all."""
        counts = Counter(self._file_of)
        return {self._names[index].decode(): count for index, count in counts.items()}
