"""Whether the drawing of the rooms in docs/architecture/README.md is the imports of the code.

A room of the drawing is a line of a fenced block, the highest first:

    node        one broker                      -> controller, zk, storage, seams, wire
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.docs.prose import Line, document
from tests.docs.tree import Tree

DRAWN_IN = "docs/architecture/README.md"
NAMESPACE = "logquake"
SEAMS = frozenset({"seams"})  # the room that is there to be imported for its protocols
ROOM = re.compile(r"(\w+) +\S.*?(?:-> (\w+(?:, \w+)*))?\s*")


@dataclass(frozen=True, slots=True)
class Drawn:
    room: str
    imports: tuple[str, ...]
    line: Line


@dataclass(frozen=True, slots=True)
class Import:
    """`names` are what is taken from a module; none where it is imported as a whole."""

    file: str
    number: int
    module: str
    names: tuple[str, ...] = field(default=())


def false_arrows(tree: Tree) -> Iterator[str]:
    """One line a difference between what is drawn and what is imported."""
    drawn = {each.room: each for each in drawing(tree)}
    imported = {room: _imports(tree, room) for room in _rooms(tree)}
    yield from _missing_rooms(drawn, imported)
    for room, each in drawn.items():
        found = imported.get(room, {})
        for other in each.imports:
            if other not in found:
                yield _at(each, f"{room} -> {other}: no file of {room} imports {other}")
            elif other not in SEAMS and _protocols_alone(tree, found[other]):
                yield _at(each, f"{room} -> {other}: nothing but protocols is imported")
        for other in found.keys() - {*each.imports}:
            first = found[other][0]
            yield f"{first.file}:{first.number}: {room} -> {other}: no such arrow in {DRAWN_IN}"
    yield from _arrows_upwards(drawn)


def drawing(tree: Tree) -> list[Drawn]:
    """Its lines, the highest room first."""
    found = []
    for line in document(DRAWN_IN, tree.text(DRAWN_IN)):
        match = ROOM.fullmatch(line.text) if line.is_drawing else None
        if match is not None:
            imports = tuple(match[2].split(", ")) if match[2] else ()
            found.append(Drawn(match[1], imports, line))
    return found


def _missing_rooms(
    drawn: dict[str, Drawn], imported: dict[str, dict[str, list[Import]]]
) -> Iterator[str]:
    for room in imported.keys() - drawn.keys():
        yield f"{DRAWN_IN}:1: {room}: the drawing lacks this room"
    for room in drawn.keys() - imported.keys():
        yield _at(drawn[room], f"{room}: there is no such room")


def _arrows_upwards(drawn: dict[str, Drawn]) -> Iterator[str]:
    order = list(drawn)
    for room, each in drawn.items():
        for other in each.imports:
            if other in drawn and order.index(other) < order.index(room):
                yield _at(each, f"{room} -> {other}: imports go down only")


def _rooms(tree: Tree) -> list[str]:
    package = tree.root / "src" / NAMESPACE
    return sorted(path.name for path in package.iterdir() if path.is_symlink())


def _imports(tree: Tree, room: str) -> dict[str, list[Import]]:
    """What files of a room import, by the other room."""
    found: dict[str, list[Import]] = {}
    for file in tree.python:
        if file.startswith(f"{room}/"):
            for each in _imports_of(file, tree.parsed(file)):
                other = each.module.split(".")[1]
                if other != room:
                    found.setdefault(other, []).append(each)
    return found


def _imports_of(file: str, module: ast.Module) -> Iterator[Import]:
    """Its imports of our own modules, wherever they stand in it."""
    for node in ast.walk(module):
        match node:
            case ast.ImportFrom(module=name, names=names, lineno=number) if name == NAMESPACE:
                for each in names:
                    yield Import(file, number, f"{NAMESPACE}.{each.name}")
            case ast.ImportFrom(module=str(name), names=names, lineno=number):
                if name.startswith(f"{NAMESPACE}."):
                    yield Import(file, number, name, tuple(each.name for each in names))
            case ast.Import(names=names, lineno=number):
                for each in names:
                    if each.name.startswith(f"{NAMESPACE}."):
                        yield Import(file, number, each.name)


def _protocols_alone(tree: Tree, imports: list[Import]) -> bool:
    """Whether a room is imported for what it asks of others, not for anything it does."""
    return all(
        each.names and all(_is_protocol(tree, each.module, name) for name in each.names)
        for each in imports
    )


def _is_protocol(tree: Tree, module: str, name: str) -> bool:
    file = module.removeprefix(f"{NAMESPACE}.").replace(".", "/") + ".py"
    defined = tree.definitions.get(file)
    definition = defined.classes.get(name) if defined else None
    return definition is not None and any(
        isinstance(base, ast.Name) and base.id == "Protocol" for base in definition.bases
    )


def _at(drawn: Drawn, fault: str) -> str:
    return f"{drawn.line.file}:{drawn.line.number}: {fault}"
