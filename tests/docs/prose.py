"""What people are told: the documents, and the docstrings and comments of the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.docs.tree import Tree, scopes

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "docs/")
COMMENT = re.compile(r"^ *#(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of prose, and where it stands.

    `is_drawing`: within a fenced block that names no language, where names need no backticks.
    """

    file: str
    number: int
    text: str
    is_drawing: bool = False


def prose(tree: Tree) -> Iterator[Line]:
    for file in sorted(tree.files):
        if file.endswith(".md") and file.startswith(DOCUMENTS):
            yield from document(file, tree.text(file))
    for file in tree.python:
        yield from _docstrings(file, tree.parsed(file))
        yield from _comments(file, tree.text(file))


def document(file: str, text: str) -> Iterator[Line]:
    """The lines of a document; not those of programs, in fenced blocks that name their language."""
    fence: str | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            fence = line[3:].strip() if fence is None else None
        elif not fence:
            yield Line(file, number, line, is_drawing=fence == "")


def _docstrings(file: str, module: ast.Module) -> Iterator[Line]:
    for scope in scopes(module):
        match scope.body:
            case [ast.Expr(value=ast.Constant(value=str(text), lineno=first)), *_]:
                for number, line in enumerate(text.splitlines(), start=first):
                    yield Line(file, number, line)


def _comments(file: str, text: str) -> Iterator[Line]:
    for found in COMMENT.finditer(text):
        yield Line(file, text.count("\n", 0, found.start()) + 1, found[1])
