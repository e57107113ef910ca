"""Whether what prose names exists in the tree.

Looked at are paths of Python files, wherever they stand, and in backticks (in drawings everywhere):

    `wire/errors.py:ErrorCode.of_peer`   a file, and what it defines
    `tests/sim`, `tests/golden/*.txt`    what lies under a folder at the top of the tree
    `Log.commit`, `LogSlice`             a class of the tree, and a member of it
    `stage()`, `loop.post()`             a function or a method of the tree

In a drawing the names behind a file are what it defines:

    the log      storage/log/log.py      Log.commit, open_log

A path may lack its beginning as long as one file alone ends so; in the code it is looked for beside
the file itself first, and then beside the folders around it.
"""

from __future__ import annotations

import builtins
import itertools
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import PurePosixPath

from tests.docs.prose import Line, prose
from tests.docs.tree import Tree

PATH = re.compile(
    r"""(?<![\w/.*{<-]) (?:\.\./)?
    (\w[\w/.-]*\.py)\b (?![\w/])
    (?: : ([A-Za-z_]\w*(?:\.\w+)?) )?""",
    re.VERBOSE,
)
QUOTED = re.compile(r"`+([^`]+)`+")
CLASS = re.compile(r"([A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*)(?:\.([A-Za-z_]\w*))?(?:\(\))?")
FUNCTION = re.compile(r"(?:\w+\.)*([a-z_]\w*)\(\)")
DEFINED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)?")
DRAWN_IN_FILE = re.compile(r".*?(\w[\w/]*\.py) {2,}(\w.*)")
DRAWN = re.compile(r"(?<![\w.])[A-Z]\w*[a-z]\w*\.[a-z_]\w*")


def unknown_names(tree: Tree) -> Iterator[str]:
    """One line a name that is not to be found: where it stands, the name, what is wrong with it."""
    for line in prose(tree):
        for name, fault in dict(_faults(tree, line)).items():
            yield f"{line.file}:{line.number}: {name}: {fault}"


def _faults(tree: Tree, line: Line) -> Iterator[tuple[str, str]]:
    for found in PATH.finditer(line.text):
        if fault := _path_fault(tree, line.file, found[1], found[2]):
            yield found[0], fault
    yield from _drawn_faults(tree, line)
    for name in _quoted(line):
        if fault := _name_fault(tree, name):
            yield name, fault


def _quoted(line: Line) -> Iterator[str]:
    if line.is_drawing:
        yield from DRAWN.findall(line.text)
    else:
        yield from QUOTED.findall(line.text)


def _drawn_faults(tree: Tree, line: Line) -> Iterator[tuple[str, str]]:
    """Up to where something else follows: a remark, an arrow."""
    drawn = DRAWN_IN_FILE.fullmatch(line.text) if line.is_drawing else None
    places = [] if drawn is None else tree.ending_in(drawn[1])
    if drawn is None or len(places) != 1:
        return
    names = itertools.takewhile(DEFINED.fullmatch, drawn[2].split(", "))
    for name in names:
        if fault := _definition_fault(tree, places[0], name):
            yield name, fault


def _path_fault(tree: Tree, file: str, path: str, name: str | None) -> str | None:
    places = _beside(tree, file, path) or tree.ending_in(path)
    if not places:
        return "there is no such file"
    if len(places) > 1:
        return f"may be any of {', '.join(places)}"
    return _definition_fault(tree, places[0], name) if name else None


def _beside(tree: Tree, file: str, path: str) -> list[str]:
    """The file of this path seen from the folders around a file, the nearest first."""
    around = PurePosixPath(file).parents
    return [str(folder / path) for folder in around if str(folder / path) in tree.files][:1]


def _definition_fault(tree: Tree, file: str, name: str) -> str | None:
    first, _, member = name.partition(".")
    if first not in tree.definitions[file].top:
        return f"{file} does not define {first}"
    if member and not tree.has_member(first, member):
        return f"{first} has no member {member}"
    return None


def _name_fault(tree: Tree, name: str) -> str | None:
    if found := CLASS.fullmatch(name):
        return _class_fault(tree, found[1], found[2])
    if found := FUNCTION.fullmatch(name):
        return None if found[1] in tree.functions else "there is no such function"
    return None if PATH.fullmatch(name) else _place_fault(tree, name)


def _class_fault(tree: Tree, name: str, member: str | None) -> str | None:
    if name not in tree.classes:
        return None if hasattr(builtins, name) else "there is no such class"
    if member and not tree.has_member(name, member):
        return f"{name} has no member {member}"
    return None


def _place_fault(tree: Tree, name: str) -> str | None:
    """What begins with a folder of the tree has to be there."""
    path = name.rstrip("/")
    if not re.fullmatch(r"\w+/[\w./*-]+", path) or path.split("/")[0] not in tree.folders:
        return None
    if path in tree.files or path in tree.folders or _matches(tree, path):
        return None
    return "there is no such file or folder"


def _matches(tree: Tree, pattern: str) -> bool:
    return "*" in pattern and any(fnmatch(file, pattern) for file in tree.files)
