"""Whether the map in a package's docstring names all that the package holds.

A map names modules by their files, and packages with a slash behind them. A package that names none
of what it holds has no map.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from tests.docs.tree import Tree

# Elsewhere a map may leave out what its reader finds by the names of files: one handler a request.
MAPPED = ("chaos/", "client/", "cluster/", "pipeline/")
NAME = re.compile(r"(?<![\w/])\w+(?:\.py|/)")


def unmapped(tree: Tree) -> Iterator[str]:
    """One line a module or package that is missing."""
    for file in tree.python:
        if not file.endswith("/__init__.py") or not file.startswith(MAPPED):
            continue
        held = set(_held(tree, PurePosixPath(file).parent))
        named = set(NAME.findall(ast.get_docstring(tree.parsed(file)) or ""))
        if held & named:
            yield from (f"{file}:1: {name} is missing in the map" for name in sorted(held - named))


def _held(tree: Tree, package: PurePosixPath) -> Iterator[str]:
    for file in map(PurePosixPath, tree.python):
        if file.parent == package and not file.name.startswith("__"):
            yield file.name
        elif file.name == "__init__.py" and file.parent.parent == package:
            yield f"{file.parent.name}/"
