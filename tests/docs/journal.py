"""docs/architecture/journal.md: every kind of event, from where the rooms declare them.

mypy sees to it that what is recorded was declared, because an event takes an EventKind; here it is
seen to that the page shows them all, and that each of them is recorded.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tests.docs.tree import Tree

PAGE = "docs/architecture/journal.md"
DECLARATIONS = "journal_events.py"
TITLES = {
    "controller": "The elected controller records",
    "node": "Every broker records",
    "planted": "A broker with a planted bug records",
}
HEAD = """\
# 8b. The journal

`logquake logs` shows the journals of all brokers in the order of time, `logquake logs 2` that of
broker 2; the files are `events/broker-N.jsonl` in the cluster's state directory. Each line says
what happened, to what, before and after, and why. This page says of each kind of event what makes
a broker record it, and what to do about it. It is made of the code by `make docs`: write to
`controller/journal_events.py` and `node/journal_events.py`.
"""
COLUMNS = "| event | its cause | what to do |\n| --- | --- | --- |\n"


@dataclass(frozen=True, slots=True)
class Declared:
    constant: str
    name: str
    cause: str
    remedy: str
    number: int  # its line


def page(tree: Tree) -> str:
    return "\n".join([HEAD, *(_section(tree, room) for room in TITLES)])


def journal_faults(tree: Tree) -> Iterator[str]:
    """One line a fault: the page is of another code, a kind is declared elsewhere or never used."""
    if PAGE not in tree.files or tree.text(PAGE) != page(tree):
        yield f"{PAGE}:1: it is not what the code declares: make docs"
    for file in tree.python:
        if "logquake.seams.journal" in (text := tree.text(file)) and "EventKind(" in text:
            yield from _declared_elsewhere(tree, file)
    for room in TITLES:
        yield from _never_recorded(tree, room)


def _section(tree: Tree, room: str) -> str:
    rows = [f"| `{each.name}` | {each.cause} | {each.remedy} |\n" for each in _declared(tree, room)]
    return "".join([f"## {TITLES[room]}\n\n", COLUMNS, *rows])


def _declared(tree: Tree, room: str) -> Iterator[Declared]:
    """In the order of the file: what belongs together stands together."""
    for statement in tree.parsed(f"{room}/{DECLARATIONS}").body:
        match statement:
            case ast.Assign(
                targets=[ast.Name(id=constant)],
                value=ast.Call(
                    args=[ast.Constant(value=str(name))],
                    keywords=[
                        ast.keyword(arg="cause", value=ast.Constant(value=str(cause))),
                        ast.keyword(arg="remedy", value=ast.Constant(value=str(remedy))),
                    ],
                ),
                lineno=number,
            ):
                yield Declared(constant, name, cause, remedy, number)


def _declared_elsewhere(tree: Tree, file: str) -> Iterator[str]:
    room, _, name = file.partition("/")
    if name == DECLARATIONS or room not in TITLES:
        return
    for node in ast.walk(tree.parsed(file)):
        match node:
            case ast.Call(func=ast.Name(id="EventKind"), lineno=number):
                yield f"{file}:{number}: EventKind: it is declared in {room}/{DECLARATIONS}"


def _never_recorded(tree: Tree, room: str) -> Iterator[str]:
    """Used is what another file of the room imports."""
    files = [file for file in tree.python if file.startswith(f"{room}/")]
    imported = {name for file in files for name in _imported(tree, file, room)}
    for each in _declared(tree, room):
        if each.constant not in imported:
            yield f"{room}/{DECLARATIONS}:{each.number}: {each.name}: nothing records it"


def _imported(tree: Tree, file: str, room: str) -> Iterator[str]:
    for statement in tree.parsed(file).body:
        match statement:
            case ast.ImportFrom(module=module, names=names):
                if module == f"logquake.{room}.journal_events":
                    yield from (each.name for each in names)
