"""The tree as names: which files there are, and what each Python file defines.

Nothing is imported: files are parsed, and only those that somebody asks about.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

# Links to the rooms; what was built or installed.
NOT_OURS = {"src", "build", "dist"}

Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
SCOPES = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(slots=True)
class Definitions:
    """What one file defines: names at its top, and classes anywhere in it."""

    top: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)


class Tree:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = frozenset(_files(root))
        self._parsed: dict[str, ast.Module] = {}

    @cached_property
    def folders(self) -> frozenset[str]:
        return frozenset(
            str(folder) for file in self.files for folder in PurePosixPath(file).parents
        )

    @cached_property
    def python(self) -> list[str]:
        return sorted(file for file in self.files if file.endswith(".py"))

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        """Python files by the last part of their path."""
        found: dict[str, list[str]] = {}
        for file in self.python:
            found.setdefault(PurePosixPath(file).name, []).append(file)
        return found

    def text(self, file: str) -> str:
        return (self.root / file).read_text()

    def parsed(self, file: str) -> ast.Module:
        if file not in self._parsed:
            self._parsed[file] = ast.parse(self.text(file), file)
        return self._parsed[file]

    def ending_in(self, path: str) -> list[str]:
        """The Python files whose path ends in these parts."""
        name = path.rpartition("/")[2]
        return [file for file in self._by_name.get(name, ()) if f"/{file}".endswith(f"/{path}")]

    @cached_property
    def definitions(self) -> dict[str, Definitions]:
        return {file: _definitions(self.parsed(file)) for file in self.python}

    @cached_property
    def classes(self) -> dict[str, list[ast.ClassDef]]:
        """Every class of the tree, by name: several may share one."""
        found: dict[str, list[ast.ClassDef]] = {}
        for defined in self.definitions.values():
            for name, definition in defined.classes.items():
                found.setdefault(name, []).append(definition)
        return found

    @cached_property
    def functions(self) -> frozenset[str]:
        """Every function and method of the tree, by its bare name."""
        return frozenset(name for file in self.definitions.values() for name in file.functions)

    def has_member(self, class_name: str, member: str) -> bool:
        """Whether a class of this name, or what it inherits from, has the member."""
        return any(
            member in _members(definition)
            or any(self.has_member(base, member) for base in _bases(definition))
            for definition in self.classes.get(class_name, ())
        )


def _files(root: Path) -> Iterator[str]:
    for folder, below, files in os.walk(root):
        below[:] = [name for name in below if name not in NOT_OURS and not name.startswith(".")]
        place = Path(folder).relative_to(root)
        yield from ((place / name).as_posix() for name in files)


def scopes(scope: Scope) -> Iterator[Scope]:
    """The module, class or function itself, and those within, without a look at expressions."""
    yield scope
    for statement in scope.body:
        if isinstance(statement, SCOPES):
            yield from scopes(statement)


def _definitions(module: ast.Module) -> Definitions:
    found = Definitions(top=set(_bound(module.body)))
    for scope in scopes(module):
        if isinstance(scope, ast.ClassDef):
            found.classes[scope.name] = scope
        elif not isinstance(scope, ast.Module):
            found.functions.add(scope.name)
    return found


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    """The names that these statements define."""
    for statement in body:
        match statement:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield statement.name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))


def _bases(scope: ast.ClassDef) -> Iterator[str]:
    for base in scope.bases:
        generic = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(generic, ast.Name):
            yield generic.id


def _members(scope: ast.ClassDef) -> Iterator[str]:
    """What its body defines, and what its methods set on self."""
    yield from _bound(scope.body)
    for statement in scope.body:
        if isinstance(statement, ast.FunctionDef):
            yield from _set_on_self(statement)


def _set_on_self(method: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(method):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield name
